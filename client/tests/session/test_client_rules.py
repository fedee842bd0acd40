"""Each rule of the client's table that a mutant of the model dropped, kept here one by one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fairlead_client.model import Epoch, Holder, Position
from fairlead_client.session.records import Assigned

if TYPE_CHECKING:
    from tests.session.conftest import Script


def test_m2_an_add_read_again_after_the_release_starts_nothing(script: "Script") -> None:
    """An add that is read again after its queue was given back starts nothing (M2; rule C1)."""
    script.add(1)
    script.drop(1)
    script.stopped(1)
    script.add(1)
    assert script.starts == [(1, 0)]


def test_m2_an_older_add_replaces_no_newer_gate(script: "Script") -> None:
    """An older add does not take the place of a newer gate (M2)."""
    other = script.holder("b", 1)
    script.add(3, after=(other,))
    script.add(2)
    assert script.starts == []


def test_m3_drop_is_recorded(script: "Script") -> None:
    """A drop of an unknown epoch also refuses every lower one (M3; rule C3)."""
    script.drop(4)
    script.add(3)
    assert script.starts == []


def test_m4_release_after_the_work(script: "Script") -> None:
    """The release is written after the work stopped, never on the drop (M4; rule C5)."""
    script.add(1)
    script.drop(1)
    script.live(2_000)
    assert script.releases == []
    script.stopped(1, 12)
    assert script.releases == [(1, 12)]


def test_m5_a_gated_add_waits(script: "Script") -> None:
    """A gated add waits, whatever else happens (M5)."""
    script.add(2, after=(script.holder("b", 1),))
    script.live(9_000)
    assert script.starts == []


@pytest.mark.parametrize(
    "fields", [{"incarnation": "me-0"}, {"client_id": "you"}, {"group": "others"}]
)
def test_m6_a_record_for_another_incarnation_has_no_effect(
    script: "Script", fields: dict[str, str]
) -> None:
    """A record to another incarnation, client or group has no effect (M6; rule C1)."""
    script.assign(1, add=(script.an_add(1),), **fields)
    assert (script.starts, script.releases) == ([], [])


def test_m7_release_of_another_holder(script: "Script") -> None:
    """A gate opens for the release of exactly its holder: client, incarnation and epoch (M7)."""
    script.add(3, after=(script.holder("b", 2),))
    for holder in (
        Holder("b", "b-1", Epoch(1, 1)),
        Holder("b", "b-2", Epoch(1, 2)),
        Holder("c", "b-1", Epoch(1, 2)),
    ):
        script.released(holder, 5)
    assert script.starts == []


def test_m8_null_is_no_position(script: "Script") -> None:
    """None from the newest holder says nothing about the older one (M8, M9)."""
    older, newer = script.holder("a", 1), script.holder("b", 2)
    script.add(3, after=(older, newer))
    script.released(newer, None)
    assert script.starts == []
    script.released(older, None)
    assert script.starts == [(3, 0)]


def test_m9_older_release_alone(script: "Script") -> None:
    """A release of the older holder does not open the gate while the newest is silent (M9)."""
    older, newer = script.holder("a", 1), script.holder("b", 2)
    script.add(3, after=(newer, older))
    script.released(older, 5)
    assert script.starts == []


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_chain_of_any_length(scripts: Callable[..., "Script"], length: int) -> None:
    """However long the list: nulls down to the oldest, then its position, open the gate."""
    script = scripts()
    script.run()
    holders = tuple(script.holder(f"c{number}", number) for number in range(1, length + 1))
    script.add(9, base=1, after=holders)
    for holder in reversed(holders[1:]):
        script.released(holder, None)
        assert script.starts == []
    script.released(holders[0], 8)
    assert script.starts == [(9, 8)]


def test_m15_the_start_is_the_greater_of_base_and_release(script: "Script") -> None:
    """The start is the greater of base and release, as pairs: a newer reset wins (M15; rule C7)."""
    other = script.holder("b", 1)
    script.add(2, base=Position(7, 3), after=(other,))
    done = script.released(other, 90)
    script.commit(done)
    assert script.starts == [(2, 3)]


def test_m23_drop_of_a_newer_epoch_while_draining(script: "Script") -> None:
    """While an old epoch drains, the drop of a newer gate is answered None, the old one is not."""
    script.add(1)
    script.drop(1)
    script.add(3, after=(script.holder("me", 1), script.holder("b", 2)))
    script.drop(3)
    assert script.releases == [(3, None)]
    script.drop(1)
    assert script.releases == [(3, None)]


def test_m24_true_release_stands(script: "Script") -> None:
    """After the true release is written its drop is never answered None, acknowledged or not."""
    script.add(1)
    script.drop(1)
    script.stopped(1, 3)
    for _ in range(3):
        script.drop(1)
        script.live(100)
    assert script.releases == [(1, 3)]


def test_m27_incarnation_is_never_used_twice(script: "Script") -> None:
    """A start under the incarnation that lost its lease is refused (M27; rule C8)."""
    script.wait(10_000)
    with pytest.raises(AssertionError, match="never used twice"):
        script.start("me-1")


def test_m30_every_drop_is_answered(script: "Script") -> None:
    """Each drop of something not started is answered, again when it is asked again (M30)."""
    script.drop(1)
    script.acknowledge_release()
    script.drop(1)
    assert script.releases == [(1, None), (1, None)]


def test_same_epoch_is_an_intersection(script: "Script") -> None:
    """Two records of one add keep the holders that both name, and the greater base."""
    a, b, c = (script.holder(name, number) for number, name in enumerate("abc", start=1))
    script.add(9, base=5, after=(a, b))
    script.add(9, base=2, after=(b, c))
    memory = script.session.queue_memory(script.an_add(9).queue)
    assert memory is not None
    assert memory.gate is not None
    assert (memory.gate.after, memory.gate.base) == ((b,), Position(0, 5))


def test_release_before_the_add(script: "Script") -> None:
    """A release read long before the add that waits for it is remembered."""
    other = script.holder("b", 1)
    script.released(other, 6)
    script.add(2, after=(other,))
    assert script.starts == [(2, 6)]


def test_flap_back_waits_for_its_own_work(script: "Script") -> None:
    """A queue given back while it drains starts only when its own release is in the log."""
    script.add(1)
    script.drop(1)
    script.add(2, after=(script.holder("me", 1),))
    script.stopped(1, 4)
    assert script.starts == [(1, 0)]
    script.acknowledge_release()
    assert script.starts == [(1, 0), (2, 4)]


def test_absence_drops_only_what_is_not_newer(script: "Script") -> None:
    """A queue missing from the whole set is dropped, unless its epoch is newer than the set."""
    script.add(5)
    script.assign(4)
    assert script.stops == []
    script.assign(6)
    assert script.stops == [5]


def test_absence_answers_a_gate(script: "Script") -> None:
    """A gate missing from the whole set is dropped, and so answered None."""
    script.add(5, after=(script.holder("b", 4),))
    script.assign(6)
    assert script.releases == [(5, None)]


def test_draining_entry_is_a_drop(script: "Script") -> None:
    """With the drop lost, an entry of the whole set that drains stops the work."""
    script.add(5)
    script.assign(6, assigned=(Assigned(script.an_add(5).queue, Epoch(1, 5), "draining"),))
    assert script.stops == [5]


def test_held_entry_starts_nothing(script: "Script") -> None:
    """The whole set is no command to start: an entry that says held has no position."""
    script.assign(6, assigned=(Assigned(script.an_add(5).queue, Epoch(1, 5), "held"),))
    assert (script.starts, script.releases) == ([], [])
