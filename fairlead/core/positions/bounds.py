"""Whether the engine believes a position: it must lie within the bounds of its queue (rule H30).

Nobody can have reached a position beyond the end of its queue: a member that starts there skips
messages. But the end that the engine knows is old, and an honest member may be ahead of it. So the
engine does not refuse a position beyond the known end at once. It puts the report aside, as if it
had not read it yet, and asks a bridge. Reading a record late is always safe, and the successor of a
direct handover does not wait for the engine.

Only the second answer of a bridge counts against a position: the bridge may have looked up the
first one before the member got so far. A bridge answers one request after the other.

ADR 0161 gives the reasons.
"""

from dataclasses import replace
from typing import Final

from fairlead.core.draft import GATE, Draft
from fairlead.core.handover.chain import Resolved, based, credit, progress, release
from fairlead.core.handover.resolution import apply_resolution
from fairlead.core.membership.spoken_for import note_unasked
from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.outputs import Cause, Rejection
from fairlead.core.records import Arrival, OffsetsKnown, QueueProgress, Release
from fairlead.core.state import RESET, Doubt, DoubtKind, Grant, QueueState, Spoken

__all__ = [
    "OUT_OF_BOUNDS",
    "believe_end",
    "counts_unknown_reset",
    "doubt",
    "doubt_adopted",
    "doubt_in_barrier",
    "is_below_base",
    "is_beyond",
    "is_doubtful",
    "judge_doubts",
    "note_bounds",
    "refuse_below_base",
    "refuse_reset",
    "settle_doubts",
]

OUT_OF_BOUNDS: Final = "position_out_of_bounds"
"""The reason, the alarm and the cause of a position that nobody can have reached."""

LEAP: Final = 1_000_000
"""The engine believes no reported end this far beyond the known one before it asks a bridge.

A queue does not grow so fast between two reports, a compacted one perhaps.
"""

DOUBTS_MAX: Final = 8
"""So many reports about one queue may wait at once; the oldest gives way, and is refused."""

_REMEDY: Final = (
    "look for what wrote it: a client's bug, or somebody who writes in another client's name"
)


def is_beyond(value: QueueState, position: Position) -> bool:
    """Tell whether a position lies beyond everything that the engine knows of the queue."""
    known = [end for end in (value.end, value.base and value.base.offset) if end is not None]
    return bool(known) and position.offset > max(known)


def counts_unknown_reset(value: QueueState, position: Position) -> bool:
    """Tell whether a position follows a reset that the engine does not know.

    Positions come from grants, so no member knows a reset before the engine does. An invented one
    would outrank every honest position, and every reset that an operator asks for.
    """
    known = [each.reset for each in (value.base, value.asked) if each is not None]
    return bool(known) and position.reset > max(known)


def refuse_reset(
    draft: Draft, arrival: Arrival, word: Release | QueueProgress, member: MemberKey
) -> None:
    """Refuse the position of a report with an unknown reset; the rest of the report counts."""
    value = draft.state.queues[word.queue]
    assert value.base is not None or value.asked is not None
    assert word.position is not None
    _report(draft, arrival.source, member, word.queue, _unknown_reset(word.position))


def _unknown_reset(position: Position) -> str:
    return f"nobody has asked this group for the reset {position.reset}"


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
    """Put a report aside whose position the engine cannot believe yet, and ask for the bounds."""
    value = draft.state.queues[word.queue]
    assert word.position is not None
    kind: DoubtKind = "release" if isinstance(word, Release) else "progress"
    # The cut of batches decides which of two topics is read further: an answer that was appended
    # behind this report counts against it, although the engine read it before.
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
    # Of a member's progress only the newest counts; of two releases of one grant both are judged.
    others = [each for each in value.doubts if kind == "release" or each not in same]
    kept = (*others, fresh)
    draft.set_queue(word.queue, replace(value, doubts=kept[-DOUBTS_MAX:]))
    if not value.doubts:
        draft.state.requests.pop(("offsets", word.queue.topic), None)
    for each in kept[:-DOUBTS_MAX]:
        _apply(draft, word.queue, each, believed=False)


def is_below_base(draft: Draft, word: Release) -> bool:
    """Tell whether a release lies below what its own grant has reported, as no honest one does.

    That is certain only where nobody else can have raised the base: for the oldest grant of this
    driver.
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
    """Refuse the position of a release; that its sender has stopped counts."""
    base = draft.state.queues[word.queue].base
    assert base is not None
    assert word.position is not None
    detail = (
        f"offset {word.position.offset} is below {base.offset}, which the same grant has reported"
    )
    _report(draft, arrival.source, word.member, word.queue, detail)


def note_bounds(draft: Draft, arrival: Arrival, known: OffsetsKnown) -> None:
    """Note where queues end, under the present identity of their topic."""
    for entry in known.queues:
        value = draft.state.queues.get(entry.queue)
        if value is None:
            continue
        end = max(value.end or 0, entry.max_offset)
        if end != value.end:
            draft.set_queue(entry.queue, replace(value, end=end))
        draft.answers.append((entry.queue, arrival.source.append_ms))
        settle_doubts(draft, entry.queue)


def judge_doubts(draft: Draft) -> None:
    """Judge waiting reports by the answers of this step, when all of its reports are applied.

    Offsets are applied before releases and heartbeats, and the cut of batches must not matter.
    """
    for queue, answered_ms in draft.answers:
        value = draft.state.queues.get(queue)
        if value is None:
            continue
        if value.doubts and draft.state.barrier is None:
            # This makes it a decision, so that a replay reads the answer at the same place: the
            # state does not keep it, and it may be younger than reports to come.
            draft.because("offsets_known", topic=queue.topic)
        settle_doubts(draft, queue, answered_ms)


def is_doubtful(value: QueueState, position: Position) -> bool:
    """Tell whether a position that is reported in a barrier must wait for its end to be judged.

    The engine may not have read control so far, so it may not know a reset yet. Without a known end
    everything counts.
    """
    if value.base is None or value.end is None:
        return False
    return is_beyond(value, position) or counts_unknown_reset(value, position)


def doubt_in_barrier(
    value: QueueState, member: MemberKey, epoch: Epoch, position: Position
) -> QueueState:
    """Return a queue that puts a doubtful position of a barrier aside.

    The order of reports and their repetition decide nothing. Of too many, those nearest to the
    known bounds stay: a position that nobody reached lies far beyond.
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
    """Return a queue at the end of a barrier, without a base that the engine cannot believe yet.

    Its owner goes on; without one it waits until a bridge tells the bounds. ``before`` is what the
    state knew.
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
    """Apply the reports that are believed by now; refuse those that a bridge contradicted twice.

    ``answered_ms``: when the answer was appended that has just told the bounds. An answer that is
    older than a report says nothing against it.
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
        # A pending reset may stand beside it.
        return based(value, position, "progress")
    return replace(value, base=position, why="progress") if position > value.base else value


def _apply(draft: Draft, queue: MessageQueue, word: Doubt, *, believed: bool) -> None:
    value = draft.state.queues[queue]
    if not believed:
        _report(draft, word.source, word.member, queue, _against(value, word.position))
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
        # The queue has waited for this: its target can be granted it now.
        draft.because("offsets_known", topic=queue.topic)
    if ended is None:
        # Its grant has ended meanwhile, by a lapse or by a successor's progress.
        if believed:
            draft.set_queue(queue, credit(value, word.epoch, word.position, word.kind))
        return
    apply_resolution(draft, queue, ended)
    if word.kind == "progress":
        draft.counts[GATE, "by_client"] += bool(ended.grants)
        return
    moment = draft.moment
    for grant in ended.grants:
        if (grant.member, grant.epoch) == (word.member, word.epoch):
            note_unasked(draft, grant, Spoken(moment.clock_ms, moment.append_ms))
    draft.because("released", client_id=word.member.client_id, at=word.source)


def _report(
    draft: Draft, source: Source | None, member: MemberKey, queue: MessageQueue, detail: str
) -> None:
    draft.alarms.add(OUT_OF_BOUNDS)
    draft.causes[OUT_OF_BOUNDS, queue, source] = Cause(
        OUT_OF_BOUNDS, member.client_id or None, at=source, queue=queue, because=detail
    )
    if source is not None:
        draft.rejections.append(Rejection(source, OUT_OF_BOUNDS, "position", detail, _REMEDY))
