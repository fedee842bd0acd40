"""What a state is named by leaves out only times, and what is sent along or told to people."""

from dataclasses import fields, replace

from fairlead_client.session.memory import Memory, QueueMemory
from fairlead_client.thin.thin_session import ThinSession
from fairlead_client.thin.thin_standing import Held, ThinStanding
from fairlead_proof.explorer import group_image, memory_image
from fairlead_proof.explorer.frozen import frozen
from fairlead_proof.explorer.state_space import CLIENTS, ENGINE, StateSpace
from fairlead_proof.explorer.world import WorldBounds

from fairlead.core.state import GroupState


def names(kind: type) -> set[str]:
    """Return the fields of a dataclass."""
    return {each.name for each in fields(kind)}


def test_fields_of_a_session() -> None:
    """Everything that is left out of a session's image is a field of it, and set or looked at."""
    assert names(Memory) >= memory_image.SAME_IN_ALL | memory_image.SETTLED.keys()
    assert names(QueueMemory) >= memory_image.SETTLED_OF_QUEUES.keys()


def test_fields_of_a_group() -> None:
    """Everything that is left out of a group's image is a field of it, and set."""
    assert names(GroupState) >= group_image.SAME_IN_ALL | group_image.SETTLED.keys()


def test_every_field_of_a_time_is_set_to_one_value() -> None:
    """Every field of a session or a group that is named as a time is set to one value."""
    left = {name for name in names(Memory) if name.endswith("_ms")} - memory_image.SETTLED.keys()
    # No answer is late here, so none is ever due.
    assert left == {"claims_due_ms", "leave_due_ms", "former_due_ms", "hand_over_until_ms"}
    assert {name for name in names(GroupState) if name.endswith("_ms")} <= set(group_image.SETTLED)


def test_a_copy_goes_its_own_way() -> None:
    """A copy of a session's memory has the same image, and changes nothing of the original."""
    space = StateSpace(WorldBounds(clients=2))
    state = space.begin()[CLIENTS]
    step = next(iter(space.clients.reads[state].values()))
    memory = space.clients.states[step.to].memory
    assert memory is not None
    copy = memory_image.copied(memory)
    before = memory_image.image(memory)
    assert memory_image.image(copy) == before
    next(iter(copy.queues.values())).top = next(iter(copy.queues.values())).top._replace(number=9)
    assert memory_image.image(copy) != before
    assert memory_image.image(memory) == before


def test_what_a_group_is_named_by() -> None:
    """Two groups that differ in what decides have different images, and times make none."""
    space = StateSpace(WorldBounds(clients=2))
    group = space.engines.states[space.begin()[ENGINE]].group
    assert group is not None
    image = group_image.image(group)
    for other in (
        replace(group, number=99),
        replace(group, targets={}),
        replace(group, queues={}),
        replace(group, members={}),
    ):
        assert group_image.image(other) != image
    assert group_image.image(replace(group, recomputed_ms=7)) == image


def test_frozen_mappings_have_no_order() -> None:
    """A mapping's image does not depend on the order in which it was filled."""
    assert frozen({2: [1], 1: {"b": 2, "a": 1}}) == frozen({1: {"a": 1, "b": 2}, 2: [1]})


def test_fields_of_an_exchange() -> None:
    """Everything that a hosted session has is part of its image, or needs time or people."""
    space = StateSpace(WorldBounds(clients=1, thin=1))
    exchange = space.thin.states[space.begin()[CLIENTS]].exchange
    assert exchange is not None
    imaged = {"_session", "_told", "_named", "_adopted", "_claims_sent", "lost", "words"}
    told = {"_stops_told", "_standing_told", "_from_release", "_notices", "_drain_ms", "_now_ms"}
    assert vars(exchange).keys() == imaged | told


def test_a_copy_of_an_exchange_goes_its_own_way() -> None:
    """A copy has the same image, and shares nothing that changes with the original."""
    space = StateSpace(WorldBounds(clients=1, thin=1))
    exchange = space.thin.states[space.begin()[CLIENTS]].exchange
    assert exchange is not None
    copy = exchange.copied()
    assert copy.image() == exchange.image()
    shared = {
        name
        for name, value in vars(copy).items()
        if isinstance(value, list | set | dict) and value is vars(exchange)[name]
    }
    assert shared == set()
    assert copy.memory is not exchange.memory


def test_fields_of_a_thin_session() -> None:
    """Everything that a thin session has is part of its image, or a time, or always the same."""
    imaged = {"state", "_held", "_stopped", "_said", "_closing", "_token", "_under_way"}
    imaged |= {"_hand_over_until_ms"}
    times = {"lease_until_ms", "_poll_ms", "_sent_ms", "_due_ms", "_sequence", "joins"}
    same = {"_session", "_subscriptions", "_subscribed", "_decide", "_done", "stands_by"}
    assert names(ThinSession) == imaged | times | same
    # A start that waited for a stop shortens one poll.
    standing = {"now", "freeze", "is_loose", "works"} | {"stands_by", "_has_skipped"}
    assert names(ThinStanding) == standing
    # Where a queue ends is only told.
    assert names(Held) == {"epoch", "position", "granted", "stopping"} | {"end"}
