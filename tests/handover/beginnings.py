"""Where most stories begin, and what is looked at in them."""

from fairlead.core.handover import Phase, phase_of
from fairlead.core.state import QueueState
from tests.core.world import queue_of
from tests.handover.story import Client, Story

__all__ = ["gated_b", "gates", "owned_by_a", "phase", "start_of", "value"]


def owned_by_a(**settings: object) -> tuple[Story, Client]:
    """A client owns the only queue, and has read so."""
    story = Story(**settings)  # type: ignore[arg-type]  # fields of Story
    a = story.joins("a")
    story.engine()
    a.reads_all()
    assert story.owner() == "a"
    return story, a


def gated_b(**settings: object) -> tuple[Story, Client, Client]:
    """The queue goes from A to B in one decision; neither has read it."""
    story, a = owned_by_a(**settings)
    b = story.joins("b")
    story.engine()
    b.reads_all()
    story.moves(0, "b")
    assert phase(story) is Phase.HANDOVER
    return story, a, b


def phase(story: Story) -> Phase:
    """Where the engine sees the queue."""
    assert story.world.state is not None
    return phase_of(story.world.state.queues[queue_of(0)])


def gates(story: Story) -> list[str]:
    """Who the newest add of the queue waits for."""
    assert story.world.state is not None
    chain = story.world.state.queues[queue_of(0)].chain
    return [grant.member.client_id for grant in chain[:-1]]


def start_of(client: Client) -> int:
    """The offset at which a client started last."""
    return client.starts[-1][2]


def value(story: Story, queue: int = 0) -> QueueState:
    """What the engine remembers of a queue."""
    assert story.world.state is not None
    return story.world.state.queues[queue_of(queue)]
