"""How fast, and against what: every figure the documentation quotes is made by a module of this folder."""
