"""Names that anybody may write, and what is forgotten of what is no more."""

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.observed.counters import OTHER, GroupCounters
from fairlead.observed.events import GroupEvents
from fairlead.observed.group_decisions import GroupDecisions
from fairlead.observed.positions import PositionReport
from tests.kit.live_group import GROUP
from tests.kit.observed_world import DAY_MS, Followed, view_of
from tests.kit.world import Forgetful, world_of

GONE = MessageQueue("gone", "main", 0)


def test_topics_that_nobody_has() -> None:
    """The view has a topic of a subscription if it has a route, or was granted."""
    world = world_of("c1", queues={"orders": 2})
    world.join("c2", subscribed=("orders", "invented"))
    world.pass_seconds(5)
    found = view_of(world).group(GROUP)
    assert found is not None
    assert [each.topic for each in found.figures.topics] == ["orders"]


def test_group_called_as_all_others() -> None:
    """A group with the name of all that have no place never has one, nor takes their counts."""
    happened = GroupCounters()
    happened.choose_named([OTHER, "a"], 5, [OTHER])
    assert happened.named == {"a"}
    assert happened.label_of(OTHER) == OTHER
    happened.folded.clear()
    happened.expirations[OTHER] = 3
    happened.forget(OTHER)
    assert happened.expirations[OTHER] == 3


def test_polled_ends_of_a_topic_that_is_gone() -> None:
    """Ends and releases of a topic that is gone are forgotten after the length of the history."""
    followed = Followed(world_of("c1"))
    view, world = followed.view, followed.world
    group = view._groups.by_name[GROUP]  # noqa: SLF001 - nothing else shows what is kept
    view.apply_offsets(view.as_of_ms, {GONE: 7}, {}, {"gone": "life"})
    group.take_release(MemberKey("c1", "i1"), PositionReport(GONE, Epoch(1, 1)), view.as_of_ms)
    facts = view._facts  # noqa: SLF001 - nothing else shows what is kept
    assert (GONE in facts.polled, "gone" in facts.polled_identities, GONE in group.releases) == (
        True,
    ) * 3
    world.topics.now_ms += DAY_MS + 120_000
    followed.pass_seconds(1)
    assert (GONE in facts.polled, "gone" in facts.polled_identities, GONE in group.releases) == (
        False,
    ) * 3


def test_drops_that_nobody_knows_of() -> None:
    """A drop whose grant is not known any more is not waited for for ever."""
    watch = GroupEvents(GROUP, GroupCounters())
    place = GONE, Epoch(1, 1)
    watch.dropped[place] = 10
    watch.late.add(place)
    watch.forget_before(5, GroupDecisions())
    assert (watch.dropped, watch.late) == ({place: 10}, set())
    watch.forget_before(11, GroupDecisions())
    assert not watch.dropped


def test_group_that_the_engine_forgot() -> None:
    """A group that a typing error made is gone once its rules are, and the engine forgot it."""
    world, name = Forgetful(queues={"orders": 2}), "ordres"
    world.join("c1", subscribed=("orders",))
    world.topics.rule(name, "pause", value=True)
    world.pass_seconds(3)
    assert name in {each.group for each in view_of(world).groups()}
    world.topics.rule(name, "pause", None)
    world.pass_seconds(60)
    assert world.decisions[-1]["triggers"] == ["group_evicted"]
    view = view_of(world)
    assert name not in {each.group for each in view.groups()}
    assert view.group(name) is None
