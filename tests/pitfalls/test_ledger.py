"""Who owned what, for how long, and what was read twice, counted from tenures alone."""

from fairlead_proof.pitfalls.ledger import Ledger
from fairlead_proof.pitfalls.tenure import Tenure

from fairlead.core.model import MessageQueue

Q = MessageQueue("orders", "broker-a", 0)


def test_a_reader_lags_behind_what_it_began_with() -> None:
    """Ten messages a second come, each is worked on for 200 ms: two are in hand."""
    tenure = Tenure(Q, "a", 0, 0, 0)
    assert (tenure.begun(10_000), tenure.processed(10_000)) == (100, 98)


def test_a_reader_that_starts_late_catches_up() -> None:
    """A hundred a second are read where they wait."""
    tenure = Tenure(Q, "a", 10_000, 0, 10_500)
    assert [tenure.begun(at_ms) for at_ms in (10_000, 10_500, 11_000, 13_000)] == [0, 0, 50, 130]


def test_a_tally_of_two_owners_and_none() -> None:
    """From 5 s to 7 s two own it, from 8 s to 10 s nobody; what both read counts once each."""
    ledger = Ledger()
    first = ledger.begin(Q, "a", 0, 0, 0)
    second = ledger.begin(Q, "b", 50, 5_000, 5_000)
    ledger.close(first, 7_000)
    ledger.close(second, 8_000)
    ledger.begin(Q, "a", 80, 10_000, 10_000)
    tally = ledger.tally([Q], 1_000, 12_000)
    assert (tally.twice, tally.twice_ms) == ((Q,), 2_000)
    assert (tally.nobody, tally.nobody_ms) == ((Q,), 2_000)
    assert (tally.read_twice, tally.unread) == (20, 0)
    assert (tally.moves, tally.longest_pause_ms) == (2, 2_000)


def test_what_happened_before_does_not_count() -> None:
    """Messages read twice before the watched time are not told."""
    ledger = Ledger()
    ledger.close(ledger.begin(Q, "a", 0, 0, 0), 5_000)
    ledger.begin(Q, "b", 30, 5_000, 5_000)
    assert ledger.tally([Q], 6_000, 9_000).read_twice == 0
    assert ledger.tally([Q], 4_000, 9_000).read_twice == 20


def test_a_short_pause_is_no_hole_and_is_told() -> None:
    """Half a second without an owner is a handover's pause."""
    ledger = Ledger()
    ledger.close(ledger.begin(Q, "a", 0, 0, 0), 5_000)
    ledger.begin(Q, "b", 50, 5_500, 5_500)
    tally = ledger.tally([Q], 0, 9_000)
    assert tally.nobody == ()
    assert tally.longest_pause_ms == 500
