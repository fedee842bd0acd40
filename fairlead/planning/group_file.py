"""A group as a JSON document: to plan without a cluster, and to keep a live group."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from fairlead.control.wanted_rules import subject_of
from fairlead.core.allocation import Strategy
from fairlead.core.membership.members import shared_topics
from fairlead.core.model import MemberProfile, MessageQueue, Route, RouteBroker
from fairlead.core.ordering import java_order, queue_order
from fairlead.core.records import Heartbeat, RuleSet
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.rules.single_rules import SINGLE_RULES
from fairlead.core.topics.routes import PERM_READ
from fairlead.observed.forecast import RefusedRecordError, applied, settled
from fairlead.observed.planned_group import GENERATION, PlannedGroup, empty_group, heartbeat_of
from fairlead.planning.changes import broker_of
from fairlead.wire.limits import ROUTE_QUEUES_MAX
from fairlead.wire.member_records import CAPACITY_MAX
from strategies.options import written_queue
from strategies.registry import STRATEGIES, USUAL

__all__ = ["BadGroupError", "group_json", "read_group"]

_FIELDS = (
    *("group", "strategy", "options", "slots", "rules"),
    *("members", "topics", "owned", "measured", "plan"),
)
_MEMBER = ("client_id", "topics", "zone", "capacity")
_SHORT = ("strategy", "slots")
"""Rules that have their own fields in a document."""
_TIMING = "timing"
"""This rule decides nothing in a plan."""


class BadGroupError(ValueError):
    """A document is no group; the message names the field and what it must be."""


def read_group(
    document: Mapping[str, Any], strategies: Mapping[str, Strategy] = STRATEGIES
) -> PlannedGroup:
    """Return the group of a document.

    ``members``: a list of ids or of objects with ``client_id``, ``topics`` (default: all),
    ``zone``, ``capacity``. ``topics``: an object of topics, each an object of broker names and
    numbers of queues, or of objects with ``queues`` and ``zones``. The other fields are optional:
    ``group``; ``strategy``, ``options``, ``slots``; ``rules``, a list of all other rules, each with
    its name as ``rule`` and its ``value``; ``owned``, an object of client ids and their queues,
    each [topic, broker_name, queue_id] (default: where the group's rules put them); ``measured``, a
    list of [queue, weight]; ``plan``, which `fairlead.planning.saved_plan` reads.

    Raises:
        BadGroupError: a field is missing, unknown or wrong.
    """
    _check_names(document, _FIELDS, "")
    group = str(document.get("group", "group"))
    routes = _routes(document.get("topics"))
    state = empty_group(group)
    state.routes = routes
    planned = PlannedGroup(state, EngineRules(GENERATION, strategies))
    members = _list(document, "members")
    beats = [_member(group, one, routes) for one in members]
    _refuse_twice([beat.member.client_id for beat in beats])
    try:
        planned = applied(planned, [*_rules(group, document), *beats])
    except RefusedRecordError as error:
        raise BadGroupError(f"{_place(error)}: {error.rejection.detail}") from error
    planned.state.weights.update(_measured(document))
    owned = document.get("owned")
    if owned is None:
        return settled(planned)
    return planned.owned(_owners(owned, planned))


def group_json(planned: PlannedGroup) -> dict[str, Any]:
    """Return a group as a document that :func:`read_group` reads.

    Rules of all groups and defaults become its own: a document stands alone.
    """
    rules, weights = planned.rules, planned.state.weights
    members, owners = planned.members, planned.owners
    subscribed = shared_topics(planned.state)
    owned: dict[str, list[list[Any]]] = {client_id: [] for client_id in members}
    for queue in sorted(owners, key=queue_order):
        owned[owners[queue]].append(list(queue))
    return {
        "group": planned.state.group,
        "strategy": rules.strategy,
        "options": dict(rules.strategy_options),
        "slots": rules.slots,
        "rules": list(_written_rules(planned)),
        "members": [
            {
                "client_id": client_id,
                "topics": sorted(members[client_id].topics, key=java_order),
                "zone": members[client_id].profile.zone,
                "capacity": members[client_id].profile.capacity,
            }
            for client_id in sorted(members, key=java_order)
        ],
        "topics": {
            topic: _brokers(planned.state.routes.get(topic))
            for topic in sorted({*planned.state.routes, *subscribed}, key=java_order)
        },
        "owned": {client_id: owned[client_id] for client_id in sorted(owned, key=java_order)},
        "measured": [[list(queue), weights[queue]] for queue in sorted(weights, key=queue_order)],
    }


def _written_rules(planned: PlannedGroup) -> Iterator[dict[str, Any]]:
    values = {**planned.of_all, **planned.state.rules}
    for rule in sorted(values.keys() - {*_SHORT, _TIMING}):
        held = values[rule]
        for value in (
            [held[subject] for subject in sorted(held)] if rule in SINGLE_RULES else [held]
        ):
            yield {"rule": rule, "value": value}


def _brokers(route: Route | None) -> dict[str, Any]:
    return {
        broker.broker_name: broker.read_queue_nums
        if broker.zones is None
        else {
            "queues": broker.read_queue_nums,
            "zones": list(broker.zones[: broker.read_queue_nums]),
        }
        for broker in (route.brokers if route else ())
        if broker.perm & PERM_READ
    }


def _rules(group: str, document: Mapping[str, Any]) -> list[RuleSet]:
    strategy: Any = document.get("strategy", USUAL)
    options = _object(document, "options") if "options" in document else {}
    rules = [RuleSet(group, "strategy", (), {"name": strategy, "options": options})]
    if "slots" in document:
        rules.append(RuleSet(group, "slots", (), document["slots"]))
    for index, written in enumerate(_list(document, "rules") if "rules" in document else ()):
        rule = written.get("rule") if isinstance(written, dict) else None
        if not isinstance(rule, str):
            raise BadGroupError(f"rules[{index}]: it must be an object with rule and value")
        if rule in _SHORT:
            raise BadGroupError(f"rules[{index}]: {rule} has a field of its own")
        value = written.get("value")
        rules.append(RuleSet(group, rule, _subject(index, rule, value), value))
    return rules


def _subject(index: int, rule: str, value: Any) -> tuple[str, ...]:
    try:
        return subject_of(rule, value)
    except ValueError as error:
        raise BadGroupError(f"rules[{index}].{error}") from error


def _place(error: RefusedRecordError) -> str:
    """Return the field of the document that a rejected record comes from."""
    record = error.record
    assert isinstance(record, RuleSet)
    path = (error.rejection.field or "").removeprefix("value").removeprefix(".")
    if record.rule == "strategy":
        return "options" if path.startswith("options") else "strategy"
    if record.rule in _SHORT:
        return record.rule
    name = " ".join((record.rule, "/".join(record.subject))).strip()
    return f"rules: {name}: {path}" if path else f"rules: {name}"


def _measured(document: Mapping[str, Any]) -> Iterator[tuple[MessageQueue, float]]:
    for index, pair in enumerate(_list(document, "measured") if "measured" in document else ()):
        match pair:
            case [written, int() | float() as weight] if not isinstance(weight, bool):
                queue = written_queue(written)
            case _:
                queue = None
        if queue is None or not 0 <= weight < inf:
            raise BadGroupError(f"measured[{index}]: it must be a queue and what it weighs")
        yield queue, weight


def _routes(topics: object) -> dict[str, Route]:
    if not isinstance(topics, dict) or not topics:
        raise BadGroupError('topics: it must be an object, such as {"orders": {"main": 8}}')
    routes = {}
    for topic, brokers in topics.items():
        if not isinstance(brokers, dict):
            raise BadGroupError(f"topics.{topic}: it must be an object of broker names and numbers")
        routes[topic] = Route(
            topic, "planned", tuple(_broker(topic, name, one) for name, one in brokers.items())
        )
    return routes


def _broker(topic: str, broker_name: str, value: object) -> RouteBroker:
    place = f"topics.{topic}.{broker_name}"
    zones: list[Any] = []
    if isinstance(value, dict):
        _check_names(value, ("queues", "zones"), f"{place}.")
        zones = _list(value, "zones", place) if value.get("zones") is not None else []
        if not all(zone is None or isinstance(zone, str) for zone in zones):
            raise BadGroupError(f"{place}.zones: each must be a zone, or null")
        value = value.get("queues")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= ROUTE_QUEUES_MAX:
        text = f"{place}: it must be a number of queues, at most {ROUTE_QUEUES_MAX}"
        raise BadGroupError(text)
    if len(zones) > value:
        raise BadGroupError(f"{place}.zones: there are {len(zones)} for {value} queues")
    return broker_of(broker_name, value, zones)


def _member(group: str, value: object, routes: Mapping[str, Route]) -> Heartbeat:
    if isinstance(value, str):
        return heartbeat_of(group, value, routes, MemberProfile())
    if not isinstance(value, dict) or not isinstance(value.get("client_id"), str):
        raise BadGroupError("members: each must be a client id, or an object with client_id")
    client_id: str = value["client_id"]
    _check_names(value, _MEMBER, f"members: {client_id}: ")
    topics = value.get("topics")
    if topics is None:
        topics = list(routes)
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise BadGroupError(f"members: the topics of {client_id} must be a list of names")
    for topic in topics:
        if topic not in routes:
            raise BadGroupError(f"members: {client_id} subscribes to {topic}, not in topics")
    zone, capacity = value.get("zone"), value.get("capacity", 1)
    if zone is not None and not isinstance(zone, str):
        raise BadGroupError(f"members: the zone of {client_id} must be a text, or null")
    whole = isinstance(capacity, int) and not isinstance(capacity, bool)
    if not whole or not 1 <= capacity <= CAPACITY_MAX:
        raise BadGroupError(f"members: the capacity of {client_id} must be 1 to {CAPACITY_MAX}")
    return heartbeat_of(group, client_id, topics, MemberProfile(zone=zone, capacity=capacity))


def _refuse_twice(client_ids: list[str]) -> None:
    for client_id, number in Counter(client_ids).items():
        if number > 1:
            raise BadGroupError(f"members: {client_id} is there {number} times")


def _owners(owned: object, planned: PlannedGroup) -> dict[MessageQueue, str]:
    if not isinstance(owned, dict):
        raise BadGroupError("owned: it must be an object of client ids and their queues")
    members, readable = planned.members, set(planned.queues)
    owners: dict[MessageQueue, str] = {}
    for client_id, queues in owned.items():
        if client_id not in members:
            raise BadGroupError(f"owned.{client_id}: there is no such member")
        if not isinstance(queues, list):
            raise BadGroupError(f"owned.{client_id}: it must be a list of queues")
        for written in queues:
            queue = written_queue(written)
            if queue is None:
                text = f"owned.{client_id}: a queue is [topic, broker_name, queue_id]"
                raise BadGroupError(text)
            if queue not in readable:
                raise BadGroupError(f"owned.{client_id}: {list(queue)} is no queue of topics")
            if queue in owners:
                raise BadGroupError(f"owned.{client_id}: {list(queue)} has an owner already")
            owners[queue] = client_id
    return owners


def _check_names(value: Mapping[str, Any], names: tuple[str, ...], place: str) -> None:
    for name in value:
        if name not in names:
            raise BadGroupError(f"{place}{name}: unknown; known are {', '.join(names)}")


def _list(document: Mapping[str, Any], name: str, place: str = "") -> list[Any]:
    value = document.get(name)
    if not isinstance(value, list):
        raise BadGroupError(f"{place and place + '.'}{name}: it must be a list")
    return value


def _object(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise BadGroupError(f"{name}: it must be an object")
    return value
