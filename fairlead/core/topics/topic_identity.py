"""Which identity of its topic a position belongs to: topics are deleted and created again.

Clients name with each position the identity under which it was granted. In a barrier the engine may
read positions of several identities, before or after the route that shows the present one. So it
keeps each identity's positions by themselves, and at the end only those of the present one count
(rule H28). A position without an identity counts as rule H19 says.

ADR 0119 gives the reasons.
"""

from collections.abc import Mapping
from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.core.state import GroupState, QueueState, ReportedPosition

__all__ = [
    "is_of_another_identity",
    "note_recreated",
    "note_reported",
    "of_newest",
    "of_present_identity",
    "positions_by_identity",
    "with_set_aside",
]


def note_reported(draft: Draft, queue: MessageQueue, identity: str, new: ReportedPosition) -> None:
    """Keep a position under an identity while the barrier lasts.

    Under one identity no report exceeds what was processed, so the greatest is right, whoever made
    it (rule H7). Of two equal ones the kind of report decides, so that their order does not matter.
    """
    barrier = draft.state.barrier
    if barrier is None:
        return
    # Copied once a step: the state before the step must stay as it is.
    if draft.reported is None:
        draft.reported = dict(barrier.reported)
    known = draft.reported.get((queue, identity), new)
    if new.position > known.position or (new.position == known.position and new.why < known.why):
        known = known._replace(position=new.position, why=new.why)
    draft.reported[queue, identity] = known._replace(epoch=max(known.epoch, new.epoch))
    if barrier.reported is not draft.reported:
        draft.state.barrier = replace(barrier, reported=draft.reported)


def positions_by_identity(state: GroupState) -> dict[MessageQueue, dict[str, ReportedPosition]]:
    """Return the positions that the barrier keeps: queue -> identity -> position."""
    by_queue: dict[MessageQueue, dict[str, ReportedPosition]] = {}
    reported = {} if state.barrier is None else state.barrier.reported
    for queue, identity in sorted(reported):
        by_queue.setdefault(queue, {})[identity] = reported[queue, identity]
    return by_queue


def note_recreated(draft: Draft, topic: str) -> None:
    """Note, for as long as the group exists, that it has known another identity of a topic.

    Queues that the present identity gains later may have been in the other one, even if the state
    no longer knows them then.
    """
    draft.state.remade = tuple(sorted({*draft.state.remade, topic}))


def is_of_another_identity(state: GroupState, queue: MessageQueue, identity: str | None) -> bool:
    """Tell whether an identity is certainly another one than the topic's present one."""
    present = state.identity_of(queue.topic)
    return None not in (identity, present) and identity != present


def of_newest(value: QueueState, epoch: Epoch) -> QueueState:
    """Forget positions from grants that are older than this one.

    The queue may have had another identity that only the lost state knew. Under one identity a
    later owner starts no lower than earlier ones have reported, so the newest grant with a known
    position decides.
    """
    older = Epoch(epoch.generation, epoch.number - 1)
    return value if older <= value.void else replace(value, base=None, why="", void=older)


def of_present_identity(
    value: QueueState, present: str | None, positions: Mapping[str, ReportedPosition], *, lost: bool
) -> QueueState:
    """Return a queue with the position of its present identity, at the end of a barrier.

    ``present`` is the identity in its topic's route; without a route, the identity of the newest
    grant in ``positions`` counts. ``lost``: the state knows nothing of the queue from before.
    """
    identity = present
    if identity is None and positions:
        identity = max(positions, key=lambda name: (positions[name].epoch, name))
    if identity is not None and value.identity not in (None, identity):
        # No route has shown the identity so far.
        value = replace(value, base=None, why="", asked=None)
    reported = None if identity is None else positions.get(identity)
    # Some clients name no identity: after a loss the newer of both reports counts.
    older = lost and reported is not None and value.void < reported.epoch
    if reported is not None and (value.base is None or older or reported.position > value.base):
        value = replace(value, base=reported.position, why=reported.why)
    value = replace(value, identity=None if present is not None else identity or value.identity)
    return with_set_aside(value, identity)


def with_set_aside(value: QueueState, identity: str | None) -> QueueState:
    """Return a queue whose identity is known now, with the reset that waits for that identity."""
    if value.set_aside is None or value.set_aside[0] != identity:
        return value
    asked: Position = value.set_aside[1]
    value = replace(value, set_aside=None)
    if any(known is not None and asked <= known for known in (value.base, value.asked)):
        return value
    return replace(value, asked=asked)
