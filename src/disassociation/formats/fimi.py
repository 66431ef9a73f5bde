"""One record a line, tokens split by blanks: the format of the frequent itemset mining repository."""

from __future__ import annotations

from typing import BinaryIO

from disassociation import encode
from disassociation.formats._bytes import Block, Blocks, Stream, as_text, padded, unix_lines
from disassociation.formats._lines import refuse_terms, write_lines
from disassociation.formats._options import Options
from disassociation.formats._tokens import Tokenizer
from disassociation.records import Transactions

BLANK = 0x20
_OTHER_BLANKS = b"\t\v\f"
_TO_BLANK = bytes.maketrans(_OTHER_BLANKS, b" " * len(_OTHER_BLANKS))
_UNWRITABLE = r"^$|^\x{FEFF}|[\x{00} \t\v\f\r\n]"


def read(stream: Stream, options: Options) -> Transactions:
    """Read records; a blank line is an empty record."""
    text = as_text(stream, options.encoding)
    tokens = Tokenizer(BLANK, text.name, text.size)
    for block in Blocks(text, BLANK):
        tokens.feed(only_blanks(unix_lines(block)))
    return encode.transactions(*tokens.result(), source=text.name)


def write(data: Transactions, sink: BinaryIO, _options: Options) -> None:
    """Write records, terms in canonical order."""
    refuse_terms(
        data, _UNWRITABLE, "fimi", "that is empty or has a blank, a line end or a byte order mark in it", "list"
    )
    write_lines(sink, data, data.vocabulary.to_pylist(), " ")


def only_blanks(block: Block) -> Block:
    """Turn each tab, vertical tab and form feed of a block into a blank."""
    if all(block.buffer.find(blank, 0, block.length) < 0 for blank in _OTHER_BLANKS):
        return block
    return padded(block.content().translate(_TO_BLANK))
