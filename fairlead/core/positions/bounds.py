"""Whether a position can be believed: it lies within what is known of its queue (rule H30).

A position beyond the end of its queue was reached by nobody: whoever starts there passes messages
over. What the engine knows of ends is old, and an honest member may well be ahead of it. So a
position beyond the known end is not refused at once. It is put aside, as if its record had not been
read yet, and a bridge is asked. Reading a record late is always safe, and the successor of a direct
handover does not wait for the engine.

The second answer of a bridge counts against a position, not the first: the first may have been
looked up before the member got so far. A bridge answers one request after the other.

ADR 0161 gives the reasons.
"""

from dataclasses import replace
from typing import Final

from fairlead.core.draft import GATE, Draft
from fairlead.core.handover.chain import Resolved, based, credit, progress, release
from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.outputs import Cause, Rejection
from fairlead.core.records import Arrival, OffsetsKnown, QueueProgress, Release
from fairlead.core.membership.spoken_for import note_unasked
from fairlead.core.state import RESET, Doubt, DoubtKind, Grant, QueueState, Spoken

__all__ = [
    "OUT_OF_BOUNDS",
    "believe_end",
    "counts_unknown_reset",
    "doubt",
    "doubt_adopted",
    "doubt_in_barrier",
    "is_below_its_base",
    "is_beyond",
    "is_doubtful",
    "judge_by_answers",
    "note_bounds",
    "refuse_below_base",
    "refuse_reset",
    "settle_doubts",
]

OUT_OF_BOUNDS: Final = "position_out_of_bounds"
"""The reason, the alarm and the cause of a position that nobody can have reached."""

LEAP: Final = 1_000_000
"""An end that a member tells this far beyond the known one is not believed before a bridge is
asked: a queue does not grow so fast between two reports, a compacted one perhaps."""

DOUBTS_MAX: Final = 8
"""So many words about one queue are put aside at once; the oldest gives way, and is refused."""

_REMEDY: Final = (
    "look for what wrote it: a client's bug, or somebody who writes in another client's name"
)


def is_beyond(value: QueueState, position: Position) -> bool:
    """Tell whether a position lies beyond everything that is known of the queue."""
    known = [end for end in (value.end, value.base and value.base.offset) if end is not None]
    return bool(known) and position.offset > max(known)


def counts_unknown_reset(value: QueueState, position: Position) -> bool:
    """Tell whether a position counts a reset that nobody has asked the engine for.

    Positions come from grants, so nobody knows of a reset before the engine does. It would stand
    above everything that is honestly reached, and every reset that an operator asks for.
    """
    known = [each.reset for each in (value.base, value.asked) if each is not None]
    return bool(known) and position.reset > max(known)


def refuse_reset(
    draft: Draft, arrival: Arrival, word: Release | QueueProgress, member: MemberKey
) -> None:
    """Refuse the position of a word that counts such a reset; the rest of the word is believed."""
    value = draft.state.queues[word.queue]
    assert value.base is not None or value.asked is not None
    assert word.position is not None
    _tell(draft, arrival.source, member, word.queue, _unknown_reset(word.position))


def _unknown_reset(position: Position) -> str:
    return f"the reset {position.reset} is none that this group was asked for"


def _against(value: QueueState, position: Position) -> str:
    if counts_unknown_reset(value, position):
        return _unknown_reset(position)
    return f"offset {position.offset} is beyond the end of the queue, {value.end}"


def believe_end(value: QueueState, entry: QueueProgress) -> QueueState:
    """Return the queue with the end that its holder's fetch saw, unless that is a leap."""
    known = max(value.end or 0, 0 if value.base is None else value.base.offset)
    if entry.end is None or entry.end <= (value.end or 0) or entry.end > known + LEAP:
        return value
    return replace(value, end=entry.end)


def doubt(draft: Draft, arrival: Arrival, word: Release | QueueProgress, member: MemberKey) -> None:
    """Put a word aside whose position cannot be believed yet, and ask for the bounds."""
    value = draft.state.queues[word.queue]
    assert word.position is not None
    kind: DoubtKind = "release" if isinstance(word, Release) else "progress"
    # Which of two topics is read further depends on how batches are cut: an answer that was
    # appended behind this word counts against it, although it was read before.
    answered_ms = max((each.contradicted_ms for each in value.doubts), default=0)
    against_ms = answered_ms if answered_ms >= arrival.source.append_ms else 0
    fresh = Doubt(member, word.epoch, word.position, kind, arrival.source, against_ms)
    same = [
        each
        for each in value.doubts
        if (each.member, each.epoch, each.kind) == (member, word.epoch, kind)
    ]
    if any(each.position == word.position for each in same):
        return
    # A member's progress tells the newest place only; of two releases of one grant both are judged.
    others = [each for each in value.doubts if kind == "release" or each not in same]
    kept = (*others, fresh)
    draft.set_queue(word.queue, replace(value, doubts=kept[-DOUBTS_MAX:]))
    if not value.doubts:
        draft.state.requests.pop(("offsets", word.queue.topic), None)
    for each in kept[:-DOUBTS_MAX]:
        _apply(draft, word.queue, each, believed=False)


def is_below_its_base(draft: Draft, word: Release) -> bool:
    """Tell whether a release lies below what its own grant has told, which no honest one does.

    Only where nobody else can have raised the base: the grant is the oldest, and of this driver.
    """
    value = draft.state.queues.get(word.queue)
    if value is None or value.base is None or word.position is None or value.overtaken:
        return False
    if draft.rules.mode == "eager" or not value.chain or word.epoch <= value.void:
        return False
    oldest = value.chain[0]
    return (
        (oldest.member, oldest.epoch) == (word.member, word.epoch)
        and word.epoch.generation == draft.state.generation
        and word.position.reset == value.base.reset
        and word.position.offset < value.base.offset
    )


def refuse_below_base(draft: Draft, arrival: Arrival, word: Release) -> None:
    """Refuse the position of a release; that its sender has stopped is believed."""
    base = draft.state.queues[word.queue].base
    assert base is not None
    assert word.position is not None
    detail = f"offset {word.position.offset} is below {base.offset}, which the same grant has told"
    _tell(draft, arrival.source, word.member, word.queue, detail)


def note_bounds(draft: Draft, arrival: Arrival, known: OffsetsKnown) -> None:
    """Take in where queues end, of the present life of their topic."""
    for entry in known.queues:
        value = draft.state.queues.get(entry.queue)
        if value is None:
            continue
        end = max(value.end or 0, entry.max_offset)
        if end != value.end:
            draft.set_queue(entry.queue, replace(value, end=end))
        draft.answers.append((entry.queue, arrival.source.append_ms))
        settle_doubts(draft, entry.queue)


def judge_by_answers(draft: Draft) -> None:
    """Judge what was put aside by the answers of this step, when all of its words are known.

    Offsets are applied before releases and heartbeats: which of them one batch reads must not
    matter.
    """
    for queue, answered_ms in draft.answers:
        value = draft.state.queues.get(queue)
        if value is None:
            continue
        if value.doubts and draft.state.barrier is None:
            # A decision, so that a replay reads it where it was read: of an answer that is older
            # than these words nothing is kept, and it may be younger than those to come.
            draft.because("offsets_known", topic=queue.topic)
        settle_doubts(draft, queue, answered_ms)


def is_doubtful(value: QueueState, position: Position) -> bool:
    """Tell whether a position that is told in a barrier is judged after it.

    Control may not be read so far, so a reset may be unknown still. Without a known end everything
    counts.
    """
    if value.base is None or value.end is None:
        return False
    return is_beyond(value, position) or counts_unknown_reset(value, position)


def doubt_in_barrier(
    value: QueueState, member: MemberKey, epoch: Epoch, position: Position
) -> QueueState:
    """Return a queue with a position put aside that was told in a barrier and is doubtful.

    In which order positions are told decides nothing, nor how often one is. Of too many, those
    nearest to what is known are kept: a position that nobody reached lies far beyond.
    """
    word = Doubt(member, epoch, position, "claim", None)
    claims = {each[:3]: each for each in value.doubts if each.kind == "claim"}
    claims.setdefault(word[:3], word)
    others = [each for each in value.doubts if each.kind != "claim"]
    nearest = sorted(claims.values(), key=_by_position)[: DOUBTS_MAX - len(others)]
    return replace(value, doubts=(*others, *nearest))


def _by_position(word: Doubt) -> tuple[Position, MemberKey, Epoch]:
    return word.position, word.member, word.epoch


def doubt_adopted(before: QueueState, adopted: QueueState) -> QueueState:
    """Return a queue at the end of a barrier, without a base that cannot be believed yet.

    Its owner goes on; if it has none, it waits until a bridge tells the bounds. ``before`` is what
    the state knew.
    """
    old, new = before.base, adopted.base
    if old is None or new is None or adopted.why == RESET:
        return adopted
    followed = before.set_aside is not None and new.reset == before.set_aside[1].reset
    if followed or not is_doubtful(before, new):
        return adopted
    holder = adopted.chain[0] if adopted.chain else Grant(MemberKey("", ""), adopted.void)
    return doubt_in_barrier(
        replace(adopted, base=old, why=before.why), holder.member, holder.epoch, new
    )


def settle_doubts(draft: Draft, queue: MessageQueue, answered_ms: int | None = None) -> None:
    """Apply what can be believed by now, and refuse what a bridge has contradicted twice.

    ``answered_ms``: when the answer was appended by which a bridge has just told the bounds. One
    that is older than a word says nothing against it.
    """
    value = draft.state.queues[queue]
    if not value.doubts or draft.state.barrier is not None:
        return
    kept: list[Doubt] = []
    judged: list[tuple[Doubt, bool]] = []
    for each in value.doubts:
        if counts_unknown_reset(value, each.position):
            judged.append((each, False))
        elif value.end is not None and each.position.offset <= value.end:
            judged.append((each, True))
        elif answered_ms is None or _is_younger(each, answered_ms):
            kept.append(each)
        elif not each.contradicted_ms:
            kept.append(each._replace(contradicted_ms=answered_ms))
        else:
            judged.append((each, False))
    draft.set_queue(queue, replace(value, doubts=tuple(kept)))
    for each, believed in judged:
        _apply(draft, queue, each, believed=believed)


def _is_younger(word: Doubt, answered_ms: int) -> bool:
    return word.source is not None and answered_ms < word.source.append_ms


def _claimed(value: QueueState, position: Position) -> QueueState:
    if value.base is None:
        # A reset may have been kept beside it.
        return based(value, position, "progress")
    return replace(value, base=position, why="progress") if position > value.base else value


def _apply(draft: Draft, queue: MessageQueue, word: Doubt, *, believed: bool) -> None:
    value = draft.state.queues[queue]
    if not believed:
        _tell(draft, word.source, word.member, queue, _against(value, word.position))
    if word.kind == "claim":
        if believed:
            draft.set_queue(queue, _claimed(value, word.position))
        draft.because("offsets_known", topic=queue.topic)
        return
    position = word.position if believed or value.base is None else value.base
    ended: Resolved | None
    if word.kind == "release":
        ended = release(value, word.member, word.epoch, position)
        outcome = "applied" if believed else "rejected"
        draft.counts["release", outcome if ended else "stale"] += 1
    else:
        ended = progress(value, word.member, word.epoch, position)
    if not value.chain:
        # The queue has waited for this: whoever is to have it can be granted it now.
        draft.because("offsets_known", topic=queue.topic)
    if ended is None:
        # Its grant ended while it waited, by a lapse or by a successor's progress.
        if believed:
            draft.set_queue(queue, credit(value, word.epoch, word.position, word.kind))
        return
    draft.set_queue(queue, ended.queue)
    draft.resolved(queue, ended.grants, ended.queue.base)
    if word.kind == "progress":
        draft.counts[GATE, "by_client"] += bool(ended.grants)
        return
    moment = draft.moment
    for grant in ended.grants:
        if (grant.member, grant.epoch) == (word.member, word.epoch):
            note_unasked(draft, grant, Spoken(moment.clock_ms, moment.append_ms))
    draft.because("released", client_id=word.member.client_id, at=word.source)
    if ended.granted is not None:
        draft.shortened[queue] = None


def _tell(
    draft: Draft, source: Source | None, member: MemberKey, queue: MessageQueue, detail: str
) -> None:
    draft.alarms.add(OUT_OF_BOUNDS)
    draft.causes[OUT_OF_BOUNDS, queue, source] = Cause(
        OUT_OF_BOUNDS, member.client_id or None, at=source, queue=queue, because=detail
    )
    if source is not None:
        draft.rejections.append(Rejection(source, OUT_OF_BOUNDS, "position", detail, _REMEDY))
