"""What operators ask for over HTTP, carried out as the commands do it.

Each method talks to Kafka for seconds, so it runs on a thread of its own.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from fairlead.control.control_session import ControlSession
from fairlead.control.kafka_plane import KafkaPlane
from fairlead.control.rule_json import rules_json
from fairlead.control.wanted_rules import OF_CLIENTS, completed
from fairlead.core.model import MessageQueue
from fairlead.core.records import RuleSet
from fairlead.core.rules.single_rules import SINGLE_RULES
from fairlead.errors import FairleadError, Words, over_http
from fairlead.gateway.operator_problems import bad_field, problem_of
from fairlead.gateway.operator_requests import (
    ChangeBody,
    DrainBody,
    PauseBody,
    PlanBody,
    RemovalBody,
    ResetBody,
    RulesBody,
    UndrainBody,
)
from fairlead.gateway.plan_request import PlanRequest, bad_rules, subject_in
from fairlead.http.problems import Problem
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.observed.group_offsets import GroupOffsets
from fairlead.operating.offline_topics import OpenData
from fairlead.operating.plan_start import GroupReader
from fairlead.operating.plans import work_out
from fairlead.operating.presence import require_known
from fairlead.operating.resets import reset_positions, target_of
from fairlead.operating.rule_answers import UNANSWERED, failure_of_resets
from fairlead.operating.rule_changes import (
    Allowed,
    DoneRules,
    OperatedGroup,
    Signature,
    idle_note,
    pause_note,
    refused_notes,
)
from fairlead.settings import Settings

__all__ = ["Document", "Operations", "Operator"]

_ACCEPTED: Final = 202
_DRY_RUN: Final = 'a dry run: nothing is written; "dry_run": false writes it'
_NUMBER: Final = re.compile("[0-9]{1,10}")


class Document(NamedTuple):
    """An answer: the document of the command, and what that writes beside it."""

    document: Any
    notes: tuple[str, ...] = ()
    status: int = 200


class Operator(NamedTuple):
    """Who asks. ``may_see``: tells whether the caller may know a group."""

    name: str
    may_see: Callable[[str], bool]


class Operations:
    """Carries out what operators ask for.

    Args:
        settings: the settings.
        open_data: connects to the cluster with the messages.
    """

    def __init__(self, settings: Settings, open_data: OpenData) -> None:
        self._settings, self._open_data = settings, open_data

    def plan(self, group: str, body: PlanBody, operator: Operator) -> Document | Problem:
        """Return what a change would move, as `fairlead plan` does."""
        request = PlanRequest.of(group, body)
        if isinstance(request, Problem):
            return request
        reader = GroupReader(
            group,
            KafkaSource(self._settings.kafka),
            self._settings,
            self._open_data,
            request.is_measured,
        )
        try:
            start = reader.read()
            result = work_out(start.planned, request.changes(start.planned, start.topics))
        except FairleadError as error:
            return problem_of(error, request.wanted, operator.may_see)
        remarks = (*map(over_http, start.remarks), *result.remarks)
        shown = replace(result, passing=start.passing, remarks=remarks)
        return Document(shown.to_json())

    def rules(self, group: str, body: None, operator: Operator) -> Document | Problem:
        """Return the rules in force, as `fairlead group show` does."""
        del body
        settings = self._settings
        try:
            present = OperatedGroup.read(group, settings).session.present
            if not present.of(group):
                source, tick_ms = KafkaSource(settings.kafka), settings.engine.tick_ms
                require_known(group, source, present.strategies, tick_ms)
        except FairleadError as error:
            return problem_of(error, (), operator.may_see)
        notes = (*refused_notes(present), *idle_note(present))
        return Document(list(rules_json(present)), _told(notes))

    def set_rules(self, group: str, body: RulesBody, operator: Operator) -> Document | Problem:
        """Set rules, as `fairlead group set` does."""
        wrong = bad_rules(body.rules)
        if wrong is not None:
            return wrong
        wanted = [RuleSet(group, each.rule, subject_in(each), each.value) for each in body.rules]
        allowed = Allowed(body.new_group, body.absent_ok, body.released_ok, body.leave_unread)
        return self._change(_Change(group, wanted, allowed, listed=True), body, operator)

    def remove_rule(
        self, group: str, body: RemovalBody, operator: Operator, rule: str, subject: str
    ) -> Document | Problem:
        """Remove a rule, as `fairlead group unset` does."""
        named = _named(rule, subject)
        if isinstance(named, Problem):
            return named
        allowed = Allowed(released_ok=body.released_ok)
        gone = [RuleSet(group, rule, named, None)]
        return self._change(_Change(group, gone, allowed, removing=True), body, operator)

    def drain(self, group: str, body: DrainBody, operator: Operator) -> Document | Problem:
        """Let a client give up all its queues, as `fairlead group drain` does."""
        drained = [RuleSet(group, "drain", (body.client_id,), {"client_id": body.client_id})]
        allowed = Allowed(
            body.new_group, body.absent_ok, released_ok=False, leave_unread=body.leave_unread
        )
        return self._change(_Change(group, drained, allowed), body, operator)

    def undrain(self, group: str, body: UndrainBody, operator: Operator) -> Document | Problem:
        """Let a drained client own queues again, as `fairlead group undrain` does."""
        rules = [RuleSet(group, "drain", (body.client_id,), None)]
        return self._change(_Change(group, rules, Allowed(), removing=True), body, operator)

    def pause(self, group: str, body: PauseBody, operator: Operator) -> Document | Problem:
        """Stop rebalancing, as `fairlead group pause` does."""
        rules = [RuleSet(group, "pause", (), True)]  # noqa: FBT003 - the rule's value
        allowed = Allowed(body.new_group, absent_ok=True)
        return self._change(_Change(group, rules, allowed), body, operator)

    def resume(self, group: str, body: ChangeBody, operator: Operator) -> Document | Problem:
        """End a pause, as `fairlead group resume` does."""
        rules = [RuleSet(group, "pause", (), None)]
        return self._change(_Change(group, rules, Allowed(), removing=True), body, operator)

    def reset_offsets(self, group: str, body: ResetBody, operator: Operator) -> Document | Problem:
        """Let a group go on from other positions, as `fairlead offsets reset` does."""
        wait_s = _wait_s(body)
        kafka = self._settings.kafka
        queues = [MessageQueue(*each) for each in dict.fromkeys(body.queues)]
        try:
            target = target_of(body.to)
            with self._open_data() as data:
                offsets = GroupOffsets(KafkaSource(kafka), KafkaPlane(data), group)
                if not body.new_group:
                    offsets.require_known()
                places = offsets.places(body.topics, queues, target.timestamps)
            signed = Signature(operator.name, body.because)
            done = reset_positions(group, places, target, signed, kafka, wait_s=wait_s)
        except FairleadError as error:
            return problem_of(error, (), operator.may_see)
        failure = failure_of_resets(done.outcomes, wait_s or 0)
        notes = [_DRY_RUN] if body.dry_run else []
        return _answered(done.to_json(), notes, failure)

    def _change(
        self, change: "_Change", body: ChangeBody, operator: Operator
    ) -> Document | Problem:
        rules = change.rules
        try:
            group = OperatedGroup.read(change.group, self._settings)
            notes = [*_own_notes(change, group.session)]
            if change.listed:
                present = group.session.present
                rules = completed(rules, present.values_of(change.group), present.rules.strategy)
            done: DoneRules = group.change(
                rules,
                Signature(operator.name, body.because),
                change.allowed,
                _wait_s(body),
                removing=change.removing,
            )
        except FairleadError as error:
            return problem_of(error, rules, operator.may_see, listed=change.listed)
        said = [*notes, *done.notes, *([_DRY_RUN] if body.dry_run else [])]
        return _answered(done.to_json(), said, done.failure, change)


class _Change(NamedTuple):
    """A change of rules. ``listed``: the request lists them; ``removing``: they only remove."""

    group: str
    rules: Sequence[RuleSet]
    allowed: Allowed
    listed: bool = False
    removing: bool = False


def _own_notes(change: _Change, session: ControlSession) -> Sequence[Words]:
    is_resume = change.removing and change.rules[0].rule == "pause"
    return [*pause_note(change.group, session.present)] if is_resume else []


def _wait_s(body: ChangeBody) -> float | None:
    return None if body.dry_run else body.wait_ms / 1_000


def _told(notes: Sequence[Words]) -> tuple[str, ...]:
    return tuple(map(over_http, notes))


def _answered(
    document: list[Any],
    notes: Sequence[Words],
    failure: FairleadError | None,
    change: _Change | None = None,
) -> Document | Problem:
    """Return the document of a change; 202 if it stands in the log, and no engine has answered."""
    if failure is None:
        return Document(document, _told(notes))
    if failure.kind == UNANSWERED:
        return Document(document, (*_told(notes), " ".join(failure.over_http)), _ACCEPTED)
    if change is None:
        return problem_of(failure, outcomes=document)
    return problem_of(failure, change.rules, listed=change.listed, outcomes=document)


def _named(rule: str, subject: str) -> tuple[str, ...] | Problem:
    """Return the subject of a rule in a path."""
    if rule not in SINGLE_RULES:
        if subject:
            return bad_field("subject", f"{rule} is of the whole group", "Leave it out.")
        return ()
    if rule in OF_CLIENTS:
        if not subject:
            return bad_field("subject", f"{rule} is of a client", f"Ask for {rule}/CLIENT.")
        return (subject,)
    topic, _, rest = subject.partition("/")
    broker_name, _, number = rest.rpartition("/")
    if not broker_name or _NUMBER.fullmatch(number) is None:
        says = f"{subject[:80]!r} is no queue"
        return bad_field("subject", says, f"Ask for {rule}/TOPIC/BROKER/NUMBER.")
    return topic, broker_name, str(int(number))
