"""What is remembered of the words that are read while a barrier lasts.

Nobody can tell then whose grants the state knows, nor which queues there are. So what is told is
kept by itself, and counts at the barrier's end: decided in :mod:`fairlead.core.recovery.barrier`.
"""

from dataclasses import replace

from fairlead.core.positions.bounds import believe_end, doubt_in_barrier, is_doubtful
from fairlead.core.draft import Draft
from fairlead.core.handover.chain import credit
from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.rules.quota import BUILT_IN, QUOTA_BOUNDS, QUOTA_QUEUES
from fairlead.core.records import Arrival, Claim, Claims, Progress, QueueProgress, Release
from fairlead.core.topics.routes import queue_count
from fairlead.core.state import Barrier, GroupState, QueueState, Told
from fairlead.core.membership.strangers import hears_strangers
from fairlead.core.topics.topic_identity import note_told, of_newest

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
    """Return how many queues, lives and releases are remembered that the state knows not of.

    They are more than the queues of any group that keeps its quota, and never as many as somebody
    can invent.
    """
    return 2 * max(BUILT_IN.queues, draft.rules.quota.queues)


def _claims_max(draft: Draft) -> int:
    """Return how many claims are kept of one member.

    Queues that were let in before the quota was lowered count. Until the driver's marker counts,
    the rules are perhaps not all read: a quota that is not known yet may allow as much as any does.
    """
    barrier, marker = draft.state.barrier, draft.moment.marker
    if barrier is not None and barrier.marked_ms is None and marker < barrier.generation:
        return 2 * QUOTA_BOUNDS["queues"][1]
    routed = sum(queue_count(route) for route in draft.state.routes.values())
    return max(remembered_max(draft), 2 * routed)


def is_late(draft: Draft, member: MemberKey, clock_ms: int) -> bool:
    """Tell whether a stranger speaks in a barrier after whoever is alive was heard."""
    return member not in draft.state.members and not hears_strangers(draft, clock_ms)


def may_keep_claims(draft: Draft, claims: Claims) -> bool:
    """Tell whether a part of an acknowledgement may be kept until the barrier that needs it.

    A member claims each queue once that it ever started, so an honest one has no more claims than
    its group has queues, however many members that has. Who is refused a part has not acknowledged:
    it is waited for as a mute one is, and nobody else is given what it may work on.
    """
    held = draft.state.claims.get(claims.member)
    of_it = {} if held is None or held.generation != claims.generation else held.read
    others = sum(len(queues) for part, queues in of_it.items() if part != claims.part)
    return others + len(claims.queues) <= _claims_max(draft)


def refuse_claims(draft: Draft, arrival: Arrival, claims: Claims) -> None:
    """Refuse a part of an acknowledgement that may not be kept.

    The first in a step and second of the log has a dead letter: small parts can come by thousands.
    """
    draft.counts["claims", "rejected"] += 1
    second = arrival.clock_ms // 1_000
    if (QUOTA_QUEUES, second) in draft.told_once:
        return
    draft.told_once.add((QUOTA_QUEUES, second))
    detail = f"{claims.member.client_id} claims more than {_claims_max(draft)} queues"
    remedy = (
        "look for what wrote it; if the group reads so many, raise its quota of queues, then "
        "restart that client"
    )
    draft.reject(arrival, QUOTA_QUEUES, "queues", (detail, remedy))


def remember_progress(draft: Draft, made: Progress, clock_ms: int) -> None:
    """Keep the positions of progress that is read while the barrier is in progress.

    Its grant may be one that the state does not know, and its member dead. No report is beyond what
    was processed, so the greatest is right whoever made it (rule H7).
    """
    if draft.state.barrier is None or is_late(draft, made.member, clock_ms):
        return
    for entry in made.queues:
        credit_in_barrier(draft, made.member, entry)


def remember_release(draft: Draft, release: Release) -> None:
    """Keep a release that is read while the barrier is in progress.

    A claim of the same grant may be read later.
    """
    barrier = draft.state.barrier
    if barrier is None or release.position is None or is_impossible(draft, release.epoch):
        return
    _note_release(draft, barrier, release, release.position)
    if not _may_keep(draft, release.queue, release.identity):
        return
    if release.identity is not None:
        told = Told(release.epoch, release.position, "release")
        _note_told(draft, release.member, release.queue, release.identity, told)
    elif knows_nothing(draft.state):
        # Its position counts at the end, after all progress: which of the two is read first
        # depends on how batches are cut.
        value = draft.state.queues.get(release.queue) or unknown_queue(draft.state)
        draft.set_queue(release.queue, of_newest(value, release.epoch))


def _note_release(draft: Draft, barrier: Barrier, release: Release, position: Position) -> None:
    # Copied once a step: whoever has the state of before may still look at it.
    if draft.releases is None:
        draft.releases = dict(barrier.releases)
    key, value = (release.queue, release.member), draft.state.queues.get(release.queue)
    told: Position | None = position if release.identity is None else None
    counts = value is not None and release.epoch > value.void
    if told is not None and value is not None and counts and is_doubtful(value, told):
        doubted = doubt_in_barrier(value, release.member, release.epoch, told)
        draft.set_queue(release.queue, doubted)
        told = None
    known = value is not None and release.member in draft.state.members
    if known or key in draft.releases or len(draft.releases) < remembered_max(draft):
        fact = release.epoch, told
        draft.releases[key] = max(draft.releases.get(key, fact), fact, key=_by_epoch_and_position)
    if barrier.releases is not draft.releases:
        draft.state.barrier = replace(barrier, releases=draft.releases)


def _by_epoch_and_position(
    fact: tuple[Epoch, Position | None],
) -> tuple[Epoch, tuple[int, int]]:
    epoch, position = fact
    return epoch, (-1, -1) if position is None else position


def credit_in_barrier(draft: Draft, member: MemberKey, entry: QueueProgress | Claim) -> None:
    """Let a position count that is told in a barrier: in the life that it names, if any."""
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
        _note_told(draft, member, queue, entry.identity, Told(epoch, position, "progress"))
        return
    value = draft.state.queues.get(queue) or unknown_queue(draft.state)
    if knows_nothing(draft.state):
        value = of_newest(value, epoch)
    if epoch > value.void and is_doubtful(value, position):
        draft.set_queue(queue, doubt_in_barrier(value, member, epoch, position))
        return
    draft.set_queue(queue, credit(value, epoch, position, "progress"))


def _note_told(
    draft: Draft, member: MemberKey, queue: MessageQueue, identity: str, told: Told
) -> None:
    """Remember what is told of a life of a queue; put aside what cannot be believed yet.

    Of a life the greatest position alone is kept: one that nobody can have reached would hide those
    that were.
    """
    value = draft.state.queues.get(queue)
    if (
        value is not None
        and value.base is not None
        and _is_of_its_life(draft, queue, identity)
        and is_doubtful(value, told.position)
    ):
        draft.set_queue(queue, doubt_in_barrier(value, member, told.epoch, told.position))
        told = told._replace(position=value.base)
    note_told(draft, queue, identity, told)


def _is_of_its_life(draft: Draft, queue: MessageQueue, identity: str) -> bool:
    """Tell whether a life is the one that is known of a queue."""
    value = draft.state.queues.get(queue)
    if value is None:
        return False
    return identity == (draft.state.identity_of(queue.topic) or value.identity)


def _may_keep(draft: Draft, queue: MessageQueue, identity: str | None) -> bool:
    """Tell whether a queue, or a life of one, may be remembered that the state does not know.

    Anybody may invent some for as long as the barrier is held open. What is claimed is kept.
    """
    queues, barrier = draft.state.queues, draft.state.barrier
    if identity is None or barrier is None:
        return queue in queues or len(queues) < remembered_max(draft)
    known = (queue, identity) in barrier.told or _is_of_its_life(draft, queue, identity)
    return known or len(barrier.told) < remembered_max(draft)


def is_impossible(draft: Draft, epoch: Epoch) -> bool:
    """Tell whether an epoch is of a generation that is not there yet, or not granted yet.

    One such word must not outrank everything that is true (rule H5: epochs only grow).
    """
    generation = draft.engine.generation
    return epoch.generation > generation or (
        epoch.generation == generation and epoch > draft.state.epoch
    )


def knows_nothing(state: GroupState) -> bool:
    """Tell whether the group recovers without any state of before."""
    return state.recovering and not state.generation


def unknown_queue(state: GroupState) -> QueueState:
    """Return a queue that the state does not know.

    What it granted of it itself, it has forgotten since: the topic was made anew, perhaps.
    """
    return QueueState(late=True, void=state.epoch)
