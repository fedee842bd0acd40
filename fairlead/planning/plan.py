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
from fairlead.observed.live_group import Passing
from fairlead.observed.planned_group import Picture
from fairlead.observed.unrouted import unrouted_topics
from fairlead.planning.even_share import EvenShare, even_share
from fairlead.planning.imbalance import Scales, Skew, scales_of, skew_of
from fairlead.planning.vain_pins import vain_pins
from fairlead.wire.bodies import failure_body

__all__ = ["Change", "MemberPlan", "Plan", "plan"]


@dataclass(frozen=True, slots=True)
class Change:
    """Something now, and what it would be."""

    before: Any
    after: Any

    def document(self) -> dict[str, Any]:
        """The change as JSON."""
        return {"before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """What changes for one member; queues in RocketMQ's order.

    ``weight``: of its queues. ``capacity``: what it can carry. ``role``: stays, joins or leaves.
    """

    client_id: str
    role: str
    before: tuple[MessageQueue, ...]
    after: tuple[MessageQueue, ...]
    gained: tuple[MessageQueue, ...]
    lost: tuple[MessageQueue, ...]
    weight: Change
    capacity: float

    @property
    def weighs(self) -> bool:
        """Whether one of its queues weighs more or less than 1."""
        return (self.weight.before, self.weight.after) != (len(self.before), len(self.after))

    def document(self) -> dict[str, Any]:
        """The member as JSON."""
        return {
            "client_id": self.client_id,
            "membership": self.role,
            **{
                name: [list(queue) for queue in getattr(self, name)]
                for name in ("before", "after", "gained", "lost")
            },
            "weight_change": self.weight.document(),
            "capacity": self.capacity,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """A change, worked out.

    Attributes:
        group: its name.
        strategy: in force before and after.
        queues: how many there are before and after.
        members: of before and after, sorted as RocketMQ sorts them.
        moves: queues whose holder would be told to stop, and that can still be read: those of
            members that leave among them, those that nobody would get too.
        moves_anyway: so many would move if nothing were changed.
        even_share: what an even share would cost; None if there is none.
        by_queues: the skew of the numbers of queues, before and after.
        by_load: the skew of the weight of the queues / capacity; both by the scales of after.
        orphans: queues that would belong to nobody.
        gone: queues that somebody holds and that would not be readable any more.
        failures: topics that cannot be allocated; they keep what they have.
        alarms: those that the engine would raise.
        passing: queues that were on their way already; they count where they go to.
        remarks: what is unusual about the group of now and about the change, in words.
    """

    group: str
    strategy: Change
    queues: Change
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
    passing: tuple[Passing, ...] = ()
    remarks: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The plan as JSON."""
        even = self.even_share
        return {
            "group": self.group,
            "strategy_change": self.strategy.document(),
            "queues_change": self.queues.document(),
            "member_plans": [member.document() for member in self.members],
            "queues_dropped": self.moves,
            "queues_dropped_anyway": self.moves_anyway,
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


def plan(before: Picture, records: Sequence[GroupRecord]) -> Plan:
    """Work out what follows for a group from some records; its owners are those of now.

    Raises:
        RefusedRecordError: the engine would refuse one of the records.
    """
    now = forecast(before)
    found = forecast(before, records)
    after = found.picture
    readable = found.readable(before)
    old, new = before.owners, after.owners
    old_scales, scales = scales_of(now), scales_of(found)
    scales = replace(scales, capacities={**old_scales.capacities, **scales.capacities})
    return Plan(
        group=before.state.group,
        strategy=Change(now.rules.strategy, found.rules.strategy),
        queues=Change(len(before.queues), len(readable)),
        members=_members(before, after, scales),
        moves=len(found.moved(before)),
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
        orphans=found.orphans(before),
        gone=tuple(sorted(old.keys() - readable, key=queue_order)),
        failures={topic: found.failures[topic] for topic in sorted(found.failures)},
        alarms=found.alarms,
        remarks=(
            *found.notes,
            *_strangers(records, after.members, readable),
            *vain_pins(records, after.members),
            *_unrouted(before, after),
            *_delays(records, found.rules),
        ),
    )


def _strangers(
    records: Sequence[GroupRecord], members: Collection[str], readable: Collection[MessageQueue]
) -> Iterator[str]:
    """Yield what new rules name and the group would not have: mostly a mistake in typing."""
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
            # A ban of somebody who is not there is meant; a pin mostly is not.
            clients = [rule.value["client_id"]] if rule.rule == "pin" else []
        for client_id in clients:
            if client_id not in members:
                yield f"{named}: {client_id} would be no member"


def _unrouted(before: Picture, after: Picture) -> Iterator[str]:
    """Yield the topics that a change brings and of which no route is known."""
    known = unrouted_topics(before.state, before.rules)
    for topic in unrouted_topics(after.state, after.rules):
        if topic not in known:
            yield f"the route of {topic} is not known: its queues are not in the plan"


def _delays(records: Sequence[GroupRecord], rules: GroupRules) -> Iterator[str]:
    """Yield which rules keep the engine from doing this at once."""
    if rules.pause:
        yield "the group is paused: nothing of this happens before it is resumed"
    leaves = any(isinstance(record, Leave) for record in records)
    if leaves and rules.restart_grace_ms:
        yield (
            f"restart_grace_ms = {rules.restart_grace_ms}: who leaves is waited for so long, then "
            "its queues move"
        )
    if rules.settle_ms and not rules.pause:
        yield f"settle_ms = {rules.settle_ms}: joins and leaves count so long after the first"


def _members(before: Picture, after: Picture, scales: Scales) -> tuple[MemberPlan, ...]:
    were, are = before.members, after.members
    held, holds = _by_member(before.owners), _by_member(after.owners)
    found = []
    for client_id in sorted({*were, *are}, key=java_order):
        old, new = held.get(client_id, ()), holds.get(client_id, ())
        role = "leaves" if client_id not in are else "stays" if client_id in were else "joins"
        kept = {*old} & {*new}
        found.append(
            MemberPlan(
                client_id,
                role,
                before=old,
                after=new,
                gained=tuple(queue for queue in new if queue not in kept),
                lost=tuple(queue for queue in old if queue not in kept),
                weight=Change(scales.weight(old), scales.weight(new)),
                capacity=scales.capacity(client_id),
            )
        )
    return tuple(found)


def _by_member(owners: Mapping[MessageQueue, str]) -> dict[str, tuple[MessageQueue, ...]]:
    found: dict[str, list[MessageQueue]] = {}
    for queue in sorted(owners, key=queue_order):
        found.setdefault(owners[queue], []).append(queue)
    return {client_id: tuple(queues) for client_id, queues in found.items()}


def _skew(
    owners: Mapping[MessageQueue, str], consumers: Iterable[str], scales: Scales | None = None
) -> Skew:
    """Return the skew of the numbers of queues, or of the loads if there are scales."""
    held = _by_member(owners)
    shares = {client_id: held.get(client_id, ()) for client_id in consumers}
    if scales is None:
        return skew_of(len(queues) for queues in shares.values())
    return skew_of(
        scales.weight(queues) / scales.capacity(client_id) for client_id, queues in shares.items()
    )


def _skews(skews: tuple[Skew, Skew]) -> dict[str, Any]:
    before, after = skews
    return {"before": before.document(), "after": after.document()}
