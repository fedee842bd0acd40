"""How a group that stands by becomes the engine's: the freeze, its answers, and the one decision.

While the group is frozen each client works on with what it holds and takes nothing. So when each
has told what that is, and the data plane still lists nobody else, all is known of who works on
what. The decision grants it as it lies, and nothing else: a client works on its frozen queues until
it reads of its grants, and nobody may meet it there. The group moves queues only when each client
has said that it knows (rule H32, ADR 0245).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.footing.attachment import Lack, lack_of, lack_of_looks, sharing
from fairlead.core.footing.transitions import Event, move, standing_of
from fairlead.core.handover.chain import aim, based
from fairlead.core.handover.forced_handover import may_be_forced
from fairlead.core.model import MemberKey, MessageQueue, Position
from fairlead.core.name_list import listed
from fairlead.core.records import Arrival, Heartbeat
from fairlead.core.standby_records import Former, FormerQueue
from fairlead.core.standing import Footing, HeldFrozen, Said, Standing
from fairlead.core.state import QueueState
from fairlead.core.targets.compute import shared_queues

__all__ = [
    "FORMER",
    "FREEZE_MAX_MS",
    "RETRY_MS",
    "apply_former",
    "begin_when_attached",
    "confirm_when_known",
    "note_said",
    "take_when_told",
    "waited_for",
]

FORMER: Final = "former"
"""Why a queue starts where it does: so far its owner had come when the group was taken over."""

FREEZE_MAX_MS: Final = 20_000
"""So long the engine waits for all answers, and for two looks after them."""

RETRY_MS: Final = 10_000
"""So long after a failure no other take-over begins."""


def note_said(draft: Draft, beat: Heartbeat) -> None:
    """Keep what an accepted heartbeat says of its member that stands by, or reads RocketMQ."""
    state = draft.state
    alive = state.liveness.get(beat.member)
    if beat.profile.rocketmq_id is None or alive is None:
        return
    standing = standing_of(draft)
    if alive.sequence == beat.sequence and beat.standby is not None:
        before = standing.said.get(beat.member)
        works = beat.standby == "own" and beat.applied is not None
        knows = works and beat.applied is not None and beat.applied >= standing.epoch
        confirmed = knows and standing.footing is Footing.CONFIRMING
        confirmed = confirmed or (before is not None and before.confirmed)
        told = Said(beat.standby, beat.generation, confirmed)
        if told != before:
            standing = replace(standing, said={**standing.said, beat.member: told})
    state.standing = standing


def apply_former(draft: Draft, arrival: Arrival, told: Former) -> None:
    """Keep one part of what a frozen member holds; an answer to another freeze changes nothing."""
    standing = draft.state.standing
    member = draft.state.members.get(told.member)
    if (
        standing is None
        or standing.footing is not Footing.FREEZING
        or told.epoch != standing.epoch
        or member is None
        or draft.state.barrier is not None
    ):
        draft.counts["former", "stale"] += 1
        return
    held = standing.formers.get(told.member)
    if held is not None and held.complete:
        draft.counts["former", "duplicate"] += 1
        return
    if held is None or held.parts != told.parts:
        held = HeldFrozen(told.parts, {})
    held = replace(held, read={**held.read, told.part: told.queues})
    draft.state.standing = replace(standing, formers={**standing.formers, told.member: held})
    draft.counts["former", "applied"] += 1
    if held.complete:
        # A look from before this answer does not show who came until then.
        draft.looks_void = True
        draft.because("former_told", client_id=told.member.client_id, at=arrival.source)


def begin_when_attached(draft: Draft) -> None:
    """Freeze a group that lacks nothing any more."""
    if draft.moment.clock_ms >= standing_of(draft).retry_ms and lack_of(draft) is None:
        move(draft, Event.BEGINS, Footing.FREEZING)


def take_when_told(draft: Draft, *, changed: bool) -> None:
    """Take a frozen group over when everything is known, or give up; ``changed``: its members."""
    standing = standing_of(draft)
    because = _failure(draft, standing, changed=changed)
    if because is not None:
        failed = move(draft, Event.FAILED, Footing.FOLLOWING, because)
        retry_ms = draft.moment.clock_ms + RETRY_MS
        draft.state.standing = replace(failed, retry_ms=retry_ms, because=because)
    elif not _unanswered(draft, standing) and lack_of_looks(draft) is None:
        _take(draft, standing)


def _unanswered(draft: Draft, standing: Standing) -> list[str]:
    """Return the clients that have not told, with all parts, what they hold."""
    return [
        member.key.client_id
        for member in sharing(draft.state)
        if (held := standing.formers.get(member.key)) is None or not held.complete
    ]


def _failure(draft: Draft, standing: Standing, *, changed: bool) -> str | None:
    """Return why this take-over fails; None: it does not, so far."""
    if changed:
        return "a member came, left or changed"
    lack = lack_of(draft)
    if lack is not None and lack.details[0] not in _PASSING:
        return lack.words
    wrong = _wrongly_held(draft, standing)
    if wrong is not None:
        return wrong
    if draft.moment.clock_ms - standing.since_ms < FREEZE_MAX_MS:
        return None
    waiting = _unanswered(draft, standing)
    if waiting:
        return f"{listed(waiting)} did not tell what it holds within {FREEZE_MAX_MS // 1_000} s"
    still = lack or Lack((), "no look has shown that")
    return f"not sure of all members within {FREEZE_MAX_MS // 1_000} s: {still.words}"


_PASSING: Final = frozenset(("no look", "nobody", "brokers", "again"))
"""What a frozen group may lack for a while: none of it says that somebody else is there."""


def _wrongly_held(draft: Draft, standing: Standing) -> str | None:
    """Return which held queue forbids the take-over: held twice, or in no route; None: none."""
    known = {queue for held in shared_queues(draft.state).values() for queue in held}
    holders: dict[MessageQueue, str] = {}
    for key, entry in _held(standing):
        if entry.queue not in known:
            return f"{key.client_id} holds {entry.queue}, which no route of the group's topics has"
        other = holders.setdefault(entry.queue, key.client_id)
        if other != key.client_id:
            return f"{other} and {key.client_id} both hold {entry.queue}"
    return None


def _held(standing: Standing) -> Iterator[tuple[MemberKey, FormerQueue]]:
    for key, held in sorted(standing.formers.items()):
        yield from ((key, entry) for entry in held.queues)


def _take(draft: Draft, standing: Standing) -> None:
    """Grant each held queue to its holder from its position, and forget the start of all others."""
    state, clock_ms, cap = draft.state, draft.moment.clock_ms, draft.engine.chain_cap
    move(draft, Event.TAKEN, Footing.CONFIRMING)
    named = {entry.queue: (key, entry) for key, entry in _held(standing)}
    shared = [queue for held in shared_queues(state).values() for queue in held]
    state.targets = {}
    for queue in sorted({*shared, *state.queues}):
        value = state.queues.get(queue, QueueState())
        if value.has_pending_reset:
            # It is followed from a stop: who holds the queue finds no grant, and stops.
            continue
        # The data plane has moved its positions meanwhile, perhaps backwards.
        fresh = replace(value, base=None, why="", doubts=(), end=None)
        key, entry = named.get(queue, (None, None))
        start = None if entry is None else _start(draft, value, entry)
        if key is None or start is None:
            draft.set_queue(queue, fresh)
            continue
        aimed = aim(based(fresh, start, FORMER), key, standing_of(draft).epoch, cap, clock_ms)
        assert aimed.add is not None, "a queue that nobody has a grant of, with a known start"
        draft.set_queue(queue, aimed.queue)
        draft.command_add(queue, aimed.add, aimed.queue)
        state.targets[queue] = key.client_id


def _start(draft: Draft, value: QueueState, entry: FormerQueue) -> Position | None:
    """Return where a holder has come to; None: it does not know, or in another life of the topic.

    It follows the newest reset that the engine knows there, so an old one never counts again; a
    client could invent one.
    """
    present = draft.state.identity_of(entry.queue.topic)
    if entry.position is None or entry.identity not in (None, present):
        return None
    reset = 0 if value.base is None else value.base.reset
    return Position(reset, entry.position.offset)


def confirm_when_known(draft: Draft) -> None:
    """End a take-over when each client works under its grants, and nobody by itself any more."""
    if not waited_for(draft):
        move(draft, Event.DONE, Footing.OWN)


def waited_for(draft: Draft) -> list[str]:
    """Return the clients that have not said yet that they work under their grants.

    One that heartbeats, and says nothing for as long as it may take to stop, is passed over as at a
    barrier, where a rule says so (rule H27): one client would hold its group for ever.
    """
    standing, limit_ms = standing_of(draft), draft.rules.drain_deadline_ms
    late = limit_ms is not None and draft.moment.clock_ms - standing.since_ms > limit_ms
    waiting = []
    for member in sharing(draft.state):
        if late and may_be_forced(draft, member.key):
            continue
        said = standing.said.get(member.key)
        if member.profile.follows is None:
            continue
        told = said is not None and (said.confirmed or said.state in ("own", "wait"))
        if not told or (member.key in standing.formers and said is not None and not said.confirmed):
            waiting.append(member.key.client_id)
    return waiting
