"""Written records are read as blocks exactly as at-least-once delivery and deaths allow."""

import pytest

from fairlead.engine.alignment import Aligned, Aligner, Block, Mismatch


def _blocks(text: str) -> list[Block[str]]:
    """Return blocks of letters; one that ends in ! was interrupted."""
    return [Block(word.rstrip("!"), word.endswith("!")) for word in text.split()]


def _align(blocks: str, written: str) -> Aligned | Mismatch:
    """Return how written letters are read as the blocks, or where they cannot be."""
    aligner = Aligner(written)
    for block in _blocks(blocks):
        mismatch = aligner.expect(block)
        if mismatch is not None:
            return mismatch
    return aligner.finish()


@pytest.mark.parametrize(
    "blocks, written, resent, unwritten",
    [
        ("", "", 0, 0),
        ("ab cd", "abcd", 0, 0),
        ("ab cd", "ababcd", 2, 0),
        ("abc d", "ababcd", 2, 0),
        ("abc d", "aababcd", 3, 0),
        ("ab cd", "abcdcd", 2, 0),
        ("ab! cd", "cd", 0, 2),
        ("ab! cd", "acd", 0, 1),
        ("ab! cd", "abcd", 0, 0),
        ("ab! cd!", "", 0, 4),
        # The same record under both drivers: the one that leaves the rest explained is chosen.
        ("r! rx", "rx", 0, 1),
        ("r! rx", "rrx", 0, 0),
        ("ab! ab cd", "abcd", 0, 2),
        # Written again is dearer than unwritten only where it is more records.
        ("aa! a", "aaa", 0, 0),
    ],
)
def test_allowed(blocks: str, written: str, resent: int, unwritten: int) -> None:
    """The cheapest reading is found, with what it takes for resent and for unwritten."""
    assert _align(blocks, written) == Aligned(resent, unwritten)


@pytest.mark.parametrize(
    "blocks, written, at, block, record",
    [
        ("ab cd", "abxd", 2, 1, 0),
        ("ab cd", "abd", 2, 1, 0),
        ("ab cd", "abc", 3, 1, 1),
        ("ab cd", "", 0, 0, 0),
        ("ab cd", "abcde", 4, 2, 0),
        ("ab cd", "bacd", 0, 0, 0),
        ("ab cd", "abcdab", 4, 2, 0),
        ("ab! cd", "bcd", 0, 1, 0),
        ("", "a", 0, 0, 0),
    ],
)
def test_refused(blocks: str, written: str, at: int, block: int, record: int) -> None:
    """The first record that fits no reading is named, with what the longest reading expected."""
    assert _align(blocks, written) == Mismatch(at, block, record)
