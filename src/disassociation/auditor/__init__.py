"""The independent judge: proves or refutes the guarantee of a release, from what is published alone.

Nothing here is shared with the code that makes releases, but the errors: the files are read, decoded and counted anew.
``docs/guarantee.md`` has the conditions and why they suffice. Read it in this order: files (what may be opened), survey
(the first pass), judge (the second, leaf by leaf), shared (chunks of joint clusters), verdict; exact, explain and
possible say why, and show what a release leaves open; original, grouping, undecided and reached are for whoever has
the records that it was made of.
"""
