"""The paper's figures 2 to 5 as literals, with its own words for the terms (section 3 and section 5)."""

from __future__ import annotations

from naive import Bag, Joint, Leaf, Record


def rows(*lines: str) -> Bag:
    """Subrecords written as "itunes, flu"."""
    return tuple(frozenset(line.split(", ")) for line in lines)


def chunk_terms(line: str) -> Record:
    """A term chunk written as "ikea, ruby"; the empty one as ""."""
    return frozenset(line.split(", ")) if line else frozenset()


FIGURE_2A = rows(
    "itunes, flu, madonna, ikea, ruby",
    "madonna, flu, viagra, ruby, audi a4, sony tv",
    "itunes, madonna, audi a4, ikea, sony tv",
    "itunes, flu, viagra",
    "itunes, flu, madonna, audi a4, sony tv",
    "madonna, digital camera, panic disorder, playboy",
    "iphone sdk, madonna, ikea, ruby",
    "iphone sdk, digital camera, madonna, playboy",
    "iphone sdk, digital camera, panic disorder",
    "iphone sdk, digital camera, madonna, ikea, ruby",
)

_P1_CHUNKS = (
    rows("itunes, flu, madonna", "madonna, flu", "itunes, madonna", "itunes, flu", "itunes, flu, madonna"),
    rows("audi a4, sony tv", "audi a4, sony tv", "audi a4, sony tv"),
)
_P2_CHUNKS = (
    rows(
        "madonna, digital camera",
        "iphone sdk, madonna",
        "iphone sdk, digital camera, madonna",
        "iphone sdk, digital camera",
        "iphone sdk, digital camera, madonna",
    ),
)

FIGURE_2B = (
    Leaf(5, _P1_CHUNKS, chunk_terms("ikea, viagra, ruby"), "P1"),
    Leaf(5, _P2_CHUNKS, chunk_terms("panic disorder, playboy, ikea, ruby"), "P2"),
)

FIGURE_3 = (
    Joint(
        (
            Leaf(5, _P1_CHUNKS, chunk_terms("viagra"), "P1"),
            Leaf(5, _P2_CHUNKS, chunk_terms("panic disorder, playboy"), "P2"),
        ),
        (rows("ikea, ruby", "ruby", "ikea", "ikea, ruby", "ikea, ruby"),),
        "J",
    ),
)

FIGURE_4A = rows("a", "a", "b, c", "b, c", "a, b, c")
FIGURE_4B = (Leaf(5, (rows("a", "a", "a"), rows("b, c", "b, c", "b, c")), chunk_terms(""), "P"),)

# The picture of Figure 5 is lost; this is what its text says: x only in the first cluster and always with a, and
# {a, x, o} the only record with x and o that can be made.
_FIGURE_5_LEAVES = (
    Leaf(3, (rows("a, x", "a, x", "a, x"),), chunk_terms(""), "P1"),
    Leaf(3, (rows("b, c", "b, c", "b, c"),), chunk_terms(""), "P2"),
    Leaf(3, (rows("d, e, f", "d, e, f", "d, e, f"),), chunk_terms(""), "P3"),
)
FIGURE_5A = (Joint(_FIGURE_5_LEAVES, (rows("a", "a, o", "a, o", "a, o", "o"),), "J"),)
FIGURE_5B = (Joint(_FIGURE_5_LEAVES, (rows("a, o", "a, o", "a, o", "o", "o", "o"),), "J"),)
