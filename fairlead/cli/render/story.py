"""The history of a queue as people read it: the answer first, then why, then earlier owners."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fairlead.cli.render.tables import folded
from fairlead.counts import counted
from fairlead.history.cause_words import position_words
from fairlead.history.formatting import (
    at_words,
    clock_words,
    epoch_words,
    queue_words,
    span_words,
    time_words,
)

if TYPE_CHECKING:
    from fairlead.core.model import MessageQueue
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
    if not story.grants and story.holder.owner is not None:
        lines += ["", "  The decision that granted it is not in the log any more."]
    if story.earlier > 0:
        owners = (
            "1 earlier owner is" if story.earlier == 1 else f"{story.earlier} earlier owners are"
        )
        lines += ["", f"  {owners} known: --depth or --all shows them."]
    return "\n".join(folded(line) for line in lines)


def _answer(story: "QueueStory") -> Iterator[str]:
    holder = story.holder
    if holder.owner is None:
        yield _field("owner", "nobody")
        yield _field("because", story.why_nobody)
        yield from _nobody_since(story)
        return
    state: str = holder.state
    match holder.state:
        case "draining":
            state = f"draining, goes to {holder.successor or 'nobody yet'}"
        case "gated":
            state = f"gated: it waits for {', '.join(holder.waits_for) or 'its owner before'}"
    yield _field("owner", f"{holder.owner} ({state})")
    epoch = "" if holder.epoch is None else f", epoch {epoch_words(holder.epoch)}"
    yield _field("since", _since(story, holder.since_ms) + epoch)
    if story.silence is not None:
        yield _field("silent", story.silence.words())
    for owner in story.grants:
        position = owner.grant.position
        if owner.grant.epoch == holder.epoch and position is not None:
            says = position_words(owner.grant.why)
            text = f"offset {position.offset:,} ({owner.grant.why}: {says})"
            if position.reset:
                text += f", reset by {at_words(*story.orders_at, position.reset - 1)}"
            yield _field("from", text)
            if owner.grant.unsafe:
                yield _field("unsafe", "somebody else may have been working on it when it began")


def _since(story: "QueueStory", since_ms: int | None) -> str:
    if since_ms is None:
        return "not known"
    return f"{time_words(since_ms)} ({span_words(story.as_of_ms - since_ms)} ago)"


def _nobody_since(story: "QueueStory") -> Iterator[str]:
    """Yield since when the queue has no owner, and where it waits."""
    if story.loss is None:
        return
    yield _field("since", _since(story, story.loss.since_ms))
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
        span = "" if until is None else f", for {span_words(until.written_ms - given.written_ms)}"
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
        yield from _handover(owner.handover, grant.client_id)


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
    yield f"  why {loss.client_id} lost it"
    if loss.decision is None:
        yield "    the decision that took it was not read"
        return
    yield f"    {_decision(loss.decision.audit)}"
    yield from _causes(loss.decision, queue)
    yield from _given_up(loss.given_up)


def _given_up(handover: "Handover") -> Iterator[str]:
    before = handover.before
    if handover.dropped_ms is not None:
        when = clock_words(handover.dropped_ms)
        yield f"      {when}  the engine told {before.client_id} to stop"
    released = handover.released
    if released is not None:
        what = (
            "released it before its start"
            if released.offset is None
            else f"released it at offset {released.offset:,}"
        )
        yield (
            f"      {clock_words(released.append_ms)}  {released.client_id} {what} "
            f"({at_words(*released.place)})"
        )
    elif handover.how is not None:
        yield f"      {'':12}  {before.client_id}: {handover.how}"


def _handover(handover: "Handover", client_id: str) -> Iterator[str]:
    before = handover.before
    yield f"    handover from {before.client_id} (epoch {epoch_words(before.epoch)})"
    yield from _given_up(handover)
    if handover.by_release and handover.granted_ms is not None:
        at = clock_words(handover.granted_ms)
        yield f"      {at}  granted to {client_id}, which had already begun by that release"
        return
    if handover.by_release:
        yield f"      {'':12}  {client_id} began by that release, without an engine"
        return
    if handover.granted_ms is None:
        yield f"      {'':12}  {client_id} still waits"
        return
    gap = "" if handover.gap_ms is None else f", {span_words(handover.gap_ms)} after the release"
    yield f"      {clock_words(handover.granted_ms)}  granted to {client_id}{gap}"
