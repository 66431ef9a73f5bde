"""``python -m disassociation.cli``: the command where the script is not on the path."""

from disassociation.cli import main

main()
