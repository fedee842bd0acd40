"""One step of one group: who is a member, what moves, what is written of it."""

from dataclasses import replace

from fairlead.core.model import Epoch, MemberProfile, Position
from fairlead.core.moment import Moment
from fairlead.core.outputs import Decision, Gone, Rejection, Request
from fairlead.core.publishing.digest import digest
from fairlead.core.publishing.resync import entries_by_member
from fairlead.core.step import due_ms, step
from tests.kit.group_world import GroupWorld, key_of, queue_of, settled


def test_a_first_heartbeat_asks_for_route_and_offsets_and_says_own_nothing() -> None:
    """A new group requests what it lacks and tells its member that it owns nothing."""
    world = GroupWorld()
    world.beat("a")
    world.run()
    asked = [output.what for output in world.outputs if isinstance(output, Request)]
    assert asked == ["offsets", "route"]
    assert world.told("a").assigned == ()
    assert world.decision.state.phase == "waiting_for_route"


def test_queues_are_shared_as_averagely_shares_them() -> None:
    """Two members of four queues get the first and the second half."""
    world = settled("a", "b")
    assert world.owned("a") == [0, 1]
    assert world.owned("b") == [2, 3]
    assert {add.why for add in world.adds("a")} == {"first_offset"}


def test_a_heartbeat_that_changes_nothing_writes_nothing() -> None:
    """A recomputation with the same result has no record and no epoch."""
    world = settled("a", "b")
    before = world.state.epoch if world.state else None
    for _ in range(20):
        world.pass_time(3_000)
        world.beat("a")
        world.beat("b")
        assert world.run().outputs == ()
    assert world.state is not None
    assert world.state.epoch == before


def test_a_join_drops_first_and_adds_after_the_release() -> None:
    """With chain cap 1 the successor gets its add only when the holder has released."""
    world = settled("a", chain_cap=1)
    world.beat("b")
    world.run()
    assert [(drop.queue.queue_id, drop.successor) for drop in world.told("a").drop] == [
        (2, None),
        (3, None),
    ]
    assert world.adds("b") == []
    world.release("a", 2, world.epoch_of(2), 42)
    world.run()
    (add,) = world.adds("b")
    assert (add.queue, add.position, add.why, add.after) == (
        queue_of(2),
        Position(0, 42),
        "release",
        (),
    )


def test_with_room_in_the_chain_the_successor_is_gated_in_the_same_decision() -> None:
    """One decision writes the drop and the gated add."""
    world = settled("a")
    held = world.epoch_of(2)
    world.beat("b")
    world.run()
    first = world.adds("b")[0]
    assert [(after.member, after.epoch) for after in first.after] == [(key_of("a"), held)]
    assert {drop.successor for drop in world.told("a").drop} == {"b"}
    world.release("a", 2, held, 7)
    world.run()
    (grant,) = world.adds("b")
    assert (grant.epoch, grant.position, grant.after) == (first.epoch, Position(0, 7), ())


def test_members_that_hand_over_take_turns() -> None:
    """One member stops at once, the next a while later; the successor waits for both (rule H29)."""
    world = settled("a", "b", queues=9)
    world.beat("c")
    world.run()
    assert {drop.linger_ms for drop in world.told("a").drop} == {0}
    assert {drop.linger_ms for drop in world.told("b").drop} == {4}
    assert world.told("c").drop == ()


def test_nobody_lingers_whose_release_nobody_waits_for() -> None:
    """A member without a successor, or in an eager group, stops at once (rule H29)."""
    blocked, eager = settled("a", "b", queues=9, chain_cap=1), settled("a", "b", queues=9)
    eager.rule("mode", "eager")
    eager.run()
    for world in (blocked, eager):
        world.beat("c")
        world.run()
        assert {drop.linger_ms for each in "ab" for drop in world.told(each).drop} == {0}


def test_unmoved_queues_are_never_touched() -> None:
    """A join names only the queues that move."""
    world = settled("a")
    world.beat("b")
    world.run()
    assert {move.queue.queue_id for move in world.decision.moves} == {2, 3}


def test_a_lapse_gives_the_queues_away_at_the_newest_progress() -> None:
    """A silent member's successor starts at its newest progress (rule H7)."""
    world = settled("a", "b")
    world.progress("a", 0, world.epoch_of(0), 33)
    world.run()
    for _ in range(5):
        world.pass_time(2_700)
        world.beat("b")
        world.run()
    assert "client_expired" in world.decision.triggers
    starts = {add.queue.queue_id: (add.position.offset, add.why) for add in world.adds("b")}
    assert starts == {0: (33, "progress"), 1: (0, "first_offset")}
    assert any(isinstance(output, Gone) for output in world.outputs)


def test_a_member_lapses_only_after_lease_and_margin() -> None:
    """The lapse is strict: at exactly lease + margin the member is alive (rule H9)."""
    world = settled("a", "b")
    world.pass_time(13_000)
    world.beat("b")
    world.run()
    assert world.owned("a") == [0, 1]
    world.pass_time(1)
    world.run()
    assert world.owned("a") == []


def test_a_longer_lease_of_the_member_is_respected() -> None:
    """A client that keeps a longer lease than the rule's is waited for by its own (rule H9)."""
    world = GroupWorld()
    world.beat("a", profile=MemberProfile(lease_ms=60_000))
    world.run()
    world.pass_time(60_000)
    world.run()
    assert world.state is not None
    assert key_of("a") in world.state.members
    world.pass_time(3_001)
    world.run()
    assert world.state is not None
    assert key_of("a") not in world.state.members


def test_a_leave_moves_the_queues_by_their_releases() -> None:
    """A leaver's releases carry the final offsets, and its record is deleted at the end."""
    world = settled("a", "b")
    for number, offset in ((0, 10), (1, 11)):
        world.release("a", number, world.epoch_of(number), offset)
    world.leave("a")
    world.run()
    assert sorted(add.position.offset for add in world.adds("b")) == [10, 11]
    assert [output.member for output in world.outputs if isinstance(output, Gone)] == [key_of("a")]


def test_a_leave_before_its_release_is_read_keeps_the_queue() -> None:
    """A queue whose holder left stays with it until the release or the lapse (rule H11)."""
    world = settled("a", "b")
    held = world.epoch_of(0)
    world.leave("a")
    world.run()
    gates = [[after.member for after in add.after] for add in world.adds("b")]
    assert gates == [[key_of("a")], [key_of("a")]]
    world.release("a", 0, held, 5)
    world.run()
    assert [(add.position.offset, add.after) for add in world.adds("b")] == [(5, ())]


def test_a_heartbeat_after_the_leave_is_refused() -> None:
    """A late heartbeat of a life that ended makes no ghost (rule H13)."""
    world = settled("a", "b")
    for number in (0, 1):
        world.release("a", number, world.epoch_of(number), 1)
    world.leave("a")
    world.run()
    world.beat("a")
    result = world.run()
    assert result.counts["heartbeat", "stale"] == 1
    assert key_of("a") not in (world.state.members if world.state else {})


def test_a_new_life_of_a_client_takes_over_from_its_old_one() -> None:
    """The newest incarnation is the target; the old one is waited for (rule H12)."""
    world = settled("a")
    world.beat("a", life=2)
    world.run()
    assert {after.member for add in world.adds("a", 2) for after in add.after} == {key_of("a")}
    assert len(world.told("a").drop) == 4
    granted = []
    for _ in range(6):
        world.pass_time(2_500)
        world.beat("a", life=2)
        world.run()
        granted += [add.queue.queue_id for add in world.adds("a", 2) if not add.after]
    assert granted == [0, 1, 2, 3]


def test_a_group_without_members_is_evicted_after_a_set_time() -> None:
    """An empty group is remembered for a while and then forgotten, with an audit record."""
    world = settled("a")
    world.pass_time(20_000)
    world.run()
    assert world.state is not None
    world.pass_time(600_001)
    world.run()
    assert world.state is None
    assert world.decision.triggers == ("group_evicted",)


def test_a_group_that_is_made_again_counts_on() -> None:
    """Epochs of a group that was forgotten are not used again (rule H5)."""
    world = GroupWorld()
    world.beat("a")
    arrivals, world.waiting = world.waiting, []
    result = step(None, arrivals, Moment(1_000, 1_000, 1, number_floor=41), world.rules)
    assert result.state is not None
    assert result.state.epoch == Epoch(1, 42)


def test_a_lost_record_is_healed_after_two_seconds_with_back_off() -> None:
    """A digest that differs for two seconds has the whole record written again (rule H17)."""
    world = settled("a", queues=2)
    epochs = {world.epoch_of(0), world.epoch_of(1)}
    healed = []
    for second in range(12):
        world.pass_time(1_000)
        world.beat("a", held=0)
        world.run()
        if world.adds("a"):
            healed.append(second)
            assert {add.epoch for add in world.adds("a")} == epochs
            assert world.decision.triggers == ("healed",)
    assert healed == [2, 6]


def test_long_batches_heal_nobody_who_follows() -> None:
    """Heartbeats in a batch of four seconds do not know the decision before it (rule H17)."""
    world = settled("a", queues=8)
    for newcomer in ("b", "c"):
        assert world.state is not None
        before = digest(entries_by_member(world.state).get(key_of("a"), ()))
        read = world.state.epoch
        world.beat(newcomer)
        world.run()
        assert world.told("a").drop
        for _ in range(4):
            world.pass_time(1_000)
            world.beat("a", held=before, applied=read)
        result = world.run()
        assert not result.counts.get(("member", "healed"))
        for number in world.owned("a"):
            if world.state.queues[queue_of(number)].chain[0].dropped:
                world.release("a", number, world.epoch_of(number), 1)
        world.run()


def test_a_member_that_never_reads_the_newest_record_is_healed() -> None:
    """Its record is lost: after longer than a batch takes it is written again."""
    world = settled("a", queues=2)
    assert world.state is not None
    read = Epoch(world.state.epoch.generation, world.state.epoch.number - 1)
    healed = []
    for second in range(12):
        world.pass_time(1_000)
        world.beat("a", held=0, applied=read)
        world.run()
        if world.adds("a"):
            healed.append(second)
    assert healed == [10]


def test_a_drop_that_is_told_again_names_who_waits_by_then() -> None:
    """A record that was lost is written as the handover stands, successor and all."""
    world = settled("a")
    world.beat("b")
    world.run()
    for _ in range(2):
        world.beat("a", held=0)
        world.run()
        world.pass_time(2_000)
    assert world.decision.triggers == ("healed",)
    assert [drop.successor for drop in world.told("a").drop] == ["b", "b"]


def test_release_and_progress_of_another_epoch_or_life_change_nothing() -> None:
    """Facts are matched by queue, incarnation and epoch (rule H3)."""
    world = settled("a", "b")
    held = world.epoch_of(0)
    world.release("a", 0, Epoch(held.generation, held.number + 1), 50)
    world.release("b", 0, held, 51)
    world.release("a", 0, held, 52, life=2)
    world.progress("b", 0, held, 53)
    result = world.run()
    assert result.counts["release", "stale"] == 3
    assert result.outputs == ()
    assert world.state is not None
    assert world.state.queues[queue_of(0)].base == Position(0, 0)


def test_due_is_the_earliest_deadline() -> None:
    """The engine tells the shard when to step a group that has no records."""
    world = settled("a")
    assert world.state is not None
    assert due_ms(world.state, world.rules) == 1_000 + 13_001
    world.pass_time(3_000)
    world.beat("a")
    world.run()
    assert due_ms(world.state, world.rules) == 4_000 + 13_001


def test_a_life_keeps_its_message_model() -> None:
    """An incarnation that says another model is rejected by name, and counts for its lease."""
    world = settled("a")
    world.pass_time(9_000)
    world.beat("a", profile=MemberProfile(message_model="broadcasting"))
    world.run()
    assert world.state is not None
    assert world.state.liveness[key_of("a")].seen_ms == world.clock_ms
    assert world.state.members[key_of("a")].shares
    refused = [output for output in world.outputs if isinstance(output, Rejection)]
    assert [(entry.reason, entry.field) for entry in refused] == [
        ("unsupported_message_model", "message_model")
    ]


def test_large_sets_are_cut_into_parts() -> None:
    """A member with many queues gets several parts, which say how many its last record had."""
    world = settled("a", queues=450)
    told = world.told("a")
    assert (told.parts, told.parts_before) == (4, 1)


def test_the_input_state_is_not_changed() -> None:
    """A step leaves the state it was given as it was."""
    world = settled("a", "b")
    assert world.state is not None
    before = replace(world.state.copy())
    world.beat("c")
    state = world.state
    world.run()
    assert state == before


def test_a_decision_says_what_caused_it_and_where_that_stands() -> None:
    """The audit record names the event, the record that told it, the moves and the cut."""
    world = settled("a")
    world.beat("b")
    world.run()
    decision = world.decision
    assert isinstance(decision, Decision)
    assert decision.triggers == ("client_joined",)
    assert decision.cause[0].at is not None
    assert decision.cause[0].at.topic == "heartbeats"
    assert decision.previous_epoch < decision.epoch
    assert decision.state.in_handover == 2
