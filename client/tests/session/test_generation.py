"""A new generation: gates are void, work goes on, and what was ever started is claimed at once."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fairlead_client.model import Epoch, Position
from fairlead_client.session import actions, events
from fairlead_client.session.actions import Claim, SendClaims
from fairlead_client.session.records import Drop

if TYPE_CHECKING:
    from tests.session.conftest import Script


def claims(done: list[actions.Action]) -> list[SendClaims]:
    """Return the claims among the actions."""
    return [action for action in done if isinstance(action, SendClaims)]


def test_the_newest_generation_is_acknowledged_at_the_start(
    scripts: Callable[..., "Script"],
) -> None:
    """The newest generation is acknowledged at the start, with nothing claimed (rule C11)."""
    assert claims(scripts().start()) == [SendClaims("me-1", 1, ())]


def test_before_any_engine_nothing_is_acknowledged(scripts: Callable[..., "Script"]) -> None:
    """Before the first engine there is nothing to acknowledge; the first one is acknowledged."""
    script = scripts()
    script.generation = 0
    assert claims(script.run()) == []
    assert claims(script.feed(events.GenerationRead(1))) == [SendClaims("me-1", 1, ())]


def test_running_work_and_final_positions_are_claimed(script: "Script") -> None:
    """A client claims running work, and stopped work where it ended, but no gates (rule C12)."""
    queue = script.an_add(1).queue
    other = queue._replace(queue_id=2)
    script.add(1)
    script.assign(
        2,
        add=(replace(script.an_add(2), queue=other),),
        assigned=script.held(1),
    )
    script.feed(events.ProgressMade(other, script.epoch(2), 8))
    script.drop(1, record=1)
    script.stopped(1, 5)
    script.assign(1, add=(script.an_add(9, after=(script.holder("b", 8),)),))
    done = script.feed(events.GenerationRead(2))
    assert claims(done)[0].claims == (
        Claim(queue, Epoch(1, 1), Position(0, 5), "final"),
        Claim(other, Epoch(1, 2), Position(0, 8), "running"),
    )
    assert script.session.ownership.epochs == {other: Epoch(1, 2)}


def test_gates_of_an_older_generation_are_void(script: "Script") -> None:
    """A gate of the old generation does not open, nor does its add count when it is read again."""
    other = script.holder("b", 1)
    script.add(2, after=(other,))
    script.feed(events.GenerationRead(2))
    script.released(other, 3)
    script.generation = 2
    script.assign(1, add=(replace(script.an_add(2), epoch=Epoch(1, 2)),))
    assert script.starts == []


def test_lower_generation_is_ignored(script: "Script") -> None:
    """A drop sent by a lower generation is not obeyed and not answered."""
    script.add(1)
    script.feed(events.GenerationRead(3))
    script.drop(1)
    assert (script.stops, script.releases) == ([], [])


def test_record_teaches_the_generation(script: "Script") -> None:
    """A record of a newer generation is acknowledged before its claim is read (rule C11)."""
    script.add(1)
    script.generation = 2
    done = script.add(1)
    assert [claim.generation for claim in claims(done)] == [2]
    assert script.session.generation == 2


def test_drop_of_an_older_epoch(script: "Script") -> None:
    """The new generation may drop an epoch of the old one."""
    script.add(1)
    script.feed(events.GenerationRead(2))
    script.generation = 2
    old = Epoch(1, 1)
    script.assign(1, drop=(Drop(script.an_add(1).queue, old),))
    assert script.stops == [1]


def test_claims_are_retried_with_what_is_true_then(script: "Script") -> None:
    """Claims that could not be written are written again, as things are by then."""
    script.add(1)
    script.feed(events.GenerationRead(2))
    script.feed(events.ClaimsFailed("me-1", 2))
    script.feed(events.ProgressMade(script.an_add(1).queue, Epoch(1, 1), 4))
    done = script.live(200)
    assert [claim.claims[0].position.offset for claim in claims(done)] == [4]
    script.feed(events.ClaimsAppended("me-1", 2))
    assert claims(script.live(1_000)) == []


def test_a_fenced_client_acknowledges_nothing(script: "Script") -> None:
    """A fenced client acknowledges nothing; its next incarnation starts with what it learnt."""
    script.wait(10_000)
    assert script.feed(events.GenerationRead(4)) == []
    assert [claim.generation for claim in claims(script.start("me-2"))] == [4]


def test_a_known_generation_is_not_acknowledged_again(script: "Script") -> None:
    """A claim that is read again is not acknowledged again."""
    assert script.feed(events.GenerationRead(1)) == []


def test_answers_about_older_claims(script: "Script") -> None:
    """The end of an older write of claims changes nothing about the newest."""
    script.feed(events.GenerationRead(2))
    script.feed(events.ClaimsFailed("me-1", 2))
    script.feed(events.ClaimsAppended("me-1", 1))
    assert [claim.generation for claim in claims(script.live(200))] == [2]
    script.feed(events.ClaimsFailed("me-1", 1))
    assert claims(script.live(1_000)) == []
