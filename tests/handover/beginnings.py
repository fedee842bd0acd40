"""Where most stories begin, and what is looked at in them."""

from fairlead.core.handover.chain import Phase, phase_of
from fairlead.core.state import QueueState
from tests.handover.story import Client, Story
from tests.kit.group_world import queue_of

__all__ = [
    "a_beside_b",
    "eager_a_beside_b",
    "follow_reset",
    "gated_b",
    "gates",
    "has_passed",
    "holders",
    "owned_by_a",
    "phase",
    "start_of",
    "value",
]


def owned_by_a(**settings: object) -> tuple[Story, Client]:
    """A client owns the only queue, and has read so."""
    story = Story(**settings)  # type: ignore[arg-type]  # fields of Story
    a = story.joins("a")
    story.engine()
    a.reads_all()
    assert story.owner() == "a"
    return story, a


def a_beside_b(**settings: object) -> tuple[Story, Client, Client]:
    """A client owns the only queue; B is a member that owns nothing."""
    story, a = owned_by_a(**settings)
    b = story.joins("b")
    story.engine()
    b.reads_all()
    return story, a, b


def eager_a_beside_b() -> tuple[Story, Client, Client]:
    """A client owns the only queue and B none, in a group that waits for nobody from now on."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.world.rule("mode", "eager")
    story.engine()
    b.reads_all()
    return story, a, b


def gated_b(**settings: object) -> tuple[Story, Client, Client]:
    """The queue goes from A to B in one decision; neither has read it."""
    story, a, b = a_beside_b(**settings)
    story.moves(0, "b")
    assert phase(story) is Phase.HANDOVER
    return story, a, b


def follow_reset(story: Story, client: Client) -> None:
    """The engine decides on a reset; the holder stops, and has the queue again from there."""
    story.engine()
    client.reads_all()
    client.stops()
    client.reads_all()


def phase(story: Story) -> Phase:
    """Where the engine sees the queue."""
    assert story.world.state is not None
    return phase_of(story.world.state.queues[queue_of(0)])


def gates(story: Story) -> list[str]:
    """Who the newest add of the queue waits for."""
    return holders(story)[:-1]


def holders(story: Story) -> list[str]:
    """Whose grants of the queue are unresolved, the oldest first."""
    assert story.world.state is not None
    chain = story.world.state.queues[queue_of(0)].chain
    return [grant.member.client_id for grant in chain]


def has_passed(story: Story) -> bool:
    """Whether the group has passed the barrier of the newest generation."""
    state = story.world.state
    assert state is not None
    return state.barrier is None and state.generation == story.generation


def start_of(client: Client) -> int:
    """The offset at which a client started last."""
    return client.starts[-1][2]


def value(story: Story, queue: int = 0) -> QueueState:
    """What the engine remembers of a queue."""
    assert story.world.state is not None
    return story.world.state.queues[queue_of(queue)]
