"""The history of a queue as people read it: the answer first, then why, then earlier owners."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from fairlead.cli.render.tables import folded
from fairlead.counts import counted
from fairlead.durations import duration_words
from fairlead.history.cause_words import position_words
from fairlead.history.formatting import (
    at_words,
    clock_words,
    epoch_words,
    queue_words,
    time_words,
)

if TYPE_CHECKING:
    from fairlead.core.model import MessageQueue
    from fairlead.history.grant_history import GrantSpan
    from fairlead.history.history_model import (
        ExplainedCause,
        ExplainedDecision,
        ExplainedGrant,
        Handover,
    )
    from fairlead.history.ownerless import LostQueue
    from fairlead.history.queue_story import QueueStory
    from fairlead.wire.decision_records import DecisionRecord

__all__ = ["story_text"]

_CAUSES_MAX: Final = 8
_STATUS: Final = {
    "verified": "verified",
    "retention": "record gone (retention)",
    "compacted": "record gone (compacted)",
    "disagrees": "DOES NOT AGREE",
    "no_record": "no record",
}


def story_text(story: "QueueStory") -> str:
    """Return the history of a queue as text, without a line feed at its end."""
    lines = [f"{queue_words(story.queue)} of group {story.group}", *_answer(story)]
    if story.loss is not None:
        lines += ["", *_loss(story.loss, story.queue)]
    for number, owner in enumerate(story.grants):
        is_newest = number == 0 and story.loss is None
        lines += ["", *_grant(owner, is_newest=is_newest)]
    if story.stand.owner is not None and story.tenure is None:
        lines += ["", "  The decision that granted it is not in the log any more."]
    if story.earlier > 0:
        owners = (
            "1 earlier owner is" if story.earlier == 1 else f"{story.earlier} earlier owners are"
        )
        lines += ["", f"  {owners} known: --depth or --all shows them."]
    return "\n".join(folded(line) for line in lines)


def _answer(story: "QueueStory") -> Iterator[str]:
    stand, place = story.stand, story.stand.place
    if stand.owner is None or stand.hold is None:
        yield _field("owner", "nobody")
        yield from _beside(story)
        yield _field("because", story.nobody_because)
        yield from _nobody_since(story)
    else:
        waits = [each.client_id for one in stand.gated for each in one.waits_for]
        state = f"gated: it waits for {', '.join(waits)}" if waits else stand.state
        yield _field("owner", f"{stand.owner.client_id} ({state})")
        yield from _beside(story)
        epoch = f", epoch {epoch_words(stand.hold.epoch)}"
        yield _field("since", _since(story, stand.owner_since_ms) + epoch)
        if story.silence is not None:
            yield _field("silent", story.silence.words())
        yield from _began(story)
    if place.position is not None:
        yield _field("position", f"offset {place.position.offset:,} ({place.told_by})")


def _beside(story: "QueueStory") -> Iterator[str]:
    """Yield who has a share in the queue beside its owner."""
    for each in story.stand.draining:
        yield _field("holder", f"{each.member.client_id} (draining: it has not released it yet)")
    for each in story.stand.held:
        if each.member != story.stand.owner:
            yield _field("holder", f"{each.member.client_id} (held: an overlap)")


def _began(story: "QueueStory") -> Iterator[str]:
    """Yield where the owner began, and who was not waited for then."""
    grant = None if story.tenure is None else story.tenure.grant
    if grant is not None and grant.position is not None:
        position, says = grant.position, position_words(grant.why)
        text = f"offset {position.offset:,} ({grant.why}: {says})"
        if position.reset:
            text += f", reset by {at_words(*story.orders_at, position.reset - 1)}"
        yield _field("from", text)
    if story.stand.shared_unsafely:
        names = ", ".join(each.member.client_id for each in story.stand.draining)
        yield _field("unsafe", f"{names} was not waited for, and may be working on it too")
    elif story.stand.unsafe:
        yield _field("unsafe", "somebody else may have been working on it when it began")


def _since(story: "QueueStory", since_ms: int | None) -> str:
    if since_ms is None:
        return "not known"
    return f"{time_words(since_ms)} ({duration_words(max(story.as_of_ms - since_ms, 0))} ago)"


def _nobody_since(story: "QueueStory") -> Iterator[str]:
    """Yield since when nobody has the queue, and where it waits."""
    if story.loss is None or story.stand.draining:
        return
    yield _field("since", _since(story, story.loss.ended_ms))
    released = story.loss.waits_at
    if released is not None:
        at = at_words(*released.place)
        yield _field("waits", f"at offset {released.offset:,}: {released.client_id} stopped ({at})")


def _field(name: str, text: str | None) -> str:
    return f"  {name:<8} {text}"


def _grant(owner: "ExplainedGrant", *, is_newest: bool) -> Iterator[str]:
    grant, given = owner.grant, owner.grant.given
    if given is None:
        before = "" if is_newest else "before: "
        yield f"  {before}{grant.client_id}, epoch {epoch_words(grant.epoch)}"
        yield "    the decision that granted it was not read, or is not in the log any more"
        return
    if is_newest:
        yield f"  why {grant.client_id}"
    else:
        until = grant.taken_by
        lasted_ms = 0 if until is None else until.written_ms - given.written_ms
        span = "" if until is None else f", for {duration_words(lasted_ms)}"
        at, epoch = time_words(given.written_ms), epoch_words(grant.epoch)
        yield f"  before: {grant.client_id} from {at}{span}, epoch {epoch}"
        if grant.position is not None:
            offset = f"{grant.position.offset:,}"
            yield f"    it began at offset {offset}: {position_words(grant.why)}"
    if owner.given is not None:
        yield f"    {_decision(given)}"
        yield from _causes(owner.given, grant.queue)
    for led_by in reversed(owner.led_by):
        yield f"    {_decision(led_by.audit, before=True)}"
        yield from _causes(led_by, grant.queue)
    if owner.handover is not None:
        yield from _handover(owner.handover, grant)


def _causes(decision: "ExplainedDecision", queue: "MessageQueue") -> Iterator[str]:
    """Yield the causes of a decision; of many orders such as resets only that of the queue."""
    own = {each.cause["kind"] for each in decision.causes if each.cause.get("queue") == [*queue]}
    ours = [
        each
        for each in decision.causes
        if each.cause["kind"] not in own
        or each.cause.get("queue") in (None, [*queue])
        or each.check.status == "disagrees"
    ]
    for cause in ours[:_CAUSES_MAX]:
        yield from _cause(cause)
    left, others = len(ours[_CAUSES_MAX:]), len(decision.causes) - len(ours)
    parts = [
        f"{left} more {'cause' if left == 1 else 'causes'}" if left else "",
        f"{others} of other queues" if others else "",
    ]
    if left or others:
        yield f"      and {', '.join(part for part in parts if part)}; -o json has them all"


def _decision(audit: "DecisionRecord", *, before: bool = False) -> str:
    place = at_words(audit.row.topic, audit.row.partition, audit.row.offset)
    moved = len({move.queue for move in audit.moves})
    at = time_words(audit.written_ms)
    if before:
        return f"and before it, at {at}, a decision that moved nothing yet ({place}), because"
    return (
        f"decision {epoch_words(audit.epoch)} at {at} under {audit.strategy} "
        f"touched {counted(moved, 'queue')} ({place}), because"
    )


def _cause(cause: "ExplainedCause") -> Iterator[str]:
    yield f"      {cause.says}"
    at, check = cause.cause.get("at"), cause.check
    place = "" if at is None else f" {at_words(*at)}"
    when = "" if check.append_ms is None else f", appended {clock_words(check.append_ms)}"
    if cause.check.status == "no_record":
        yield f"        {check.text}"
    else:
        yield f"        {_STATUS[check.status]}:{place}: {check.text}{when}"


def _loss(loss: "LostQueue", queue: "MessageQueue") -> Iterator[str]:
    goes_on = loss.given_up.before.share is not None
    yield f"  why {loss.client_id} {'gives it up' if goes_on else 'lost it'}"
    if loss.decision is None:
        yield "    no decision that was read took it"
    else:
        yield f"    {_decision(loss.decision.audit)}"
        yield from _causes(loss.decision, queue)
    yield from _in_order(_given_up(loss.given_up))


class _Event(NamedTuple):
    """Something that happened to a grant, or has not.

    ``at_ms``: its place among the others; None: behind all. ``shown``: the time is that of the
    event itself.
    """

    at_ms: int | None
    words: str
    shown: bool = True


def _in_order(events: Iterable[_Event]) -> Iterator[str]:
    """Yield events in the order of time, a line each."""
    for each in sorted(events, key=lambda event: (event.at_ms is None, event.at_ms or 0)):
        when = clock_words(each.at_ms) if each.at_ms is not None and each.shown else ""
        yield f"      {when:12}  {each.words}"


def _given_up(handover: "Handover") -> Iterator[_Event]:
    before, released = handover.before, handover.released
    if handover.dropped_ms is not None:
        yield _Event(handover.dropped_ms, f"the engine told {before.client_id} to stop")
    if released is not None:
        what = (
            "released it before its start"
            if released.offset is None
            else f"released it at offset {released.offset:,}"
        )
        words = f"{released.client_id} {what} ({at_words(*released.place)})"
        yield _Event(released.append_ms, words)
    elif handover.how is not None:
        ended_ms = None if before.ended is None else before.ended.written_ms
        yield _Event(ended_ms, f"{before.client_id}: {handover.how}", shown=False)
    elif before.share == "draining":
        yield _Event(None, f"{before.client_id} has not released it yet")
    else:
        yield _Event(None, f"{before.client_id} has not been told to stop")


def _handover(handover: "Handover", grant: "GrantSpan") -> Iterator[str]:
    before, client_id, opened = handover.before, grant.client_id, grant.opened is not None
    yield f"    handover from {before.client_id} (epoch {epoch_words(before.epoch)})"
    let_in = _let_in(handover, client_id, opened=opened)
    yield from _in_order((*_given_up(handover), let_in))
    overlap_ms = -(handover.gap_ms or 0)
    if overlap_ms > 0:
        span = duration_words(overlap_ms)
        yield f"      {'':12}  for {span} both held it: {client_id} did not wait for that release"


def _let_in(handover: "Handover", client_id: str, *, opened: bool) -> _Event:
    """Return how the successor was let in; ``opened``: a later decision shows that it began."""
    granted_ms, gap_ms = handover.granted_ms, handover.gap_ms
    if handover.by_release:
        if granted_ms is None:
            began = "began" if opened else "may begin"
            beside = "without an engine" if opened else "and no decision has let it in yet"
            return _Event(None, f"{client_id} {began} by that release, {beside}")
        words = f"granted to {client_id}, which had already begun by that release"
        return _Event(granted_ms, words)
    if granted_ms is None:
        return _Event(None, f"{client_id} still waits")
    after = gap_ms is not None and gap_ms >= 0
    gap = f", {duration_words(gap_ms or 0)} after the release" if after else ""
    return _Event(granted_ms, f"granted to {client_id}{gap}")
