"""The fleet on real processes: it tells them what to do, hears them, and notices their deaths."""

from fairlead_proof.demo.fleet import Fleet

from fairlead.verify.history import Consumed, Held, Start, Stop
from fairlead.verify.journal import read_journal
from tests.kit.recorded_history import queue

SECONDS = 20.0


def _joined(fleet: Fleet, client_id: str) -> None:
    """Start a client and let it join."""
    fleet.start(client_id)
    assert fleet.wait_until(lambda floor: floor.seats[client_id].state == "ready", SECONDS)
    fleet.join(client_id)
    assert fleet.wait_until(lambda floor: floor.queues_of(client_id) == [queue(0)], SECONDS)


def test_floor_and_journal_agree_over_the_life_of_a_consumer(fleet: Fleet) -> None:
    """A consumer joins, holds a message, finishes it and leaves; floor and journal say the same."""
    _joined(fleet, "c1")
    assert fleet.members() == frozenset({"c1"})
    fleet.hold("c1", 0)
    assert fleet.wait_until(lambda floor: floor.seats["c1"].held is not None, SECONDS)
    fleet.resume("c1")
    assert fleet.wait_until(lambda floor: floor.has_reached({queue(0): 1}), SECONDS)
    fleet.leave("c1")
    assert fleet.members() == frozenset()
    assert fleet.wait_until(lambda floor: floor.seats["c1"].state == "left", SECONDS)
    assert fleet.failed() == []
    (journal,) = read_journal(fleet.journals["c1"])
    assert [type(record) for record in journal.records] == [Start, Held, Consumed, Stop]


def test_a_killed_consumer_is_gone_and_did_not_fail(fleet: Fleet) -> None:
    """A killed consumer is gone from the floor, is no member, and did not fail by itself."""
    _joined(fleet, "c1")
    fleet.kill("c1")
    with fleet.condition:
        assert fleet.floor.seats["c1"].state == "killed"
        assert fleet.floor.working == {}
    assert fleet.members() == frozenset()
    assert fleet.failed() == []


def test_death_is_noticed(fleet: Fleet) -> None:
    """A consumer that ends without having left has failed, and its last words are at hand."""
    _joined(fleet, "moody-1")
    fleet.leave("moody-1")
    assert fleet.wait_until(lambda floor: floor.seats["moody-1"].state == "failed", SECONDS)
    assert fleet.failed() == ["moody-1"]
    assert "I will not" in fleet.log_tail("moody-1")


def test_a_wait_for_a_fact_ends_in_time(fleet: Fleet) -> None:
    """A fact that does not come true is not waited for beyond the time."""
    assert not fleet.wait_until(lambda floor: bool(floor.working), 0.05)
