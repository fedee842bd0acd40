"""Compares a group before and after a change: who gains what, what moves, how even it is."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead.core.outputs import Failure
from fairlead.core.records import GroupRecord, Leave, RuleSet
from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.forecast import forecast
from fairlead.observed.live_group import MovingQueue
from fairlead.observed.planned_group import PlannedGroup
from fairlead.observed.unrouted import unrouted_topics
from fairlead.planning.even_share import EvenShare, even_share
from fairlead.planning.idle_pins import idle_pins
from fairlead.planning.imbalance import Scales, Skew, scales_of, skew_of
from fairlead.wire.bodies import failure_body

__all__ = ["BeforeAfter", "MemberPlan", "Plan", "plan"]


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """Something now, and what it would be."""

    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """The change for one member; queues are in RocketMQ's order.

    ``weight``: of its queues. ``role``: stays, joins or leaves.
    """

    client_id: str
    role: str
    before: tuple[MessageQueue, ...]
    after: tuple[MessageQueue, ...]
    gained: tuple[MessageQueue, ...]
    lost: tuple[MessageQueue, ...]
    weight: BeforeAfter
    capacity: float

    @property
    def weighs(self) -> bool:
        """Whether one of its queues has another weight than 1."""
        return (self.weight.before, self.weight.after) != (len(self.before), len(self.after))

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "client_id": self.client_id,
            "membership": self.role,
            **{
                name: [list(queue) for queue in getattr(self, name)]
                for name in ("before", "after", "gained", "lost")
            },
            "weight_change": self.weight.to_json(),
            "capacity": self.capacity,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The consequences of a change.

    Attributes:
        group: its name.
        strategy: in force before and after.
        queues: how many there are before and after.
        members: those of before and after, in RocketMQ's order.
        moves: how many readable queues have holders that would be told to stop. Queues of leaving
            members count, and so do queues that nobody would get.
        moves_anyway: how many would move without any change.
        even_share: the cost of an even share; None: there is none.
        by_queues: the skew of the numbers of queues, before and after.
        by_load: the skew of weight / capacity, both by the scales of after.
        orphans: queues that nobody would own.
        gone: owned queues that would not be readable any more.
        failures: topics that cannot be allocated; they keep their owners.
        alarms: those that the engine would raise.
        passing: queues that are moving already; they count where they go to.
        remarks: unusual facts about the group and the change, in words.
    """

    group: str
    strategy: BeforeAfter
    queues: BeforeAfter
    members: tuple[MemberPlan, ...]
    moves: int
    moves_anyway: int
    even_share: EvenShare | None
    by_queues: tuple[Skew, Skew]
    by_load: tuple[Skew, Skew]
    orphans: tuple[MessageQueue, ...]
    gone: tuple[MessageQueue, ...]
    failures: Mapping[str, Failure] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()
    passing: tuple[MovingQueue, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        even = self.even_share
        return {
            "group": self.group,
            "strategy_change": self.strategy.to_json(),
            "queues_change": self.queues.to_json(),
            "member_plans": [member.to_json() for member in self.members],
            "queues_dropped": self.moves,
            "queues_dropped_without_plan": self.moves_anyway,
            "even_share": None
            if even is None
            else {"queues_dropped": even.moves, "exact": even.exact, "measure": even.by},
            "imbalance": {
                "by_queues": _skews(self.by_queues),
                "by_load": _skews(self.by_load),
            },
            "unassigned_list": [list(queue) for queue in self.orphans],
            "gone": [list(queue) for queue in self.gone],
            "failures": [failure_body(failure) for failure in self.failures.values()],
            "alarms": list(self.alarms),
            "passing": [
                {"queue": list(one.queue), "from": one.holder, "to": one.successor}
                for one in self.passing
            ],
            "notes": list(self.remarks),
        }


def plan(before: PlannedGroup, records: Sequence[GroupRecord]) -> Plan:
    """Work out what follows for a group from some records; its owners are the present ones.

    Raises:
        RefusedRecordError: the engine would reject one of the records.
    """
    now = forecast(before)
    outcome = forecast(before, records)
    after = outcome.planned
    readable = outcome.readable(before)
    old, new = before.owners, after.owners
    old_scales, scales = scales_of(now), scales_of(outcome)
    scales = replace(scales, capacities={**old_scales.capacities, **scales.capacities})
    return Plan(
        group=before.state.group,
        strategy=BeforeAfter(now.rules.strategy, outcome.rules.strategy),
        queues=BeforeAfter(len(before.queues), len(readable)),
        members=_members(before, after, scales),
        moves=len(outcome.moved(before)),
        moves_anyway=len(now.dropped),
        even_share=even_share(before, records),
        by_queues=(
            _skew(old, old_scales.consumers),
            _skew(new, scales.consumers),
        ),
        by_load=(
            _skew(old, old_scales.consumers, scales),
            _skew(new, scales.consumers, scales),
        ),
        orphans=outcome.orphans(before),
        gone=tuple(sorted(old.keys() - readable, key=queue_order)),
        failures={topic: outcome.failures[topic] for topic in sorted(outcome.failures)},
        alarms=outcome.alarms,
        remarks=(
            *outcome.notes,
            *_strangers(records, after.members, readable),
            *idle_pins(records, after.members),
            *_unrouted(before, after),
            *_delays(records, outcome.rules),
        ),
    )


def _strangers(
    records: Sequence[GroupRecord], members: Collection[str], readable: Collection[MessageQueue]
) -> Iterator[str]:
    """Yield what new rules name and the group would not have: mostly typing mistakes."""
    for rule in records:
        if not isinstance(rule, RuleSet) or rule.value is None or not rule.subject:
            continue
        named = f"the rule {rule.rule} of {'/'.join(rule.subject)}"
        if rule.rule in ("capacity", "drain"):
            clients = [rule.subject[0]]
        else:
            topic, broker_name, queue_id = rule.subject
            if MessageQueue(topic, broker_name, int(queue_id)) not in readable:
                yield f"{named}: the group has no such queue"
            # A ban may well name a client that is not there; a pin should not.
            clients = [rule.value["client_id"]] if rule.rule == "pin" else []
        for client_id in clients:
            if client_id not in members:
                yield f"{named}: {client_id} would be no member"


def _unrouted(before: PlannedGroup, after: PlannedGroup) -> Iterator[str]:
    """Yield the topics that a change brings and that have no route."""
    known = unrouted_topics(before.state, before.rules)
    for topic in unrouted_topics(after.state, after.rules):
        if topic not in known:
            yield f"the route of {topic} is unknown: its queues are not in the plan"


def _delays(records: Sequence[GroupRecord], rules: GroupRules) -> Iterator[str]:
    """Yield the rules that keep the engine from doing this at once."""
    if rules.pause:
        yield "the group is paused: nothing of this happens before it is resumed"
    leaves = any(isinstance(record, Leave) for record in records)
    if leaves and rules.restart_grace_ms:
        yield (
            f"restart_grace_ms = {rules.restart_grace_ms}: the queues of a leaving client move "
            "only after this time"
        )
    if rules.settle_ms and not rules.pause:
        yield f"settle_ms = {rules.settle_ms}: joins and leaves count this long after the first"


def _members(before: PlannedGroup, after: PlannedGroup, scales: Scales) -> tuple[MemberPlan, ...]:
    were, are = before.members, after.members
    held, holds = _by_member(before.owners), _by_member(after.owners)
    plans = []
    for client_id in sorted({*were, *are}, key=java_order):
        old, new = held.get(client_id, ()), holds.get(client_id, ())
        role = "leaves" if client_id not in are else "stays" if client_id in were else "joins"
        kept = {*old} & {*new}
        plans.append(
            MemberPlan(
                client_id,
                role,
                before=old,
                after=new,
                gained=tuple(queue for queue in new if queue not in kept),
                lost=tuple(queue for queue in old if queue not in kept),
                weight=BeforeAfter(scales.weight(old), scales.weight(new)),
                capacity=scales.capacity(client_id),
            )
        )
    return tuple(plans)


def _by_member(owners: Mapping[MessageQueue, str]) -> dict[str, tuple[MessageQueue, ...]]:
    held: dict[str, list[MessageQueue]] = {}
    for queue in sorted(owners, key=queue_order):
        held.setdefault(owners[queue], []).append(queue)
    return {client_id: tuple(queues) for client_id, queues in held.items()}


def _skew(
    owners: Mapping[MessageQueue, str], consumers: Iterable[str], scales: Scales | None = None
) -> Skew:
    """Return the skew of the numbers of queues or, with scales, of the loads."""
    held = _by_member(owners)
    shares = {client_id: held.get(client_id, ()) for client_id in consumers}
    if scales is None:
        return skew_of(len(queues) for queues in shares.values())
    return skew_of(
        scales.weight(queues) / scales.capacity(client_id) for client_id, queues in shares.items()
    )


def _skews(skews: tuple[Skew, Skew]) -> dict[str, Any]:
    before, after = skews
    return {"before": before.to_json(), "after": after.to_json()}
