"""What a request plans, checked and read as changes of a group: for plans, and to apply them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from fairlead.control.wanted_rules import subject_of
from fairlead.core.records import RuleSet
from fairlead.core.rules.single_rules import SINGLE_RULES
from fairlead.gateway.operator_problems import bad_field
from fairlead.gateway.operator_requests import PlanBody, PlannedJoinBody, RuleBody
from fairlead.http.problems import Problem
from fairlead.observed.planned_group import PlannedGroup
from fairlead.operating.plans import planned_rules
from fairlead.planning.changes import Changes, Join, RouteSize, bad_join

__all__ = ["PlanRequest", "bad_rules", "subject_in"]

_REMOVE: Final = "DELETE /v1/groups/{group}/rules/{rule} removes a rule."


class PlanRequest(NamedTuple):
    """What would change.

    Attributes:
        body: the request.
        wanted: the rules that are set, as they are asked for.
        gone: the rules that are removed.
    """

    body: PlanBody
    wanted: tuple[RuleSet, ...]
    gone: tuple[RuleSet, ...]

    @classmethod
    def of(cls, group: str, body: PlanBody) -> "PlanRequest | Problem":
        """Read a request, or return why it is refused."""
        wrong = _bad_plan(body)
        if wrong is not None:
            return wrong
        return cls(
            body,
            tuple(RuleSet(group, each.rule, subject_in(each), each.value) for each in body.rules),
            tuple(RuleSet(group, each.rule, each.subject or (), None) for each in body.unset),
        )

    @property
    def is_measured(self) -> bool:
        """Whether it asks for what queues weigh, so that somebody has to read that."""
        return any(
            rule.rule == "weighing" and isinstance(rule.value, dict) and "by" in rule.value
            for rule in self.wanted
        )

    @property
    def asked(self) -> Changes:
        """The changes as they are asked for."""
        body = self.body
        return Changes(
            joins=tuple(_join(each, ()) for each in body.joins),
            leaves=body.leaves,
            routes=tuple(
                RouteSize(each.topic, each.broker_name, each.queues) for each in body.routes
            ),
            rules=(*self.wanted, *self.gone),
        )

    def changes(self, planned: PlannedGroup, topics: tuple[str, ...]) -> Changes:
        """Return the changes as the engine will read them.

        Args:
            planned: the group.
            topics: what clients that join a group without members subscribe to.

        Raises:
            UsageError: the engine would refuse a rule.
        """
        asked = self.asked
        return Changes(
            joins=tuple(_join(each, topics) for each in self.body.joins),
            leaves=asked.leaves,
            routes=asked.routes,
            rules=planned_rules(planned, self.wanted, self.gone),
        )


def subject_in(body: RuleBody) -> tuple[str, ...]:
    """Return whom a rule is for; `bad_rules` has checked that its value says it."""
    return subject_of(body.rule, body.value)


def bad_rules(rules: Sequence[RuleBody]) -> Problem | None:
    """Return what is wrong with the subjects of rules; the engine's functions check the rest."""
    for index, each in enumerate(rules):
        place = f"rules[{index}]"
        if each.value is None:
            return bad_field(f"{place}.value", "it is null", _REMOVE)
        try:
            subject = subject_in(each)
        except ValueError as error:
            field, _, says = str(error).partition(": ")
            return bad_field(f"{place}.{field}", says, "docs/protocol.md, section 3.10, has it.")
        if each.subject is not None and each.subject != subject:
            says = f"the value is for {'/'.join(subject) or 'the whole group'}"
            return bad_field(f"{place}.subject", says, "Correct one of them, or leave it out.")
    return None


def _bad_plan(body: PlanBody) -> Problem | None:
    for index, each in enumerate(body.joins):
        wrong = bad_join(_join(each, ()))
        if wrong is not None:
            return bad_field(f"joins[{index}].{wrong[0]}", wrong[1], "Correct it.")
    for index, gone in enumerate(body.unset):
        if (gone.rule in SINGLE_RULES) != (gone.subject is not None):
            of = "one queue or client" if gone.rule in SINGLE_RULES else "the whole group"
            return bad_field(f"unset[{index}].subject", f"{gone.rule} is of {of}", "Correct it.")
    return bad_rules(body.rules)


def _join(body: PlannedJoinBody, topics: tuple[str, ...]) -> Join:
    return Join(body.client_id, body.topics or topics or None, body.zone, body.capacity)
