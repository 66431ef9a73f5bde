"""Records that come as Python objects, one by one: which values can be terms, and what text they become."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable

import numpy as np
import pyarrow as pa

from disassociation import encode
from disassociation._kernels.tokens import Codes
from disassociation._types import Offsets
from disassociation.errors import InputError
from disassociation.records import Transactions


class Collector:
    """Numbers the values of records as they come."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._names: list[str] = []
        self._strings: dict[str, int] = {}  # the code of each text
        self._others: dict[tuple[type, Hashable], int] = {}  # the code of each value that is not a plain str
        self._other_texts: set[str] = set()  # what the values that are no text became
        self._codes = array("I")
        self._bounds = array("q", [0])

    @property
    def records(self) -> int:
        """How many records were added."""
        return len(self._bounds) - 1

    def start_from(self, codes: Codes, bounds: Offsets, names: pa.StringArray) -> None:
        """Take over what another reader has read; the record it was in the middle of is continued by the first."""
        self._names = names.to_pylist()
        self._strings = {name: code for code, name in enumerate(self._names)}
        self._codes, self._bounds = array("I", codes.tobytes()), array("q", bounds.tobytes())

    def add(self, record: Iterable[Hashable]) -> None:
        """Add a record; what cannot be one is refused with its number."""
        if isinstance(record, (str, bytes, bytearray)):
            raise self._refuse("it is one text, not a list of terms; split it into terms")
        try:
            values = iter(record)
        except TypeError:
            raise self._refuse("it is not a list of terms; give an iterable of iterables") from None
        strings, append = self._strings, self._codes.append
        for value in values:
            code = strings.get(value) if type(value) is str else self._other(value)
            append(self._string(value) if code is None else code)  # type: ignore[arg-type]
        self._bounds.append(len(self._codes))

    def result(self) -> tuple[Codes, Offsets, pa.StringArray]:
        """All codes, where each record begins among them, and the terms that the codes number."""
        codes = np.frombuffer(self._codes, np.uint32) if self._codes else np.empty(0, np.uint32)
        return codes, np.frombuffer(self._bounds, np.int64), pa.array(self._names, pa.string())

    def transactions(self) -> Transactions:
        """Everything added, in canonical form."""
        return encode.transactions(*self.result(), source=self._source)

    def _string(self, text: str) -> int:
        known = self._strings.get(text)
        if known is not None:
            return known
        self._strings[text] = self._new(text, text in self._other_texts)
        return self._strings[text]

    def _other(self, value: Hashable) -> int:
        try:
            code = self._others.get((type(value), value))
        except TypeError:
            raise self._refuse("a value cannot be hashed; terms are texts or whole numbers") from None
        if code is None:
            code = self._string(str.__str__(value)) if isinstance(value, str) else self._number(value)
            self._others[type(value), value] = code
        return code

    def _number(self, value: Hashable) -> int:
        kind = type(value)
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, float, complex, bytes, tuple, frozenset)):
            raise self._refuse(f"a value of type {kind.__name__} cannot be a term; make it a text or a whole number")
        if isinstance(value, int):
            value = int(value)  # one term, whichever of Python's and NumPy's types the number comes in
            if kind is not int:
                return self._other(value)
        text = str(value)
        code = self._new(text, text in self._other_texts or text in self._strings)
        self._other_texts.add(text)
        return code

    def _new(self, text: str, taken: bool) -> int:
        if taken:
            raise self._refuse("a value has the same text as a different one, as 7 and '7' have; make them one type")
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise self._refuse("a term is not valid Unicode (a lone surrogate); repair the text") from None
        self._names.append(text)
        return len(self._names) - 1

    def _refuse(self, problem: str) -> InputError:
        return InputError(f"{self._source}: record {self.records + 1}: {problem}")
