"""Changes of a group, as the records that would bring them about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fairlead.core.membership.members import shared_topics
from fairlead.core.model import MemberProfile, Route, RouteBroker
from fairlead.core.records import GroupRecord, Leave, RouteChanged, RuleSet
from fairlead.core.topics.routes import PERM_READ
from fairlead.errors import Way
from fairlead.observed.planned_group import PlannedGroup, heartbeat_of
from fairlead.wire.limits import ROUTE_QUEUES_MAX
from fairlead.wire.member_records import CAPACITY_MAX
from fairlead.wire.texts import CLIENT_ID, LABEL, TOPIC

__all__ = [
    "BadChangeError",
    "Changes",
    "Join",
    "RouteSize",
    "bad_join",
    "broker_of",
    "records_of",
]

_LAST = 2**63 - 1
"""A greater sequence than any record of a member has."""


class BadChangeError(ValueError):
    """A change does not fit the group. ``kind``: join, leave or route; ``remedy``: what to do."""

    def __init__(self, kind: str, detail: str, remedy: str | Way) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Join:
    """A joining client. ``topics`` None: those that the group subscribes to."""

    client_id: str
    topics: tuple[str, ...] | None = None
    zone: str | None = None
    capacity: int = 1


@dataclass(frozen=True, slots=True)
class RouteSize:
    """The future number of queues of a topic on a broker. ``broker_name`` None: its only one."""

    topic: str
    broker_name: str | None
    queues: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that is asked for; all of it happens at once."""

    joins: tuple[Join, ...] = ()
    leaves: tuple[str, ...] = ()
    routes: tuple[RouteSize, ...] = ()
    rules: tuple[RuleSet, ...] = ()


def bad_join(join: Join) -> tuple[str, str] | None:
    """Return the field of a joining client that no heartbeat could say, and why; None: none."""
    if not CLIENT_ID.allows(join.client_id):
        return "client_id", f"{join.client_id!r} is no client id: {CLIENT_ID.words}"
    if join.zone is not None and not LABEL.allows(join.zone):
        return "zone", f"{join.zone!r} is no zone: {LABEL.words}"
    if not 1 <= join.capacity <= CAPACITY_MAX:
        return "capacity", f"'{join.capacity}' is no capacity from 1 to {CAPACITY_MAX}"
    for topic in join.topics or ():
        if not TOPIC.allows(topic):
            return "topics", f"{topic!r} is no topic: {TOPIC.words}"
    return None


def records_of(planned: PlannedGroup, changes: Changes) -> tuple[GroupRecord, ...]:
    """Return the records that bring the changes about, in the order in which they apply.

    Raises:
        BadChangeError: a change does not fit the group.
    """
    return (
        *changes.rules,
        *_joins(planned, changes.joins),
        *_leaves(planned, changes.leaves),
        # Last: a route counts only if somebody subscribes to its topic.
        *_routes(planned, changes),
    )


def _joins(planned: PlannedGroup, joins: Sequence[Join]) -> Iterable[GroupRecord]:
    known = set(planned.members)
    everything = tuple(shared_topics(planned.state))
    for join in joins:
        if join.client_id in known:
            raise BadChangeError("join", f"{join.client_id} is a member", "name a new client")
        known.add(join.client_id)
        topics = everything if join.topics is None else join.topics
        if not topics:
            remedy = Way("add --topic orders", 'say its topics: ["orders"]')
            raise BadChangeError("join", f"{join.client_id} has no topic", remedy)
        profile = MemberProfile(zone=join.zone, capacity=join.capacity)
        yield heartbeat_of(planned.state.group, join.client_id, topics, profile)


def _leaves(planned: PlannedGroup, leaves: Sequence[str]) -> Iterable[GroupRecord]:
    members = planned.state.members
    known = planned.members
    for client_id in dict.fromkeys(leaves):
        if client_id not in known:
            names = ", ".join(sorted(known)) or "none"
            raise BadChangeError("leave", f"{client_id} is no member", f"members: {names}")
        for key in sorted(members):
            if key.client_id == client_id:
                yield Leave(planned.state.group, key, _LAST)


def _routes(planned: PlannedGroup, changes: Changes) -> Iterable[GroupRecord]:
    routes = dict(planned.state.routes)
    subscribed = {*shared_topics(planned.state)}
    subscribed.update(topic for join in changes.joins for topic in join.topics or ())
    for size in changes.routes:
        if size.topic not in subscribed:
            detail = f"nobody subscribes to {size.topic}"
            raise BadChangeError("route", detail, f"topics: {', '.join(sorted(subscribed))}")
        route = routes.get(size.topic, Route(size.topic, "planned", ()))
        names = [broker.broker_name for broker in route.brokers if broker.perm & PERM_READ]
        if size.broker_name is None and len(names) != 1:
            detail = f"{size.topic} has brokers: {', '.join(sorted(names)) or 'none yet'}"
            remedy = Way("write topic/broker=16", "say its broker_name")
            raise BadChangeError("route", detail, remedy)
        if size.queues > ROUTE_QUEUES_MAX:
            detail = f"{size.topic} cannot have {size.queues} queues"
            raise BadChangeError("route", detail, f"at most {ROUTE_QUEUES_MAX}")
        routes[size.topic] = _resized(route, size.broker_name or names[0], size.queues)
    for topic in dict.fromkeys(size.topic for size in changes.routes):
        yield RouteChanged(topic, routes[topic])


def _resized(route: Route, broker_name: str, queues: int) -> Route:
    others = tuple(broker for broker in route.brokers if broker.broker_name != broker_name)
    zones: tuple[str | None, ...] = ()
    for broker in route.brokers:
        if broker.broker_name == broker_name:
            zones = broker.zones or ()
    return replace(route, brokers=(*others, broker_of(broker_name, queues, zones)))


def broker_of(broker_name: str, queues: int, zones: Sequence[str | None] = ()) -> RouteBroker:
    """Return a broker with so many queues to read and write; missing zones are unknown."""
    filled = (*zones[:queues], *[None] * (queues - len(zones)))
    return RouteBroker(
        broker_name,
        perm=6,
        read_queue_nums=queues,
        write_queue_nums=queues,
        zones=filled if any(filled) else None,
    )
