"""Plans and their application for the pages, worked out and carried out as the commands do it."""

import time
from dataclasses import replace
from typing import Any, Final

from fairlead.console.plan_bodies import ApplyBody
from fairlead.core.model import Epoch
from fairlead.errors import FairleadError, Words, over_http
from fairlead.gateway.operations import Document, Operator
from fairlead.gateway.operator_problems import problem_of
from fairlead.gateway.operator_requests import PlanBody
from fairlead.gateway.plan_request import PlanRequest
from fairlead.http.problems import Problem
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.operating.applied_plan import OVERTAKEN, AppliedPlan, PlanInForce
from fairlead.operating.offline_topics import OpenData
from fairlead.operating.plan_application import PlanApplication
from fairlead.operating.plan_start import GroupReader, live_group
from fairlead.operating.plans import work_out
from fairlead.operating.rule_answers import UNANSWERED
from fairlead.operating.rule_changes import OperatedGroup, Signature
from fairlead.planning.plan_command import plan_command
from fairlead.planning.saved_plan import SavedPlan, moves_of
from fairlead.settings import Settings

__all__ = ["PlanOperations"]

_ACCEPTED: Final = 202
_DRY_RUN: Final = 'a dry run: nothing is written; "dry_run": false writes it'


class PlanOperations:
    """Plans and applies; each call talks to Kafka for seconds, on a thread of its own.

    Args:
        settings: the settings.
        open_data: connects to the cluster with the messages; None: there is none.
    """

    def __init__(self, settings: Settings, open_data: OpenData | None) -> None:
        self._settings, self._open_data = settings, open_data

    def plan(
        self, group: str, body: PlanBody, operator: Operator, *, may_operate: bool
    ) -> Document | Problem:
        """Return what a change would move, and what is needed to apply it.

        ``may_operate``: whether the caller may apply it.
        """
        request = PlanRequest.of(group, body)
        if isinstance(request, Problem):
            return request
        try:
            start = self._reader(group, request).read_dated()
            result = work_out(start.planned, request.changes(start.planned, start.topics))
        except FairleadError as error:
            return problem_of(error, request.wanted, operator.may_see)
        remarks = (*map(over_http, start.remarks), *result.remarks)
        shown = replace(result, passing=start.passing, remarks=remarks)
        moves = [
            {"queue": [*move.queue], "from": move.holder, "to": move.successor}
            for move in moves_of(result)
        ]
        guard = {
            "epoch": None if start.epoch is None else [*start.epoch],
            "moves": moves,
            "command": plan_command(group, request.asked),
            "may_operate": may_operate,
        }
        return Document({**shown.to_json(), **guard})

    def apply(self, group: str, body: ApplyBody, operator: Operator) -> Document | Problem:
        """Write the rules of a plan, if the group is still as planned, as `fairlead apply` does."""
        request = PlanRequest.of(group, body)
        if isinstance(request, Problem):
            return request
        wait_s = None if body.dry_run else body.wait_ms / 1_000
        try:
            reader = self._reader(group, request)
            operated = OperatedGroup.read(group, self._settings)
            live, topics = live_group(reader)
            saved = SavedPlan(
                group,
                None if body.epoch is None else Epoch(*body.epoch),
                time.time_ns() // 1_000_000,
                request.changes(live.planned, topics),
                body.shown(),
            )
            signed = Signature(operator.name, body.because)
            application = PlanApplication(
                saved, operated, reader.source, signed, absent_ok=body.absent_ok
            )
            done = application.run(lambda: live, wait_s)
        except FairleadError as error:
            return problem_of(error, request.wanted, operator.may_see)
        if isinstance(done, PlanInForce):
            return Document(done.to_json())
        return _answer(done, request, wait_s)

    def _reader(self, group: str, request: PlanRequest) -> GroupReader:
        source = KafkaSource(self._settings.kafka)
        return GroupReader(group, source, self._settings, self._open_data, request.is_measured)


def _answer(done: AppliedPlan, request: PlanRequest, wait_s: float | None) -> Document | Problem:
    """Return what came of a plan; 202 if it stands in the log, and no engine has answered."""
    document: dict[str, Any] = done.to_json()
    judged, failure = done.judged(wait_s or 0)
    notes: list[Words] = [*done.notes, *judged, *([_DRY_RUN] if done.dry_run else [])]
    said = tuple(map(over_http, notes))
    if failure is None:
        return Document(document, said)
    words = " ".join(failure.over_http)
    if failure.kind == UNANSWERED:
        return Document(document, (*said, words), _ACCEPTED)
    if failure.kind == OVERTAKEN:
        # The rules are in force all the same; the document says what came in between.
        return Document(document, (*said, words))
    return problem_of(failure, request.wanted, outcomes=document["outcomes"])
