"""A recorded log with its recorded cuts gives the same bytes again, over deaths of drivers."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random

import orjson
import pytest

from fairlead.core.moment import Moment
from fairlead.core.outputs import Cut
from fairlead.core.records import Arrival
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.state import GroupState
from fairlead.core.step import StepResult, step
from fairlead.engine import group_step
from fairlead.replay.comparison import Written, compare
from fairlead.replay.output_log import WrittenInMemory, survey
from fairlead.replay.recorded_log import Recording
from fairlead.replay.shard_replay import ReplayError, cuts_of, replay_shard
from fairlead.wire.raw import RawRecord
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.replays import (
    DECISIONS,
    compare_of,
    decisions_of,
    kill,
    live,
    recording_of,
    written_of,
)
from tests.kit.world import World, context_of

REJECTS = NAMES.name("rejects")


@pytest.fixture(scope="module")
def world() -> World:
    """A long life with two deaths of the driver, the second one before anything was written."""
    world = World()
    chance = Random(11)
    world.topics.tick(1)
    live(world, 18, chance)
    kill(world, 3, 2)
    live(world, 14, chance, first=18)
    kill(world, 0, 0)
    live(world, 14, chance, first=32)
    return world


def test_everything_written_replays_byte_for_byte(world: World) -> None:
    """Everything that three drivers wrote over two deaths comes out of the loop again."""
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    assert comparison.same
    assert comparison.generations == 3
    assert comparison.cuts >= 50
    assert comparison.records > 200
    assert comparison.resent == 0
    assert comparison.unwritten > 0


def test_the_life_is_rich(world: World) -> None:
    """The recording holds every kind of record, and batches without a decision between cuts."""
    triggers = {trigger for entry in world.decisions for trigger in entry["triggers"]}
    assert triggers >= {
        "client_joined",
        "client_left",
        "client_expired",
        "route_changed",
        "released",
        "generation_started",
        "generation_passed",
    }
    assert len(world.kinds("rejects")) > 5
    # 46 seconds of three batches for each of two shards.
    assert len(cuts_of(decisions_of(world))) < 3 * 46 * 2 / 2


@pytest.mark.parametrize("beginning", [0, 1, 3, 5, 10_000])
def test_whatever_a_dying_driver_wrote(beginning: int) -> None:
    """However much of its last batch a driver wrote before it died, the replay explains it."""
    world = World()
    chance = Random(beginning)
    world.topics.tick(1)
    live(world, 9, chance)
    kill(world, beginning, beginning)
    live(world, 6, chance, first=9)
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    if beginning in {0, 1}:
        assert comparison.unwritten > 0
    if beginning == 10_000:
        assert comparison.unwritten == 0


def test_a_batch_written_twice(world: World) -> None:
    """A batch that was tried again within one driver's life is found and counted."""
    written = written_of(world)
    twice: list[Written] = []
    for record in written:
        twice.append(record)
        if record.topic == DECISIONS and record.offset == 0:
            twice.append(record)
    numbered = [record._replace(offset=number) for number, record in enumerate(twice)]
    comparison = compare_of(world, numbered)
    assert comparison.same
    assert comparison.resent == 1


def _groups_of(records: list[Written]) -> set[str]:
    return {orjson.loads(record.key or b"")[0] for record in records}


def _first_twin(written: list[Written]) -> int:
    """Return the place of a record that is followed by one of its group in its partition."""
    return next(
        at
        for at, pair in enumerate(pairwise(written))
        if pair[0][:2] == pair[1][:2]
        and pair[0].topic == NAMES.name("assignments")
        and pair[0].offset >= 3
        and len(_groups_of(list(pair))) == 1
        and None not in (pair[0].value, pair[1].value)
    )


def _changed(written: list[Written], at: int) -> list[Written]:
    value = (written[at].value or b"").replace(b'"part":0', b'"part":7')
    return [*written[:at], written[at]._replace(value=value), *written[at + 1 :]]


def _missing(written: list[Written], at: int) -> list[Written]:
    return [*written[:at], *written[at + 1 :]]


def _swapped(written: list[Written], at: int) -> list[Written]:
    one, other = written[at], written[at + 1]
    swapped = other._replace(offset=one.offset), one._replace(offset=other.offset)
    return [*written[:at], *swapped, *written[at + 2 :]]


def _added(written: list[Written], at: int) -> list[Written]:
    forged = written[at]._replace(value=(written[at].value or b"") + b" ")
    return [*written[: at + 1], forged, *written[at + 1 :]]


@pytest.mark.parametrize("forge", [_changed, _missing, _swapped, _added])
def test_a_difference_is_named(
    world: World, forge: Callable[[list[Written], int], list[Written]]
) -> None:
    """A record that was changed, taken away, moved or added is found at its place."""
    written = sorted(written_of(world))
    at = _first_twin(written)
    comparison = compare_of(world, forge(written, at))
    difference = comparison.difference
    assert difference is not None
    assert not comparison.same
    assert (difference.topic, difference.partition) == written[at][:2]
    assert difference.expected is not None
    assert difference.offset is not None
    assert difference.offset >= written[at].offset
    assert f"{difference.topic}, partition {difference.partition}" in str(difference)


def test_a_changed_decision_is_named_with_its_cut(world: World) -> None:
    """A decision that was changed is named with its cut."""
    written = sorted(written_of(world))
    at = next(at for at, record in enumerate(written) if record.topic == DECISIONS) + 7
    difference = compare_of(world, _changed(written, at)).difference
    assert difference is not None
    assert (difference.topic, difference.offset) == (DECISIONS, written[at].offset)
    cut = orjson.loads(written[at].value or b"")["cut"]
    assert difference.cut is not None
    assert (difference.cut.shard, difference.cut.step) == (cut["shard"], cut["step"])


def test_a_lost_end_is_a_difference_without_an_offset(world: World) -> None:
    """Records that the job wrote last and that were lost are a difference without an offset."""
    written = sorted(written_of(world))
    last = max(
        at
        for at, record in enumerate(written)
        if record.topic == NAMES.name("assignments") and record.value is not None
    )
    difference = compare_of(world, _missing(written, last)).difference
    assert difference is not None
    assert (difference.offset, difference.got) == (None, None)
    assert difference.expected == (written[last].key, written[last].value)


def test_a_forged_or_missing_reject_is_a_difference(world: World) -> None:
    """A dead letter that no row explains is a difference, and so is one that is missing."""
    written = written_of(world)
    letters = [record for record in written if record.topic == REJECTS]
    forged = letters[0]._replace(offset=99_999, value=(letters[0].value or b"") + b" ")
    extra = compare_of(world, [*written, forged]).difference
    assert extra is not None
    assert (extra.offset, extra.expected) == (99_999, None)
    missing = compare_of(world, [record for record in written if record != letters[0]]).difference
    assert missing is not None
    assert (missing.offset, missing.got) == (None, None)


@pytest.mark.parametrize(
    "suffix, key",
    [("assignments", b"[]"), ("assignments", b"{"), ("decisions", b"\xff"), ("assignments", None)],
)
def test_a_record_for_nobody_is_a_difference(world: World, suffix: str, key: bytes | None) -> None:
    """A record that names no group, or a group without an assignment, is a difference."""
    stranger = Written(NAMES.name(suffix), 0, 99_999, key, b"{}")
    difference = compare_of(world, [*written_of(world), stranger]).difference
    assert difference is not None
    assert (difference.topic, difference.offset) == (stranger.topic, 99_999)
    assert difference.expected is None


def test_requests_of_others_accuse_no_engine(world: World) -> None:
    """Members, producers and operators ask bridges as well: what they write accuses no engine."""
    written = written_of(world)
    requests = NAMES.name("requests")
    own = [record for record in written if record.topic == requests]
    assert own
    group = (own[0].key or b"").decode()
    asked = b'{"v":1,"kind":"request","group":"%s","what":"retry","generation":9}' % group.encode()
    others = [
        Written(requests, 0, -1, own[0].key, asked),
        Written(requests, 0, own[-1].offset + 1, b"producers", asked),
        Written(requests, 0, own[-1].offset + 2, None, b"{}"),
        Written(requests, 0, own[-1].offset + 3, b"\xff", b"\xff"),
        own[0]._replace(offset=own[-1].offset + 4),
    ]
    result = compare_of(world, [*written, *others])
    assert result.same, result.difference
    assert result.resent + result.others == 4
    lost = [record for record in written if record is not own[-1]]
    difference = compare_of(world, [*lost, *others[:-1]]).difference
    assert difference is not None
    assert (difference.topic, difference.got) == (requests, None)


def test_a_generation_that_others_write(world: World) -> None:
    """Who may write requests may name generations: no drivers are seen side by side for it."""
    written = written_of(world)
    requests = NAMES.name("requests")
    own = [record for record in written if record.topic == requests]
    forged = [
        Written(requests, 0, own[-1].offset + 1 + at, own[0].key, b'{"generation":%d}' % generation)
        for at, generation in enumerate((9, 5))
    ]
    context = context_of(0, 1)
    before = survey(WrittenInMemory(written), context)
    after = survey(WrittenInMemory([*written, *forged]), context)
    assert (after.overlapping, after.generations) == (before.overlapping, before.generations)


def test_without_a_decision_the_next_state_is_unknown(world: World) -> None:
    """Without the decision of a step the state before the next one is unknown, and that is said."""
    cuts = [cut for cut in cuts_of(decisions_of(world)) if cut.shard == 0 and cut.step != 5]
    with pytest.raises(ReplayError, match="no decision of step 5 was recorded"):
        list(replay_shard(recording_of(world), cuts, context_of))


def test_a_recording_that_lacks_a_read_row_is_refused(world: World) -> None:
    """A recording that lacks a row which was read is refused."""
    rows = [row for log in world.topics.rows.values() for row in log]
    lacking = [row for row in rows if (row.topic, row.offset) != (NAMES.name("heartbeats"), 20)]
    with pytest.raises(ReplayError, match="does not hold every row"):
        compare(Recording.of(lacking), written_of(world), context_of)


def test_two_decisions_of_one_cut_are_refused(world: World) -> None:
    """Two decisions of one cut that name different positions are refused."""
    one = orjson.loads(decisions_of(world)[0])
    one["cut"]["positions"] = {}
    with pytest.raises(ReplayError, match="differ"):
        cuts_of([*decisions_of(world), orjson.dumps(one)])


def test_of_a_step_of_two_generations_the_second_is_kept(world: World) -> None:
    """A step that two generations wrote is kept from the second, and the first was interrupted."""
    cuts = [cut for cut in cuts_of(decisions_of(world)) if cut.shard == 0]
    replayed = list(replay_shard(recording_of(world), cuts, context_of))
    lost = [entry for entry in replayed if not entry.kept]
    assert [entry.cut.generation for entry in lost] == [1, 2]
    assert all(entry.interrupted for entry in lost)
    kept = [entry.cut.step for entry in replayed if entry.kept]
    assert kept == list(range(1, len(kept) + 1))


def test_an_older_state_put_back() -> None:
    """A driver that starts from an older state goes on from there; what it forgot stays written."""
    world = World()
    chance = Random(5)
    world.topics.tick(1)
    live(world, 6, chance)
    stored, read = dict(world.stored), dict(world.read)
    live(world, 6, chance, first=6)
    world.stored, world.read = stored, read
    world.start_driver()
    live(world, 8, chance, first=12)
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"
    assert comparison.generations == 2


def _fail_at_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each step raise that leaves the group ``a`` with three members."""

    def failing(
        state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules
    ) -> StepResult:
        result = step(state, arrivals, moment, engine)
        if result.state is not None and result.state.group == "a":
            staying = [one for one in result.state.members.values() if not one.leaving]
            if len(staying) == 3:
                raise ZeroDivisionError
        return result

    monkeypatch.setattr(group_step, "step", failing)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_a_failing_group(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Refused records, quarantines and their ends come out of the loop again like all else."""
    _fail_at_three(monkeypatch)
    world = World()
    chance = Random(seed)
    world.topics.tick(1)
    for number in range(4):
        world.join(f"a-{number}", "a")
    world.pass_seconds(5, chance)
    world.clients[seed].gone = True
    world.pass_seconds(16, chance)
    kill(world, seed, seed)
    live(world, 12, chance)
    world.join("a-4", "a")
    world.pass_seconds(22, chance)
    assert world.counts["groups/quarantined"] > 0
    assert world.counts["groups/quarantine_left"] > 0
    comparison = compare_of(world)
    assert str(comparison.difference) == "None"


def test_no_decisions_at_all() -> None:
    """Before the first decision there is nothing to compare but refusals, and these are."""
    world = World()
    world.topics.tick(1)
    world.topics.append("heartbeats", 0, None, b"nonsense")
    world.run_all()
    comparison = compare_of(world)
    assert (comparison.same, comparison.cuts, comparison.records) == (True, 0, 1)


def test_rows_are_read_from_cut_to_cut() -> None:
    """Rows are taken from the begin of each partition to its end, and those never read last."""
    rows = [
        RawRecord("t.heartbeats", 0, offset, 0, append_time_is_log=True, key=None, value=None)
        for offset in range(6)
    ]
    recording = Recording.of(reversed(rows))
    begin, end = {"t.heartbeats": {0: 2}}, {"t.heartbeats": {0: 4, 1: 9}, "t.routes": {0: 1}}
    assert [row.offset for row in recording.between(begin, end)] == [2, 3]
    ends = recording.ends(NAMES, 0)
    assert ends == {"t.heartbeats": {0: 6}}
    assert [row.offset for row in recording.between(end, ends)] == [4, 5]
    assert recording.ends(NAMES, 1) == {}


def test_cuts_are_read_from_decisions() -> None:
    """A cut is read as it was written."""
    ends = {"positions": {"t.heartbeats": {"1": 7}}, "begin": {"t.heartbeats": {"1": 5}}}
    plain = {"cut": {"generation": 2, "shard": 1, "step": 4, **ends}}
    cut = Cut(2, 1, 4, {"t.heartbeats": {1: 7}}, {"t.heartbeats": {1: 5}})
    assert cuts_of([orjson.dumps(plain)] * 2) == [cut]
    assert PARTITIONS.shards == 2
