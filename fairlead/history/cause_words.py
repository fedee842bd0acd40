"""What the causes of a decision mean, in plain words: a sentence each, and one headline."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from fairlead.counts import counted, listed
from fairlead.history.formatting import queue_words
from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "chief_cause",
    "chief_trigger",
    "headline",
    "is_consequence",
    "position_words",
    "sentence",
]

_SENTENCES: Final = {
    "client_joined": "{client} joined: {shares}",
    "client_left": "{client} left by itself and gives back its queues: {shares}",
    "client_expired": "{client} was taken for dead: {shares}",
    "client_replaced": "{client} was started again: the newest process of a client id counts",
    "grace_over": "{client} did not come back within the restart grace: its queues go to others",
    "subscription_changed": "{client} changed its subscriptions, its zone or its capacity",
    "decision_asked": "{client} asked for a decision now",
    "route_changed": "{topic} has a new route: the group has {queues} now",
    "queues_gone": "{topic} lost queues, or was deleted: the group has {queues} now",
    "offsets_known": "a bridge told the bounds and commits of {topic}, so its queues can start",
    "weights_changed": "queues of {topic} have other weights by what was measured: {because}",
    "released": "{client} released a queue, which is free for its successor",
    "mute_member": "{client} heartbeats but does not answer; the rule on_mute passes it over",
    "pull_idle": "{client} did not pull {queue} for too long: it is dropped and granted again",
    "position_out_of_bounds": "{client} told a position of {queue} that was refused: {because}",
    "spoken_for": "somebody spoke in the name of {client}: {because}",
    "drained": "{client} is drained and has no queue left",
    "settled": "changes that came together were decided at once: {because}",
    "trigger": "the group's periodic check (trigger_ms) found something to move",
    "generation_started": "an engine started, and asks every client what it works on",
    "generation_passed": "every client has answered the engine that started: what they hold counts",
    "recovery_started": "an engine started without its state, and asks the clients and the log",
    "recovery_passed": "an engine without its state has heard everybody who may be working",
    "healed": "{client} had missed a record, so the engine sent its assignment again",
    "quarantined": "the step of this group failed: no queue moves until it succeeds again",
    "quarantine_left": "the step of this group succeeds again",
    "group_evicted": "the group had no members left, and the engine forgot it",
    "standing_by": "RocketMQ's own strategy shares the queues out until all members are attached",
    "take_over_begins": "all members are attached: each tells what it works on, and takes nothing",
    "former_told": "{client} told what it works on",
    "taken_over": "the group is the engine's: each queue stays with who works on it",
    "take_over_done": "every member works under its grants: queues may move from now on",
    "take_over_failed": "RocketMQ's own strategy goes on: {because}",
    "giving_back": "the group goes back to RocketMQ's own strategy, {because}",
    "given_back": "RocketMQ's own strategy shares the queues out again: each stays where it is",
    "foreign_member": "somebody shares the queues without the engine: {because}",
    "foreign_member_gone": "nobody shares the queues without the engine any more",
}
_HEADLINES: Final = {
    "client_joined": "{client} joined",
    "client_left": "{client} left",
    "client_expired": "{client} expired",
    "client_replaced": "{client} replaced",
    "grace_over": "{client} did not come back",
    "subscription_changed": "{client} changed its subscription",
    "decision_asked": "{client} asked for a decision",
    "route_changed": "new route of {topic}",
    "queues_gone": "queues of {topic} gone",
    "offsets_known": "offsets of {topic} known",
    "weights_changed": "weights of {topic} changed",
    "released": "{client} released",
    "mute_member": "{client} is mute",
    "pull_idle": "{queue} not pulled by {client}",
    "position_out_of_bounds": "a position of {client} refused",
    "spoken_for": "{client} spoken for",
    "drained": "{client} drained",
    "settled": "changes settled",
    "trigger": "periodic check",
    "generation_started": "an engine started",
    "generation_passed": "an engine's start passed",
    "recovery_started": "an engine recovers",
    "recovery_passed": "an engine recovered",
    "healed": "{client} healed",
    "quarantined": "quarantine began",
    "quarantine_left": "quarantine ended",
    "group_evicted": "group forgotten",
    "standing_by": "RocketMQ goes on",
    "take_over_begins": "take-over begins",
    "former_told": "{client} told what it works on",
    "taken_over": "taken over",
    "take_over_done": "take-over done",
    "take_over_failed": "take-over failed",
    "giving_back": "giving back",
    "given_back": "given back",
    "foreign_member": "foreign member",
    "foreign_member_gone": "no foreign member any more",
}
_CONSEQUENCES: Final = frozenset(("released", "offsets_known", "healed", "settled", "trigger"))
"""Causes that follow from other events; they are shown behind these."""
_POSITIONS: Final = {
    "release": "where its last holder released it",
    "progress": "the last position that its last holder told",
    "committed": "what the group had committed",
    "first_offset": "the first message, by consume_from of its members",
    "last_offset": "the end of the queue, by consume_from of its members",
    "timestamp": "the first message since a time, by consume_from of its members",
    "minimum": "the first kept message: the queue came later, or belongs to a retry topic",
    "reset": "an operator's reset",
    "former": "where its holder had come when the group was taken over",
}


def position_words(why: str | None) -> str:
    """Say what told a position."""
    if why is None:
        return "not told"
    return _POSITIONS.get(why, why)


def is_consequence(cause: Mapping[str, Any]) -> bool:
    """Tell whether a cause follows from others and is shown behind them."""
    return cause["kind"] in _CONSEQUENCES


def chief_trigger(triggers: Sequence[str]) -> str | None:
    """Return the first trigger that does not follow from others, else the first; None: none."""
    chief = [each for each in triggers if each not in _CONSEQUENCES]
    return next(iter([*chief, *triggers]), None)


def sentence(cause: Mapping[str, Any], audit: DecisionRecord, *, deletes: bool = False) -> str:
    """Say what a cause means in its decision; ``deletes``: its record deletes a route."""
    if _is_order(cause):
        return _ordered(cause, _object_of(cause))
    if deletes:
        queues = counted(audit.state.queues, "queue")
        return f"{cause.get('topic')} was deleted: the group has {queues} now"
    if _takes_queues(cause, audit):
        cause = {**cause, "kind": "queues_gone"}
    return _filled(_SENTENCES, cause, audit, str(cause.get("client_id")))


def headline(audit: DecisionRecord, prelude: Sequence[DecisionRecord] = ()) -> str:
    """Say in few words what led to a decision and to those that it followed up."""
    causes = [cause for each in (*prelude, audit) for cause in each.causes]
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for cause in causes:
        # One person's order for one reason stands here once, however many queues it names.
        kind = _ordered(cause, "…") if _is_order(cause) else str(cause["kind"])
        kinds.setdefault(kind, []).append(cause)
    chief = {kind for kind in kinds if kind not in _CONSEQUENCES} or set(kinds)
    parts = [_summed(kind, each, audit) for kind, each in kinds.items() if kind in chief]
    return "; ".join(parts) or "no cause is named"


def chief_cause(
    causes: Sequence[Mapping[str, Any]], queue: Sequence[Any], client_ids: Collection[str]
) -> Mapping[str, Any] | None:
    """Return the cause that best explains the move of a queue; None: its decision names none.

    The best one names the queue; then come causes that do not merely follow from others; then
    operators' and bridges' actions, and clients that lost or got the queue.
    """

    def distance(cause: Mapping[str, Any]) -> tuple[bool, bool, bool]:
        return (
            cause.get("queue") != [*queue],
            is_consequence(cause),
            cause.get("client_id") is not None and cause.get("client_id") not in client_ids,
        )

    return min(causes, key=distance, default=None)


def _summed(kind: str, causes: Sequence[Mapping[str, Any]], audit: DecisionRecord) -> str:
    if _is_order(causes[0]):
        objects = list(dict.fromkeys(map(_object_of, causes)))
        queues = counted(len(objects), "queue") if all("queue" in each for each in causes) else ""
        several = queues if queues and len(objects) > 1 else listed(objects)
        return _ordered(causes[0], several)
    if kind not in _HEADLINES:
        return kind.replace("_", " ")
    names = list(dict.fromkeys(str(each["client_id"]) for each in causes if "client_id" in each))
    topics = list(dict.fromkeys(str(each["topic"]) for each in causes if "topic" in each))
    gone = all(_takes_queues(each, audit) for each in causes)
    first = {**causes[0], "kind": "queues_gone" if gone else causes[0]["kind"]}
    return _filled(_HEADLINES, {**first, "topic": listed(topics)}, audit, listed(names))


def _takes_queues(cause: Mapping[str, Any], audit: DecisionRecord) -> bool:
    """Tell whether a route changed so that the group only lost queues of it."""
    stages = {move.stage for move in audit.moves if move.queue.topic == cause.get("topic")}
    return cause["kind"] == "route_changed" and bool(stages) and stages <= {"dropped", "resolved"}


def _filled(
    words: Mapping[str, str], cause: Mapping[str, Any], audit: DecisionRecord, client: str
) -> str:
    text = words.get(str(cause["kind"]), "{kind}")
    members, queues = counted(len(audit.members), "member"), counted(audit.state.queues, "queue")
    return text.format(
        kind=str(cause["kind"]).replace("_", " "),
        client=client,
        topic=cause.get("topic"),
        queue=queue_words(cause.get("queue") or ()),
        because=cause.get("because"),
        queues=queues,
        shares=f"{queues} over {members}" if audit.state.queues else f"{members}, no queue yet",
    )


def _is_order(cause: Mapping[str, Any]) -> bool:
    return cause.get("rule") is not None or cause["kind"] == "reset"


def _object_of(cause: Mapping[str, Any]) -> str:
    """Return the client or queue that an order concerns; "": the whole group."""
    return str(cause.get("client_id") or queue_words(cause.get("queue") or ()))


def _ordered(cause: Mapping[str, Any], of: str) -> str:
    """Say what somebody ordered: who, what, for which client or queues, and why."""
    who = cause.get("by") or "somebody"
    reason = f" ({cause['because']})" if cause.get("because") else ""
    if cause["kind"] == "reset":
        return f"{who} reset {of}{reason}"
    verb = "removed" if cause.get("removed") else "set"
    everybody = " of all groups" if cause.get("group") == "*" else ""
    return f"{who} {verb} the rule {cause['rule']}{' of ' + of if of else ''}{everybody}{reason}"
