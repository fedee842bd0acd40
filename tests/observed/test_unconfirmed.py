"""Whoever may write heartbeats and releases may invent groups and queues: few of them are kept."""

from collections.abc import Iterable

from fairlead.core.model import MessageQueue, Position
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.positions import PositionReport
from fairlead.observed.unconfirmed import Unconfirmed
from tests.kit.live_group import GROUP
from tests.kit.observed_world import DAY_MS, Reader, empty_view
from tests.kit.world import World, world_of

SENDER = {"client_id": "ghost", "incarnation": "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03"}
GROUPS, QUEUES = 20, 100


def small_view() -> ObservedGroups:
    """A view that keeps few strangers."""
    view = empty_view()
    view._groups._strangers = Unconfirmed(GROUPS, QUEUES)  # noqa: SLF001 - the bounds are too great
    return view


def progress(world: World, group: str, queues: Iterable[MessageQueue]) -> None:
    """Somebody tells how far it is with queues, each far behind its end."""
    told = [
        {"queue": [*each], "epoch": [1, 1], "position": [0, 1], "end": 9_000} for each in queues
    ]
    record = {"kind": "progress", "group": group, **SENDER, "queues": told}
    world.topics.append_of("heartbeats", group, record)


def release(world: World, group: str, queue: MessageQueue, identity: str | None = None) -> None:
    """Somebody gives a queue up."""
    told = {"queue": [*queue], "epoch": [1, 1], "position": [0, 1], "identity": identity}
    world.topics.append_of("releases", group, {"kind": "release", "group": group, **SENDER, **told})


def invented(first: int, count: int) -> list[MessageQueue]:
    """Queues of a topic that nobody has."""
    return [MessageQueue("nowhere", "main", number) for number in range(first, first + count)]


def kept(view: ObservedGroups) -> tuple[int, int, int]:
    """Return how many groups, measured queues and releases are kept."""
    groups = view._groups.by_name.values()  # noqa: SLF001 - nothing else shows what is kept
    measured = sum(len(each.positions.queues) for each in groups)
    return len(groups), measured, sum(len(each.releases) for each in groups)


def test_invented_groups() -> None:
    """Groups that clients alone name are bounded, and the group at work is none of them."""
    world, view = world_of("c1"), small_view()
    reader = Reader(world)
    view.apply(reader.rows())
    before = view.group(GROUP)
    _, own, _ = kept(view)
    for number in range(500):
        progress(world, f"ghost-{number}", invented(0, 7))
        release(world, f"ghost-{number}", MessageQueue("nowhere", "main", 0))
        view.apply(reader.rows())
        groups, queues, _ = kept(view)
        assert groups <= GROUPS + 1
        assert queues <= QUEUES + own
    assert [each.group for each in view.groups()] == [GROUP]
    after = view.group(GROUP)
    assert before is not None
    assert after is not None
    assert (after.figures.topics, after.members) == (before.figures.topics, before.members)
    assert view.passed_over == 0
    assert len(view._groups.stirred) <= GROUPS + 1  # noqa: SLF001 - nothing else shows it


def test_invented_queues_of_a_group_at_work() -> None:
    """Queues of no route are bounded in a real group too, and say nothing of its lag."""
    world, view = world_of("c1"), small_view()
    reader = Reader(world)
    view.apply(reader.rows())
    before = view.group(GROUP)
    assert before is not None
    _, own, _ = kept(view)
    for number in range(60):
        progress(world, GROUP, invented(number * 50, 50))
        release(world, GROUP, MessageQueue("nowhere", "main", 10**6 + number))
        view.apply(reader.rows())
    _, queues, released = kept(view)
    assert queues <= QUEUES + own
    assert released < 60
    found = view.group(GROUP)
    assert found is not None
    assert [each.topic for each in found.figures.topics] == [
        each.topic for each in before.figures.topics
    ]
    assert found.members == before.members


def test_queues_of_others_in_invented_groups() -> None:
    """That a queue has a route says nothing of a group that only its writer names."""
    world, view = world_of("c1"), small_view()
    reader = Reader(world)
    view.apply(reader.rows())
    routed = [*view._groups.by_name[GROUP].positions.queues]  # noqa: SLF001 - likewise
    _, own, _ = kept(view)
    assert own == len(routed) > 5
    for number in range(GROUPS):
        progress(world, f"ghost-{number}", routed)
    view.apply(reader.rows())
    _, queues, _ = kept(view)
    assert queues <= QUEUES + own
    assert {*routed} <= {*view._groups.by_name[GROUP].positions.queues}  # noqa: SLF001 - likewise


def test_queues_that_a_bridge_told_of() -> None:
    """A queue without a route that a bridge told of is kept, however many are invented."""
    world, view = world_of("c1"), small_view()
    reader = Reader(world)
    view.apply(reader.rows())
    group = view._groups.by_name[GROUP]  # noqa: SLF001 - likewise
    told = MessageQueue("elsewhere", "main", 0)
    group.positions.apply_bounds(PositionReport(told, None, Position(0, 3), 7), view.as_of_ms)
    for number in range(60):
        progress(world, GROUP, [told, *invented(number * 50, 50)])
    view.apply(reader.rows())
    assert told in group.positions.queues


def test_places_of_what_is_forgotten() -> None:
    """Inventions in a topic that is read take the places of those before them."""
    world, view = world_of("c1"), small_view()
    reader = Reader(world)
    for number in range(40):
        more = [MessageQueue("orders", "main", 1_000 * number + each) for each in range(100, 150)]
        progress(world, GROUP, more)
        view.apply(reader.rows())
    topic = view._groups.by_name[GROUP].positions.topics["orders"]  # noqa: SLF001 - likewise
    assert topic.new_place() < 300


def test_queues_whose_route_comes_later() -> None:
    """What members told of a queue holds, however many inventions come once it has its route."""
    world, view = world_of("c1"), small_view()
    reader = Reader(world)
    rows = reader.rows()
    routes = [row for row in rows if row.topic.endswith("routes")]
    view.apply([row for row in rows if row not in routes])
    view.apply(routes)
    expected = empty_view()
    expected.apply(rows)
    for number in range(40):
        progress(world, f"ghost-{number}", invented(number * 50, 50))
    later = reader.rows()
    view.apply(later)
    expected.apply(later)
    said, other = view.group(GROUP), expected.group(GROUP)
    assert said is not None
    assert other is not None
    assert said.to_full_json() == other.to_full_json()


def test_records_that_the_engine_refuses_for_their_size() -> None:
    """A record that is too big is passed over, and so is a name that is too long."""
    world, view = world_of("c1"), small_view()
    progress(world, "large", invented(0, 2_000))
    progress(world, "long", [MessageQueue("x" * 300, "main", 0)])
    release(world, "told", MessageQueue("orders", "main", 0), identity="x" * 300)
    view.apply(Reader(world).rows())
    assert view.passed_over == 3
    assert view.group("large") is None


def test_an_invented_group_is_not_kept_for_its_lag() -> None:
    """Nobody looks for a group that only a record of progress names: it is over once it is old."""
    world, view = world_of("c1"), small_view()
    reader = Reader(world)
    progress(world, "ghost", invented(0, 3))
    view.apply(reader.rows())
    world.topics.now_ms += DAY_MS + 120_000
    world.pass_seconds(1)
    view.apply(reader.rows())
    assert "ghost" not in view._groups.by_name  # noqa: SLF001 - nothing else shows what is kept
