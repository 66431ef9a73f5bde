"""The paper's own examples."""
