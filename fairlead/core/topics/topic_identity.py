"""Of which life of its topic a position is: topics are deleted, and made again under their name.

Clients say with each position under which identity of the topic it was granted. While a barrier
lasts, positions of several lives may be read, before or after the route that tells which life there
is now; so each life's are kept by themselves, and at the end those of the present one count and no
others (rule H28). What says of no life counts as rule H19 says.

ADR 0119 gives the reasons.
"""

from collections.abc import Mapping
from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.core.state import GroupState, QueueState, Told

__all__ = [
    "in_its_life",
    "is_of_another_life",
    "lives_told",
    "note_remade",
    "note_told",
    "of_newest",
    "with_set_aside",
]


def note_told(draft: Draft, queue: MessageQueue, identity: str, told: Told) -> None:
    """Remember what is told of a queue's life while the barrier lasts.

    Within one life no report is beyond what was processed, so the greatest is right whoever made it
    (rule H7); of two equal ones the kind of report is the same in whatever order they are read.
    """
    barrier = draft.state.barrier
    if barrier is None:
        return
    # Copied once a step: whoever has the state of before may still look at it.
    if draft.told is None:
        draft.told = dict(barrier.told)
    known = draft.told.get((queue, identity), told)
    if told.position > known.position or (told.position == known.position and told.why < known.why):
        known = known._replace(position=told.position, why=told.why)
    draft.told[queue, identity] = known._replace(epoch=max(known.epoch, told.epoch))
    if barrier.told is not draft.told:
        draft.state.barrier = replace(barrier, told=draft.told)


def lives_told(state: GroupState) -> dict[MessageQueue, dict[str, Told]]:
    """Return what the barrier's records have told of each life of each queue."""
    found: dict[MessageQueue, dict[str, Told]] = {}
    told = {} if state.barrier is None else state.barrier.told
    for queue, identity in sorted(told):
        found.setdefault(queue, {})[identity] = told[queue, identity]
    return found


def note_remade(draft: Draft, topic: str) -> None:
    """Remember that the group has known another life of a topic, for as long as it lives itself.

    Queues that the present life gains later may have stood in that one, whatever the state still
    knows of them then.
    """
    draft.state.remade = tuple(sorted({*draft.state.remade, topic}))


def is_of_another_life(state: GroupState, queue: MessageQueue, identity: str | None) -> bool:
    """Tell whether something is certainly of another life of the topic than the present one."""
    present = state.identity_of(queue.topic)
    return None not in (identity, present) and identity != present


def of_newest(value: QueueState, epoch: Epoch) -> QueueState:
    """Forget what was told under grants that are older than this one.

    A queue may have had another life, which only the state knew. Within one life whoever was
    granted it later started no lower than his elders had told, so the newest grant of which a
    position is known decides.
    """
    older = Epoch(epoch.generation, epoch.number - 1)
    return value if older <= value.void else replace(value, base=None, why="", void=older)


def in_its_life(
    value: QueueState, present: str | None, lives: Mapping[str, Told], *, lost: bool
) -> QueueState:
    """Return a queue with what was told of its present life, at the end of a barrier.

    ``present`` is the identity that its topic's route says; where none is known, the newest grant
    of which anybody told in ``lives`` does. ``lost``: nothing of the queue is known from before.
    """
    life = present
    if life is None and lives:
        life = max(lives, key=lambda identity: (lives[identity].epoch, identity))
    if life is not None and value.identity not in (None, life):
        # No route said so far which life it was.
        value = replace(value, base=None, why="", asked=None)
    told = None if life is None else lives.get(life)
    # Beside it there may be words of clients that name no life: after a loss the newer of both.
    older = lost and told is not None and value.void < told.epoch
    if told is not None and (value.base is None or older or told.position > value.base):
        value = replace(value, base=told.position, why=told.why)
    value = replace(value, identity=None if present is not None else life or value.identity)
    return with_set_aside(value, life)


def with_set_aside(value: QueueState, life: str | None) -> QueueState:
    """Return a queue of which the life is known now, with the reset that was asked for that one."""
    if value.set_aside is None or value.set_aside[0] != life:
        return value
    asked: Position = value.set_aside[1]
    value = replace(value, set_aside=None)
    if any(known is not None and asked <= known for known in (value.base, value.asked)):
        return value
    return replace(value, asked=asked)
