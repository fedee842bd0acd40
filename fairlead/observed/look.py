"""A group in full, as one look at everything that is known of it."""

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead.observed.group_metrics import figures_of
from fairlead.observed.group_view import GroupView, MemberView, QueueView
from fairlead.observed.members import Heard
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.positions import Measure

__all__ = ["look_at"]


def look_at(group: ObservedGroup, history_ms: int, now_ms: int | None = None) -> GroupView:
    """Return a group as it is now, with the decisions of so long."""
    figures = figures_of(group, history_ms, now_ms)
    heard = group.members.remembered(group.around.clock_ms(group.name))
    members = sorted(heard.keys() | group.told.sets.keys(), key=_in_order)
    return GroupView(
        summary=figures.summary,
        topics=figures.topics,
        members=tuple(_member(group, member, heard.get(member)) for member in members),
        queues=tuple(_queue(group, queue) for queue in sorted(_queues(group), key=queue_order)),
        decisions=tuple(group.decisions(history_ms)),
        in_force=group.around.ruled.of(group.name),
    )


def _in_order(member: MemberKey) -> tuple[bytes, str]:
    return java_order(member.client_id), member.incarnation


def _queues(group: ObservedGroup) -> set[MessageQueue]:
    """Return what anybody holds, what its topics have and, if nobody is there, what it had read."""
    standing = group.standing()
    found = {*group.holds.queues, *(queue for each in standing.queues.values() for queue in each)}
    if not standing.roll.members:
        found.update(queue for queue in group.measured.queues if queue.topic in standing.queues)
    return found


def _member(group: ObservedGroup, member: MemberKey, heard: Heard | None) -> MemberView:
    told = group.told.sets.get(member)
    entries = () if told is None else told.entries
    in_order = tuple(sorted(entries, key=lambda entry: queue_order(entry.queue)))
    owned = group.holds.owned.get(member, 0)
    if heard is None:
        return MemberView(member=member, told=in_order, owned=owned)
    profile = heard.member.profile
    return MemberView(
        member=member,
        live=group.members.is_live(heard, group.around.clock_ms(group.name), group.rules),
        leaving=heard.member.leaving,
        heard_ms=heard.heard_ms,
        address=profile.address,
        language=profile.language,
        version=profile.version,
        zone=profile.zone,
        model=profile.message_model,
        consume_type=profile.consume_type,
        capacity=profile.capacity,
        lease_ms=profile.lease_ms,
        subscriptions=heard.member.subscriptions,
        applied=heard.applied,
        settled=group.is_settled(heard),
        told=in_order,
        owned=owned,
    )


_NOT_MEASURED = Measure()


def _queue(group: ObservedGroup, queue: MessageQueue) -> QueueView:
    hold = group.holds.queues.get(queue)
    tenure = group.decided.tenures.get(queue)
    if hold is None or (tenure is not None and tenure.epoch != hold.epoch):
        tenure = None
    measure = group.measured.queues.get(queue, _NOT_MEASURED)
    polled = group.around.polled.get(queue)
    lag = measure.lag(group.around.as_of_ms)
    return QueueView(
        queue=queue,
        state="unassigned" if hold is None else hold.state,
        owner=None if hold is None else hold.owner,
        holder=None if hold is None else hold.holder,
        also=() if hold is None else hold.also,
        epoch=None if hold is None else hold.epoch,
        since_ms=None if tenure is None else tenure.since_ms,
        decision=None if tenure is None else tenure.decision,
        decided_ms=None if tenure is None else tenure.decided_ms,
        position=measure.position,
        end=measure.end(polled),
        lag_messages=None if lag is None else lag.messages,
        lag_seconds=None if lag is None else lag.seconds,
        lag_at_least=lag is not None and lag.at_least,
        idle_ms=measure.idle_ms,
    )
