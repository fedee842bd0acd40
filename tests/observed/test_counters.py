"""What is counted is what happened while somebody followed, in the words of the protocol."""

from fairlead.observed.counters import OTHER, GroupCounters
from tests.kit.live_group import rule, set_rules
from tests.kit.observed_world import Followed
from tests.kit.world import state_of, world_of


def test_what_was_before_is_not_counted() -> None:
    """What stood in the topics at the start is nobody's event."""
    followed = Followed(world_of("c1", "c2", "c3"))
    happened = followed.view.counters
    assert not happened.rebalances
    assert not happened.moves
    assert not happened.fallbacks
    assert sum(happened.phases["release"].counts) == 0


def test_a_join_counts_the_moves_of_the_engine() -> None:
    """A join is one decision that moves; its moves are those of the engine, and the fewest."""
    world = world_of("c1", "c2", queues={"orders": 12})
    followed, before = Followed(world), state_of(world).targets
    world.join("c3", subscribed=("orders",))
    followed.pass_seconds(8)
    happened, after = followed.view.counters, state_of(world).targets
    moved = sum(before[queue] != after[queue] for queue in after)
    assert happened.rebalances["orders", "client_joined"] == 1
    assert happened.moves == {("orders", "client_joined"): moved}
    assert happened.fewest_moves == {("orders", "client_joined"): 4}
    assert sum(happened.phases["release"].counts) == moved
    assert sum(happened.gaps.counts) == moved
    assert sum(happened.phases["converge"].counts) == 1
    assert sum(happened.phases["detect"].counts) == 1


def test_an_expiration_counts_once_with_its_handover() -> None:
    """Who falls silent is counted once, and what it was to give up is a handover too late."""
    world = world_of("c1", "c2")
    followed = Followed(world)
    set_rules(world, rule("drain", {"client_id": "c2"}))
    for shard in range(2):
        world.run(shard)
    world.fresh.clear()
    world.clients[1].gone = True
    followed.pass_seconds(20)
    happened = followed.view.counters
    assert happened.expirations == {"orders": 1}
    assert happened.handover_timeouts["orders"] == 8


def test_only_progress_under_an_ended_grant_is_stale() -> None:
    """Progress under a grant that is over is counted, the last of a holder is not."""
    world = world_of("c1", "c2")
    followed = Followed(world)
    late = world.clients[1]
    held = dict(late.held)
    late.gone = True
    followed.pass_seconds(20)
    assert not followed.view.counters.fenced
    late.held = held
    late.work(1)
    followed.read()
    assert followed.view.counters.fenced["orders"] == len(held)


def test_starts_without_a_position() -> None:
    """A grant of a queue without a known position counts under the word of its start."""
    followed = Followed(world_of(queues={"orders": 3}))
    followed.world.join("c1", subscribed=("orders",))
    followed.pass_seconds(5)
    assert followed.view.counters.fallbacks == {("orders", "first_offset"): 3}


def test_what_was_counted_of_a_place_stays() -> None:
    """A group counted among others stays there, and its counts stay when it is gone."""
    happened = GroupCounters()
    happened.choose_named(["a", "b", "c"], 2)
    assert (happened.named, happened.folded) == ({"a", "b"}, {"c"})
    happened.choose_named(["b", "c", "d"], 2, ["d"])
    assert (happened.named, happened.folded) == ({"b", "d"}, {"c"})
    happened.overlaps.update({"b": 1, "c": 2})
    happened.moves.update({("b", "reset"): 3, ("c", "reset"): 4})
    happened.forget("b")
    happened.forget("c")
    assert happened.overlaps == {OTHER: 2}
    assert happened.moves == {(OTHER, "reset"): 4}
