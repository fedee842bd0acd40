"""The runs that broke a shortcut in the model of the handover, as the client must see them."""

from typing import TYPE_CHECKING

from fairlead_client.session import actions, events
from fairlead_client.session.states import SessionState

if TYPE_CHECKING:
    from tests.session.conftest import Script


def test_ce1_waits_for_the_third_client(script: "Script") -> None:
    """Flapping back, the old holder waits for the client in between, not for itself alone."""
    script.add(1)
    script.drop(1)
    script.stopped(1, 7)
    me, other = script.holder("me", 1), script.holder("b", 2)
    script.released(me, 7)
    script.add(3, after=(me, other))
    assert script.starts == [(1, 0)]
    script.released(other, None)
    assert script.starts == [(1, 0), (3, 7)]


def test_ce1_takes_the_position_of_the_third_client(script: "Script") -> None:
    """A position of the newest holder proves that the older one stopped too."""
    other, older = script.holder("b", 2), script.holder("c", 1)
    script.add(3, after=(older, other))
    script.released(other, 9)
    assert script.starts == [(3, 9)]


def test_ce4_drop_before_add(script: "Script") -> None:
    """A drop that overtakes its add is answered None, and the add is refused for ever (rule C3)."""
    script.drop(1)
    assert script.releases == [(1, None)]
    script.add(1)
    assert script.starts == []


def test_ce4_grant_after_drop(script: "Script") -> None:
    """A gate that was dropped does not open when its releases come."""
    other = script.holder("b", 1)
    script.add(2, after=(other,))
    script.drop(2)
    script.released(other, 5)
    script.add(2)
    assert (script.starts, script.releases) == ([], [(2, None)])


def test_ce5_drop_again_while_draining(script: "Script") -> None:
    """A drop read again while the work stops gets no answer before the release (rule C4)."""
    script.add(1)
    script.drop(1)
    script.drop(1)
    assert (script.stops, script.releases) == ([1], [])


def test_ce6_drop_again_after_the_release(script: "Script") -> None:
    """A drop read again after the release is not answered None (rule C4)."""
    script.add(1)
    script.drop(1)
    script.stopped(1, 1)
    script.acknowledge_release()
    script.drop(1)
    assert script.releases == [(1, 1)]


def test_ce7e_add_of_an_old_driver(script: "Script") -> None:
    """An add sent by an older generation is refused (rule C1)."""
    script.feed(events.GenerationRead(2))
    script.add(5)
    assert script.starts == []


def test_ce9_a_late_acknowledgement_revives_nothing(script: "Script") -> None:
    """An acknowledgement handled after the deadline revives nothing (rule C9)."""
    script.add(1)
    script.now = 10_000
    done = script.acknowledge_heartbeat(sent_at=9_000)
    assert any(isinstance(action, actions.StopEverything) for action in done)
    assert script.session.state is SessionState.FENCED
    assert script.session.ownership.epochs == {}


def test_ce13_gates_die_with_the_lease(script: "Script") -> None:
    """An add of before the end of the lease opens nothing after it (rule C8)."""
    other = script.holder("b", 1)
    script.add(2, after=(other,))
    script.wait(10_000)
    script.run("me-2")
    script.released(other, 3)
    script.live(3_000)
    assert script.starts == []


def test_ce13_unread_add_of_the_dead_incarnation(script: "Script") -> None:
    """An add that is read only after the lease ended names an incarnation that is no more."""
    script.wait(10_000)
    script.run("me-2")
    script.assign(1, incarnation="me-1", add=(script.an_add(1),))
    assert script.starts == []


def test_ce17_answers_what_it_never_started(script: "Script") -> None:
    """The drop of a gate is answered None at once, or the successor would wait for ever."""
    script.add(2, after=(script.holder("b", 1),))
    script.drop(2)
    assert script.releases == [(2, None)]


def test_ce17_grant_opens_the_gate(script: "Script") -> None:
    """The same add with an empty list starts at the greater base, without a release (rule C2)."""
    script.add(2, base=4, after=(script.holder("b", 1),))
    script.add(2, base=6)
    assert script.starts == [(2, 6)]


def test_after_a_lost_add_a_later_set_starts_nothing_early(script: "Script") -> None:
    """With the add lost, a later record's whole set starts nothing before its releases."""
    other = script.holder("b", 1)
    gated = script.an_add(2, base=4, after=(other,))
    entry = script.held(2)[0]
    script.assign(3, assigned=(type(entry)(entry.queue, entry.epoch, "gated", gated),))
    script.live(3_000)
    assert script.starts == []
    script.released(other, 5)
    assert script.starts == [(2, 5)]
