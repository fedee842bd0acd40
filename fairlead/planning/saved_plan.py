"""A plan as a file: the group that it starts from, what was asked for, and what was shown.

Decides what must still be the same before a plan may be applied: the group's epoch, and which queue
goes from whom to whom.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.records import RuleSet
from fairlead.observed.planned_group import PlannedGroup
from fairlead.planning.changes import Changes, Join, RouteSize
from fairlead.planning.group_file import BadGroupError, group_json
from fairlead.planning.plan import Plan
from fairlead.wire.control_records import read_removed_rule, rule_key
from fairlead.wire.errors import WireError
from strategies.options import written_queue

__all__ = ["SAVED_BY", "PlannedMove", "SavedPlan", "moves_of", "plan_json", "read_saved_plan"]

SAVED_BY: Final = "Give the file that `fairlead plan … --save` wrote"
"""What to do with a file that is no saved plan."""

_FIELDS: Final = frozenset(("epoch", "made_ms", "rules", "joins", "leaves", "routes", "moves"))


class PlannedMove(NamedTuple):
    """A queue that changes hands. None: nobody had it before, or nobody would get it."""

    queue: MessageQueue
    holder: str | None
    successor: str | None


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """The plan of a group.

    Attributes:
        group: its name.
        epoch: of its newest decision when the plan was made; None: it had none.
        made_ms: when the plan was made, in milliseconds since 1970.
        changes: what was asked for.
        moves: what was shown, in RocketMQ's order of queues.
    """

    group: str
    epoch: Epoch | None
    made_ms: int
    changes: Changes
    moves: tuple[PlannedMove, ...]

    @property
    def of_others(self) -> bool:
        """Whether clients, or the owners of topics, have to do a part of it."""
        changes = self.changes
        return bool(changes.joins or changes.leaves or changes.routes)


def moves_of(plan: Plan) -> tuple[PlannedMove, ...]:
    """Return which queues change hands by a plan, from whom to whom."""
    before = {queue: each.client_id for each in plan.members for queue in each.before}
    after = {queue: each.client_id for each in plan.members for queue in each.after}
    return tuple(
        PlannedMove(queue, before.get(queue), after.get(queue))
        for queue in sorted({*before, *after}, key=queue_order)
        if before.get(queue) != after.get(queue)
    )


def plan_json(planned: PlannedGroup, saved: SavedPlan) -> dict[str, Any]:
    """Return the group with the plan as one document, also readable as the group alone."""
    changes = saved.changes
    return {
        **group_json(planned),
        "plan": {
            "epoch": None if saved.epoch is None else list(saved.epoch),
            "made_ms": saved.made_ms,
            "rules": [
                {"key": orjson.loads(rule_key(rule.group, rule.rule, rule.subject)), **_said(rule)}
                for rule in changes.rules
            ],
            "joins": [
                {
                    "client_id": join.client_id,
                    "topics": None if join.topics is None else list(join.topics),
                    "zone": join.zone,
                    "capacity": join.capacity,
                }
                for join in changes.joins
            ],
            "leaves": list(changes.leaves),
            "routes": [
                {"topic": size.topic, "broker_name": size.broker_name, "queues": size.queues}
                for size in changes.routes
            ],
            "moves": [
                {"queue": list(move.queue), "from": move.holder, "to": move.successor}
                for move in saved.moves
            ],
        },
    }


def _said(rule: RuleSet) -> dict[str, Any]:
    return {"rule": rule.rule, "value": rule.value}


def read_saved_plan(document: Mapping[str, Any]) -> SavedPlan:
    """Return the plan of a document.

    It does not check whether the rules make sense: the engine's functions do when it is applied.

    Raises:
        BadGroupError: it has no plan, or a field of it is missing, unknown or wrong.
    """
    group, plan = document.get("group"), document.get("plan")
    if not isinstance(group, str):
        raise BadGroupError("group: it must be the name of the group")
    if not isinstance(plan, dict):
        raise BadGroupError("plan: it is missing; `fairlead plan GROUP … --save` writes it")
    for name in sorted(_FIELDS ^ plan.keys()):
        raise BadGroupError(f"plan.{name}: {'missing' if name in _FIELDS else 'unknown'}")
    made_ms = plan["made_ms"]
    if type(made_ms) is not int:
        raise BadGroupError("plan.made_ms: it must be milliseconds since 1970")
    changes = Changes(
        joins=tuple(_each(plan, "joins", _join)),
        leaves=tuple(_each(plan, "leaves", _leave)),
        routes=tuple(_each(plan, "routes", _route)),
        rules=tuple(_each(plan, "rules", _rule)),
    )
    for rule in changes.rules:
        if rule.group != group:
            raise BadGroupError(f"plan.rules: {rule.rule} is of {rule.group}, not of {group}")
    moves = tuple(_each(plan, "moves", _move))
    return SavedPlan(group, _epoch(plan["epoch"]), made_ms, changes, moves)


def _each(plan: Mapping[str, Any], name: str, read: Any) -> Iterable[Any]:
    entries = plan[name]
    if not isinstance(entries, list):
        raise BadGroupError(f"plan.{name}: it must be a list")
    for index, entry in enumerate(entries):
        try:
            yield read(entry)
        except (KeyError, TypeError, ValueError, WireError) as error:
            raise BadGroupError(f"plan.{name}[{index}]: it is none ({error})") from error


def _epoch(value: object) -> Epoch | None:
    match value:
        case None:
            return None
        case [int() as generation, int() as number]:
            return Epoch(generation, number)
    raise BadGroupError("plan.epoch: it must be [generation, number], or null")


def _rule(entry: Mapping[str, Any]) -> RuleSet:
    named = read_removed_rule(orjson.dumps(entry["key"]))
    if named.rule != entry["rule"]:
        raise ValueError(f"its key is of the rule {named.rule}")
    return replace(named, value=entry["value"])


def _join(entry: Mapping[str, Any]) -> Join:
    topics = entry["topics"]
    return Join(
        _text(entry["client_id"]),
        None if topics is None else tuple(_text(topic) for topic in topics),
        None if entry["zone"] is None else _text(entry["zone"]),
        _number(entry["capacity"]),
    )


def _leave(entry: object) -> str:
    return _text(entry)


def _route(entry: Mapping[str, Any]) -> RouteSize:
    name = entry["broker_name"]
    broker_name = None if name is None else _text(name)
    return RouteSize(_text(entry["topic"]), broker_name, _number(entry["queues"]))


def _move(entry: Mapping[str, Any]) -> PlannedMove:
    queue = written_queue(entry["queue"])
    if queue is None:
        raise ValueError("a queue is [topic, broker_name, queue_id]")
    holder, successor = entry["from"], entry["to"]
    return PlannedMove(
        queue,
        None if holder is None else _text(holder),
        None if successor is None else _text(successor),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value
