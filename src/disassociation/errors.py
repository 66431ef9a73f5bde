"""Everything this package raises on purpose.

    DisassociationError
    ├── InputError        records or a side file that cannot be read as asked
    ├── ParameterError    an option, or a combination of options and data, that is impossible
    ├── FormatError       a release that is damaged or not a release
    └── GuaranteeError    a release that does not keep its guarantee

A message is one line: what is wrong, where (file, line or record number), what to do. It never holds a term or a
record: the values are people's data, and messages end up in logs.
"""

from __future__ import annotations

__all__ = ["DisassociationError", "FormatError", "GuaranteeError", "InputError", "ParameterError"]


class DisassociationError(Exception):
    """Base of all errors of this package; ``str()`` of one is a single line meant for the user."""

    exit_code = 2


class InputError(DisassociationError):
    """Records, or a file that goes with them, could not be read as asked."""


class ParameterError(DisassociationError):
    """An option is out of range, or asks for something these data cannot give."""


class FormatError(DisassociationError):
    """Something that should be a release is damaged, incomplete or hostile."""


class GuaranteeError(DisassociationError):
    """The guarantee does not hold; nothing was published."""

    exit_code = 1
