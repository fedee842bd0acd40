"""What a group keeps of the reports that it reads while a barrier lasts.

Until its end the state may know neither all grants nor all queues. So the barrier keeps reports by
themselves; :mod:`fairlead.core.recovery.barrier` decides at its end what they mean.
"""

from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.handover.chain import credit
from fairlead.core.membership.strangers import hears_strangers
from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.positions.bounds import believe_end, doubt_in_barrier, is_doubtful
from fairlead.core.records import Arrival, Claim, Claims, Progress, QueueProgress, Release
from fairlead.core.rules.quota import BUILT_IN, QUOTA_BOUNDS, QUOTA_QUEUES
from fairlead.core.state import Barrier, GroupState, QueueState, ReportedPosition
from fairlead.core.topics.routes import queue_count
from fairlead.core.topics.topic_identity import note_reported, of_newest

__all__ = [
    "credit_in_barrier",
    "is_impossible",
    "is_late",
    "knows_nothing",
    "may_keep_claims",
    "refuse_claims",
    "remember_progress",
    "remember_release",
    "remembered_max",
    "unknown_queue",
]


def remembered_max(draft: Draft) -> int:
    """Return how many unknown queues, identities and releases a barrier keeps.

    The number exceeds the queues of any group within its quota, and bounds what anybody can invent.
    """
    return 2 * max(BUILT_IN.queues, draft.rules.quota.queues)


def _claims_max(draft: Draft) -> int:
    """Return how many claims of one member the group keeps.

    Queues from before the quota was lowered count. Until the driver's marker counts, the engine may
    not have read all rules: an unread quota may allow as much as any does.
    """
    barrier, marker = draft.state.barrier, draft.moment.marker
    if barrier is not None and barrier.marked_ms is None and marker < barrier.generation:
        return 2 * QUOTA_BOUNDS["queues"][1]
    routed = sum(queue_count(route) for route in draft.state.routes.values())
    return max(remembered_max(draft), 2 * routed)


def is_late(draft: Draft, member: MemberKey, clock_ms: int) -> bool:
    """Tell whether an unknown member speaks after the engine has heard every live member."""
    return member not in draft.state.members and not hears_strangers(draft, clock_ms)


def may_keep_claims(draft: Draft, claims: Claims) -> bool:
    """Tell whether the group may keep a part of an acknowledgement until a barrier needs it.

    A member claims each queue that it ever started once, so an honest one has no more claims than
    its group has queues. A member with a refused part has not acknowledged: the barrier waits for
    it as for a mute one, and nobody else gets what it may work on.
    """
    held = draft.state.claims.get(claims.member)
    of_it = {} if held is None or held.generation != claims.generation else held.read
    others = sum(len(queues) for part, queues in of_it.items() if part != claims.part)
    return others + len(claims.queues) <= _claims_max(draft)


def refuse_claims(draft: Draft, arrival: Arrival, claims: Claims) -> None:
    """Refuse a part of an acknowledgement.

    Only the first one in a step and a second of the log gets a dead letter: parts may come by
    thousands.
    """
    draft.counts["claims", "rejected"] += 1
    second = arrival.clock_ms // 1_000
    if (QUOTA_QUEUES, second) in draft.letters_sent:
        return
    draft.letters_sent.add((QUOTA_QUEUES, second))
    detail = f"{claims.member.client_id} claims more than {_claims_max(draft)} queues"
    remedy = (
        "look for what wrote it; if the group reads so many, raise its quota of queues, then "
        "restart that client"
    )
    draft.reject(arrival, QUOTA_QUEUES, "queues", (detail, remedy))


def remember_progress(draft: Draft, made: Progress, clock_ms: int) -> None:
    """Keep the positions of progress in a barrier.

    The state may not know its grant, and its member may be dead. No report exceeds what was
    processed, so the greatest is right, whoever made it (rule H7).
    """
    if draft.state.barrier is None or is_late(draft, made.member, clock_ms):
        return
    for entry in made.queues:
        credit_in_barrier(draft, made.member, entry)


def remember_release(draft: Draft, release: Release) -> None:
    """Keep a release in a barrier: a claim of the same grant may come later."""
    barrier = draft.state.barrier
    if barrier is None or release.position is None or is_impossible(draft, release.epoch):
        return
    _note_release(draft, barrier, release, release.position)
    if not _may_keep(draft, release.queue, release.identity):
        return
    if release.identity is not None:
        reported = ReportedPosition(release.epoch, release.position, "release")
        _note_reported(draft, release.member, release.queue, release.identity, reported)
    elif knows_nothing(draft.state):
        # Its position counts at the end, after all progress: the cut of batches decides which of
        # the two comes first.
        value = draft.state.queues.get(release.queue) or unknown_queue(draft.state)
        draft.set_queue(release.queue, of_newest(value, release.epoch))


def _note_release(draft: Draft, barrier: Barrier, release: Release, position: Position) -> None:
    # Copied once a step: the state before the step must stay as it is.
    if draft.releases is None:
        draft.releases = dict(barrier.releases)
    key, value = (release.queue, release.member), draft.state.queues.get(release.queue)
    kept: Position | None = position if release.identity is None else None
    counts = value is not None and release.epoch > value.void
    if kept is not None and value is not None and counts and is_doubtful(value, kept):
        doubted = doubt_in_barrier(value, release.member, release.epoch, kept)
        draft.set_queue(release.queue, doubted)
        kept = None
    known = value is not None and release.member in draft.state.members
    if known or key in draft.releases or len(draft.releases) < remembered_max(draft):
        fact = release.epoch, kept
        draft.releases[key] = max(draft.releases.get(key, fact), fact, key=_by_epoch_and_position)
    if barrier.releases is not draft.releases:
        draft.state.barrier = replace(barrier, releases=draft.releases)


def _by_epoch_and_position(
    fact: tuple[Epoch, Position | None],
) -> tuple[Epoch, tuple[int, int]]:
    epoch, position = fact
    return epoch, (-1, -1) if position is None else position


def credit_in_barrier(draft: Draft, member: MemberKey, entry: QueueProgress | Claim) -> None:
    """Count a position that is reported in a barrier, under the identity that it names, if any."""
    queue, epoch, position = entry.queue, entry.epoch, entry.position
    if is_impossible(draft, epoch):
        return
    if isinstance(entry, QueueProgress) and not _may_keep(draft, queue, entry.identity):
        return
    if isinstance(entry, QueueProgress) and entry.identity == draft.state.identity_of(queue.topic):
        known = draft.state.queues.get(queue)
        if known is not None:
            draft.set_queue(queue, believe_end(known, entry))
    if entry.identity is not None:
        _note_reported(
            draft, member, queue, entry.identity, ReportedPosition(epoch, position, "progress")
        )
        return
    value = draft.state.queues.get(queue) or unknown_queue(draft.state)
    if knows_nothing(draft.state):
        value = of_newest(value, epoch)
    if epoch > value.void and is_doubtful(value, position):
        draft.set_queue(queue, doubt_in_barrier(value, member, epoch, position))
        return
    draft.set_queue(queue, credit(value, epoch, position, "progress"))


def _note_reported(
    draft: Draft, member: MemberKey, queue: MessageQueue, identity: str, reported: ReportedPosition
) -> None:
    """Keep a position under an identity; put it aside if the engine cannot believe it yet.

    Only the greatest position of an identity stays: one that nobody can have reached would hide the
    honest ones.
    """
    value = draft.state.queues.get(queue)
    if (
        value is not None
        and value.base is not None
        and _is_of_its_identity(draft, queue, identity)
        and is_doubtful(value, reported.position)
    ):
        draft.set_queue(queue, doubt_in_barrier(value, member, reported.epoch, reported.position))
        reported = reported._replace(position=value.base)
    note_reported(draft, queue, identity, reported)


def _is_of_its_identity(draft: Draft, queue: MessageQueue, identity: str) -> bool:
    """Tell whether an identity is the one that the state knows of a queue."""
    value = draft.state.queues.get(queue)
    if value is None:
        return False
    return identity == (draft.state.identity_of(queue.topic) or value.identity)


def _may_keep(draft: Draft, queue: MessageQueue, identity: str | None) -> bool:
    """Tell whether the barrier may keep a queue or identity that the state may not know.

    Anybody may invent some while the barrier is open. Claims do not come here: they are kept.
    """
    queues, barrier = draft.state.queues, draft.state.barrier
    if identity is None or barrier is None:
        return queue in queues or len(queues) < remembered_max(draft)
    known = (queue, identity) in barrier.reported or _is_of_its_identity(draft, queue, identity)
    return known or len(barrier.reported) < remembered_max(draft)


def is_impossible(draft: Draft, epoch: Epoch) -> bool:
    """Tell whether no decision can have this epoch yet.

    An invented epoch must not outrank every true one (rule H5: epochs only grow).
    """
    generation = draft.engine.generation
    return epoch.generation > generation or (
        epoch.generation == generation and epoch > draft.state.epoch
    )


def knows_nothing(state: GroupState) -> bool:
    """Tell whether the group recovers without any earlier state."""
    return state.recovering and not state.generation


def unknown_queue(state: GroupState) -> QueueState:
    """Return a queue that the state does not know.

    Its own earlier grants of it are void: the topic may have been created again since.
    """
    return QueueState(late=True, void=state.epoch)
