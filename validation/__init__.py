"""Checks on real data sets that take longer than tests may; the files are not part of the project."""
