"""Members that disagree: the values that a group keeps, and who has another one.

In RocketMQ whichever member heartbeats last overwrites what its group subscribes to
(ConsumerGroupInfo#updateSubscription) and how it consumes (#updateChannel). Here the longest
standing member establishes a value, which stands while any member has it. A member with another
value gets one notice for each value of its own, and an alarm stands while it is there. Nothing else
happens to it.

ADR 0145 gives the reasons.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.membership.members import absent_members, effective_members, notice_to
from fairlead.core.model import MemberProfile, Subscription
from fairlead.core.ordering import java_order
from fairlead.core.state import GroupState, Member, Trait, TraitValue

__all__ = [
    "SUBSCRIPTION_DISAGREEMENT",
    "Difference",
    "any_odd",
    "compared",
    "differences",
    "kept_profile",
    "notify_disagreements",
    "traits_of",
]

SUBSCRIPTION_DISAGREEMENT: Final = "subscription_disagreement"
"""The alarm that a member differs from its group, and the notice to that member."""

MESSAGE_MODEL: Final = Trait("message_model")
CONSUME_FROM: Final = Trait("consume_from")
ORDERED: Final = Trait("ordered")
EXPRESSION: Final = "expression"
"""The name of the trait of each topic: which of its messages are wanted."""

_MESSAGE_MAX: Final = 300
_REMEDY: Final = "; give all members of a group the same"


@dataclass(frozen=True, slots=True)
class Difference:
    """A member has another value than its group."""

    trait: Trait
    own: TraitValue
    kept: TraitValue

    @property
    def name(self) -> str:
        """The trait in words, such as ``expression of orders``."""
        topic = self.trait.topic
        return f"{self.trait.name} of {topic}" if topic else self.trait.name

    @property
    def mark(self) -> str:
        """The trait and a hash of the member's own value: marks what a notice has said."""
        own = compared(self.trait, self.own)
        return f"{self.name} {sha256(worded(own).encode()).hexdigest()[:16]}"

    @property
    def text(self) -> str:
        """The difference in words."""
        return f"{self.name} is {worded(self.own)}, its group's {worded(self.kept)}"


def worded(value: TraitValue) -> str:
    """Return a value as people write it."""
    kind, *more = value
    if kind == "tag":
        return f"tag {'||'.join(map(str, more)) or '*'}"
    return " ".join(str(word).lower() if isinstance(word, bool) else str(word) for word in value)


def traits_of(member: Member) -> dict[Trait, TraitValue]:
    """Return a member's value of every trait."""
    profile = member.profile
    begins: TraitValue = (profile.consume_from,)
    if profile.consume_from == "timestamp":
        begins = (profile.consume_from, profile.consume_timestamp_ms)
    return {
        MESSAGE_MODEL: (profile.message_model,),
        CONSUME_FROM: begins,
        ORDERED: (profile.ordered,),
        **{Trait(EXPRESSION, each.topic): _wanted(each) for each in member.subscriptions},
    }


def _wanted(subscription: Subscription) -> TraitValue:
    """Return which messages a subscription wants; the order of tags does not matter.

    Source: FilterAPI#buildSubscriptionData: tags stand between ``||``; ``*`` and nothing are all.
    """
    if subscription.expression_type != "tag":
        return subscription.expression_type, subscription.expression
    named = subscription.tags or subscription.expression.split("||")
    tags = {tag.strip() for tag in named} - {""}
    return ("tag",) if "*" in tags else ("tag", *sorted(tags))


def notify_disagreements(draft: Draft, before: GroupState | None) -> None:
    """Establish what the group keeps, and notify each member once of every difference.

    ``before`` is the group before this step: unless members came, went or changed, there is nothing
    to do. In a barrier this waits, as the engine may not have heard every member.
    """
    state = draft.state
    same = before is not None and (before.members, before.awaited, before.barrier) == (
        state.members,
        state.awaited,
        state.barrier,
    )
    if state.barrier is not None or (same and bool(state.established) == bool(state.members)):
        return
    state.established = _established(state)
    for _, member in sorted(effective_members(state.members).items()):
        now = differences(state, member)
        marks = {each.mark for each in now}
        # A difference that is over may come back, and gets a notice again then.
        told = tuple(mark for mark in member.told_odd if mark in marks)
        untold = [each for each in now if each.mark not in told]
        if not untold:
            if told != member.told_odd:
                draft.update_member(member, told_odd=told)
            continue
        draft.counts["member", "disagrees"] += 1
        message = _message(untold)
        draft.notices.append(notice_to(draft, member.key, SUBSCRIPTION_DISAGREEMENT, message))
        fresh = tuple(each.mark for each in untold)
        draft.update_member(member, told_odd=(*told, *fresh))


def _message(untold: Iterable[Difference]) -> str:
    text = "; ".join(each.text for each in untold)
    room = _MESSAGE_MAX - len(_REMEDY)
    return (text if len(text) <= room else text[: room - 1] + "…") + _REMEDY


def _established(state: GroupState) -> dict[Trait, TraitValue]:
    """Return the values that the group keeps: the old ones, while some member has them.

    Otherwise the value of the longest standing member counts. An awaited client counts, too.
    """
    held: dict[Trait, list[TraitValue]] = {}
    for member in _by_standing(state):
        for trait, value in traits_of(member).items():
            held.setdefault(trait, []).append(value)
    return {
        trait: kept if (kept := state.established.get(trait)) in values else values[0]
        for trait, values in held.items()
        if values
    }


def _by_standing(state: GroupState) -> list[Member]:
    """Return the members that count in the order in which they joined, then by client id."""
    members = {**absent_members(state), **effective_members(state.members)}.values()
    return sorted(members, key=lambda each: (each.joined_ms, java_order(each.key.client_id)))


def differences(state: GroupState, member: Member) -> tuple[Difference, ...]:
    """Return the traits in which a member differs from its group, in a fixed order."""
    return tuple(
        Difference(trait, own, state.established[trait])
        for trait, own in sorted(traits_of(member).items())
        if compared(trait, state.established.get(trait, own)) != compared(trait, own)
    )


def compared(trait: Trait, value: TraitValue) -> TraitValue:
    """Return the part of a value that members must share.

    The time of `consume_from` is no part: by default it counts from each process's own start.
    """
    return value[:1] if trait == CONSUME_FROM else value


def any_odd(state: GroupState) -> bool:
    """Tell whether some effective member differs from its group."""
    members = effective_members(state.members).values()
    return any(differences(state, member) for member in members)


def kept_profile(state: GroupState, profile: MemberProfile) -> MemberProfile:
    """Return a profile with the group's place to begin."""
    begins = state.established.get(CONSUME_FROM)
    if begins is None:
        return profile
    consume_from, *timestamp = begins
    timestamp_ms = timestamp[0] if timestamp else profile.consume_timestamp_ms
    return replace(profile, consume_from=consume_from, consume_timestamp_ms=timestamp_ms)  # type: ignore[arg-type]  # as they were taken from a profile
