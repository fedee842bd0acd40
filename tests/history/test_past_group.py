"""Time travel: a group as it stood at a moment is what one saw at that moment."""

from collections.abc import Callable, Mapping
from random import Random

import pytest

from fairlead.core.model import MessageQueue
from fairlead.history.past_group import (
    ForgottenMomentError,
    PastGroup,
    PastQuestion,
    read_past,
)
from fairlead.history.ribbon_facts import facts_of
from fairlead.history.ribbon_fold import RibbonFold
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.live_group import UnknownGroupError
from strategies.registry import STRATEGIES
from tests.answers.schema import assert_answer
from tests.kit.live_group import GROUP, TICK_MS, orders, rule, set_rules
from tests.kit.memory_source import MemorySource
from tests.kit.observations import standing_of
from tests.kit.observed_world import Followed
from tests.kit.replays import live
from tests.kit.world import World, world_of

Seen = Mapping[MessageQueue, tuple[list[str], list[str], list[str]]]


def _asked(followed: Followed, at_ms: int) -> PastQuestion:
    view, fold = followed.view, RibbonFold(GROUP)
    facts, decisions = facts_of(view, GROUP, None, view.as_of_ms), view.decisions(GROUP)
    assert facts is not None
    assert decisions is not None
    fold.update(facts)
    then = [each for each in decisions if each.append_ms <= at_ms]
    placed = then[-1].members if then else ()
    ribbon = fold.whole(view.as_of_ms)
    return PastQuestion(at_ms, ribbon, placed, STRATEGIES, TICK_MS, 86_400_000)


def _past(followed: Followed, at_ms: int) -> PastGroup:
    found = read_past(MemorySource(followed.world.topics), _asked(followed, at_ms))
    assert_answer("GroupThen", found.to_json())
    return found


def _seen(standing: GroupStanding) -> Seen:
    return {
        each.queue: (
            sorted(holder.member.client_id for holder in each.held),
            sorted(holder.member.client_id for holder in each.draining),
            sorted(holder.member.client_id for holder in each.gated),
        )
        for each in standing.queues
        if each.holders
    }


def _stubborn() -> World:
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("on_mute", "force"))
    world.clients[0].stubborn = True
    world.join("c3")
    return world


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("begin", [world_of, _stubborn])
def test_the_past_is_what_one_saw(begin: Callable[[], World], seed: int) -> None:
    """Owners, waiters, members, phase and epoch of each second are those of that second."""
    world, chance = begin(), Random(seed)
    followed = Followed(world)
    seen: dict[int, tuple[int, Seen, object]] = {}
    for second in range(1, 26):
        live(world, 1, chance, first=second)
        if second % 4 == 1:
            world.join(f"late-{second}")
        followed.read()
        standing = standing_of(world)
        seen[world.topics.now_ms] = _decided(followed), _seen(standing), _rest(standing)
        world.topics.now_ms += 1
    decisions = followed.view.decisions(GROUP) or ()
    # An engine in memory dates a decision back to what it had read, where nobody saw it yet.
    true = {
        at_ms: (saw, rest)
        for at_ms, (decided, saw, rest) in seen.items()
        if sum(each.append_ms <= at_ms for each in decisions) == decided > 0
    }
    assert len(true) > len(seen) // 3
    for at_ms, (saw, rest) in true.items():
        found = _past(followed, at_ms).standing
        past = _seen(found)
        assert (_rest(found), {queue: past.get(queue) for queue in saw}) == (rest, saw), at_ms
        # A drain outlasts the end of a successor that never started; only its release ends it.
        assert not [each for each in past.keys() - saw.keys() if past[each][0] or past[each][2]]


def _decided(followed: Followed) -> int:
    return len(followed.view.decisions(GROUP) or ())


def _rest(standing: GroupStanding) -> object:
    summary = standing.summary
    staying = (each for each in standing.members if each.live and each.role != "leaving")
    live_ids = sorted(each.key.client_id for each in staying)
    return standing.phase, summary.epoch, summary.converged, tuple(live_ids), summary.members


def test_it_agrees_with_the_ribbon() -> None:
    """At each decision who has a queue, by the ribbon and by the past, is the same client."""
    followed = Followed(world_of("c1", "c2", queues=6))
    followed.world.join("c3")
    followed.pass_seconds(5)
    followed.world.clients[0].gone = True
    followed.pass_seconds(20)
    followed.world.clients[1].leave()
    followed.pass_seconds(5)
    ribbon = _asked(followed, 0).ribbon
    assert len(ribbon.marks) > 4
    for mark in ribbon.marks:
        shown = {
            queue: sorted(each.client_id for each in spans)
            for queue, spans in ribbon.owners_at(mark.append_ms).items()
            if spans
        }
        past = _seen(_past(followed, mark.append_ms).standing)
        assert shown == {
            queue: sorted(held + draining)
            for queue, (held, draining, _) in past.items()
            if held or draining
        }


def test_no_moment_but_the_kept_ones() -> None:
    """Before the oldest decision that is kept nobody answers, and the refusal names that moment."""
    followed = Followed(world_of("c1", queues=2))
    kept_ms = _asked(followed, 0).ribbon.kept_since_ms
    assert kept_ms is not None
    with pytest.raises(ForgottenMomentError) as refused:
        _past(followed, kept_ms - 1)
    assert refused.value.oldest_ms == kept_ms
    assert _past(followed, kept_ms).at_ms == kept_ms


def test_what_was_overwritten_is_called_unknown() -> None:
    """A rule that somebody set again later is not shown as it is now, and the answer says so."""
    followed = Followed(world_of("c1", queues=2))
    set_rules(followed.world, rule("pause", value=True))
    followed.pass_seconds(1)
    at_ms = followed.world.topics.now_ms
    followed.pass_seconds(1)
    assert "rules" not in _past(followed, at_ms).unknown
    assert _past(followed, at_ms).standing.live.core.rules.pause
    set_rules(followed.world, rule("pause", value=False))
    followed.world.topics.route("orders", 3)
    followed.pass_seconds(2)
    past = _past(followed, at_ms)
    assert "pause" in past.unknown["rules"]
    assert "orders" in past.unknown["routes"]
    assert not past.standing.live.core.rules.pause
    assert past.to_json()["problems"] == []
    assert set(_seen(past.standing)) == {orders(0), orders(1)}


def test_a_group_that_came_later_was_not_there() -> None:
    """Of a moment before the first record of a group there is nothing to tell."""
    followed = Followed(world_of("c1", queues=2))
    asked = _asked(followed, 1_000)
    with pytest.raises((UnknownGroupError, ForgottenMomentError)):
        read_past(MemorySource(followed.world.topics), asked)
