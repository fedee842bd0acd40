"""Which identity of its topic a position is of: the client tells it as the add did."""

from dataclasses import replace
from typing import TYPE_CHECKING

from fairlead_client.model import Position
from fairlead_client.session import actions, events

if TYPE_CHECKING:
    from tests.session.conftest import Script

OLD, NEW = "first-identity", "second-identity"


def add(script: "Script", number: int, identity: str | None) -> None:
    """Read an add of the queue that names an identity of its topic."""
    offered = replace(script.an_add(number), identity=identity)
    script.assign(number, add=(offered,), assigned=script.held(number))


def identities(script: "Script") -> list[str | None]:
    """Return the identity that each release so far names."""
    return [done.identity for done in script.done if isinstance(done, actions.SendRelease)]


def claimed(script: "Script", generation: int) -> list[tuple[str, str | None]]:
    """Return the state and the identity of each claim in a new generation."""
    done = script.feed(events.GenerationRead(generation))
    sent = [action for action in done if isinstance(action, actions.SendClaims)]
    return [(claim.state, claim.identity) for each in sent for claim in each.claims]


def test_running_work_names_its_identity(script: "Script") -> None:
    """Progress and claims of running work name the identity of its add."""
    add(script, 1, OLD)
    script.feed(events.ProgressMade(script.an_add(1).queue, script.epoch(1), 7))
    done = script.live(10_000)
    sent = [each for each in done if isinstance(each, actions.SendProgress)]
    assert {entry.identity for each in sent for entry in each.entries} == {OLD}
    assert claimed(script, 2) == [("running", OLD)]


def test_stopped_work_names_its_identity(script: "Script") -> None:
    """A release names the identity, and so do claims of the queue as long as it is remembered."""
    add(script, 1, OLD)
    script.drop(1)
    script.stopped(1, 5)
    script.acknowledge_release()
    assert identities(script) == [OLD]
    assert claimed(script, 2) == [("final", OLD)]


def test_each_grant_has_its_own(script: "Script") -> None:
    """A release that is written again names the identity of its own grant, not of a later one."""
    add(script, 1, OLD)
    script.drop(1)
    script.stopped(1, 5)
    add(script, 2, NEW)
    queue = script.an_add(1).queue
    script.feed(events.ReleaseFailed(script.incarnation, queue, script.epoch(1)))
    script.live(10_000)
    assert len(identities(script)) > 1
    assert set(identities(script)) == {OLD}
    assert claimed(script, 2) == [("running", NEW)]


def test_never_started_names_none(script: "Script") -> None:
    """An answer without a position names no identity, whatever the add did."""
    add(script, 1, OLD)
    script.drop(1)
    script.stopped(1, 5)
    gated = replace(script.an_add(3, after=(script.holder("b", 2),)), identity=OLD)
    script.assign(3, add=(gated,), assigned=script.held(3))
    script.drop(3)
    assert script.releases == [(1, 5), (3, None)]
    assert identities(script) == [OLD, None]


def test_untold_stays_untold(script: "Script") -> None:
    """What an engine of before granted names no identity, also after one that did."""
    add(script, 1, OLD)
    script.drop(1)
    script.stopped(1, 5)
    script.acknowledge_release()
    add(script, 2, None)
    script.drop(2)
    script.stopped(2, 6)
    assert identities(script) == [OLD, None]
    assert script.releases[-1] == (2, 6)


def committed(script: "Script") -> list[tuple[Position, str | None]]:
    """Return each position committed so far, and the identity that it names."""
    commits = [done for done in script.done if isinstance(done, actions.CommitProgress)]
    return [(entry.position, entry.identity) for each in commits for entry in each.entries]


def test_each_commit_names_the_identity_of_its_work(script: "Script") -> None:
    """Those by the way and the last one do, also when a grant of another identity waits."""
    queue = script.an_add(1).queue
    add(script, 1, OLD)
    script.feed(events.ProgressMade(queue, script.epoch(1), 7))
    script.live(5_000)
    gated = replace(script.an_add(3, after=(script.holder("b", 2),)), identity=NEW)
    script.assign(3, add=(gated,), assigned=script.held(3))
    script.drop(1, record=4)
    script.stopped(1, 9)
    script.released(script.holder("b", 2), None)
    script.feed(events.ProgressMade(queue, script.epoch(3), 2))
    script.live(5_000)
    assert committed(script) == [((0, 7), OLD), ((0, 9), OLD), ((0, 2), NEW)]


def test_a_reset_is_committed_with_its_identity(script: "Script") -> None:
    """What is committed before the first message names the identity of its add, or none."""
    for number, identity in enumerate((NEW, None), 1):
        base = Position(5 + number, 2)
        offered = replace(script.an_add(number, base), identity=identity)
        script.assign(number, add=(offered,), assigned=script.held(number))
        assert committed(script)[-1] == (base, identity)
        script.drop(number)
        script.live(3_000)
