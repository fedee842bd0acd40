"""Written records are read as blocks exactly as at-least-once delivery and deaths allow."""

import pytest

from fairlead.replay.sequence_match import Block, Matched, Mismatch, SequenceMatcher


def _blocks(text: str) -> list[Block[str]]:
    """Return blocks of letters; one that ends in ! was interrupted."""
    return [Block(word.rstrip("!"), word.endswith("!")) for word in text.split()]


def _align(blocks: str, written: str, *, shared: bool = False) -> Matched | Mismatch:
    """Return how written letters are read as the blocks, or where they cannot be."""
    matcher = SequenceMatcher(written, shared=shared)
    for block in _blocks(blocks):
        mismatch = matcher.expect(block)
        if mismatch is not None:
            return mismatch
    return matcher.finish()


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
def test_the_cheapest_reading_is_found(
    blocks: str, written: str, resent: int, unwritten: int
) -> None:
    """The cheapest reading is found, with what it takes for resent and for unwritten."""
    assert _align(blocks, written) == Matched(resent, unwritten)


@pytest.mark.parametrize(
    "blocks, written, resent, unwritten, others",
    [
        ("", "xx", 0, 0, 2),
        ("ab cd", "xabxcxdx", 0, 0, 4),
        # Others write what the engine writes too.
        ("ab c", "abac", 0, 0, 1),
        ("ab cd", "acbcd", 0, 0, 1),
        ("a b", "aab", 1, 0, 0),
        ("ab! cd", "xcd", 0, 2, 1),
        ("ab cd", "abxabcd", 2, 0, 1),
    ],
)
def test_what_others_write_fits_no_expectation(
    blocks: str, written: str, resent: int, unwritten: int, others: int
) -> None:
    """What does not fit is of others; all that is expected must be there all the same."""
    assert _align(blocks, written, shared=True) == Matched(resent, unwritten, others)


@pytest.mark.parametrize("blocks, written", [("ab", "xax"), ("ab cd", "abd"), ("a b", "ba")])
def test_lacking_where_others_write(blocks: str, written: str) -> None:
    """A record that is not there, or not in its order, is missed."""
    assert isinstance(_align(blocks, written, shared=True), Mismatch)


def test_readings_of_a_long_log() -> None:
    """Where others write without end, what is far behind is forgotten."""
    matcher = SequenceMatcher("ax" * 1_000, shared=True)
    for _ in range(1_000):
        assert matcher.expect(Block("a", interrupted=False)) is None
        assert len(matcher._blocks) < 40  # noqa: SLF001 - what it holds is the point
    assert matcher.finish() == Matched(0, 0, 1_000)


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
def test_the_first_record_that_fits_no_reading_is_named(
    blocks: str, written: str, at: int, block: int, record: int
) -> None:
    """The first record that fits no reading is named, with what the longest reading expected."""
    assert _align(blocks, written) == Mismatch(at, block, record)
