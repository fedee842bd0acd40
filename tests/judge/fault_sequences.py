"""Answers the tests' own kind `fault_strategy` with the client's classes, step by step."""

from typing import Any

from fairlead_client.model import Queue
from fairlead_client.produce.latency_table import LatencyTable, latency_table
from fairlead_client.produce.queue_selection import NoQueueError
from fairlead_client.rocketmq.fault_strategy import (
    Candidates,
    select_with_latency_4_3,
    select_with_latency_4_9,
    select_with_latency_5,
)
from fairlead_client.rocketmq.latency_tolerance import LatencyTolerance4, LatencyTolerance5
from fairlead_client.rocketmq.route_reading import read_topic_route

from tests.judge.cases import Case


def answered(case: Case) -> Case:
    """Return what the judge returns to the same case."""
    sequence = _Sequence5(case) if case["version"] == "5" else _Sequence4(case)
    try:
        return {"id": case["id"], "result": [sequence.step(*step) for step in case["steps"]]}
    except NoQueueError as error:
        return {"id": case["id"], "error": {"code": "queues_empty", "message": str(error)}}


class _Sequence:
    tolerance: LatencyTolerance4 | LatencyTolerance5

    def __init__(self, case: Case) -> None:
        table = latency_table(case["version"])
        self.version = case["version"]
        self.table = LatencyTable(
            table.latency_max,
            [duration * case["scale"] for duration in table.not_available],
            table.isolation_latency,
        )
        self.queues = [Queue(*queue) for queue in case["queues"]]
        self.shares = read_topic_route(case["route"]).queue_datas
        self.index, self.worst_index = case["start_index"], case["worst_index"]
        self.now_ms = 0

    def step(self, kind: str, *arguments: Any) -> Any:
        match kind:
            case "update":
                self.update(*arguments)
            case "remove":
                self.tolerance.remove(*arguments)
            case "advance":
                self.now_ms += arguments[0]
            case "available":
                return self.tolerance.is_available(arguments[0], self.now_ms)
            case "reachable":
                return self.tolerance.is_reachable(arguments[0])
            case "select":
                return self.select(*arguments)
        return None

    def update(self, broker: str, latency_ms: int, isolation: Any, reachable: Any) -> None:
        raise NotImplementedError

    def select(self, last_broker: str | None) -> list[Any]:
        raise NotImplementedError


class _Sequence4(_Sequence):
    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.tolerance: LatencyTolerance4 = LatencyTolerance4()

    def update(self, broker: str, latency_ms: int, isolation: Any, _reachable: Any) -> None:
        duration = self.table.not_available_ms(latency_ms, isolation=isolation)
        self.tolerance.update(broker, latency_ms, duration, now_ms=self.now_ms)

    def select(self, last_broker: str | None) -> list[Any]:
        candidates = Candidates(self.queues, self.shares)
        if self.version == "4.3":
            found = select_with_latency_4_3(
                candidates,
                self.index,
                last_broker,
                self.tolerance,
                worst_index=self.worst_index,
                now_ms=self.now_ms,
            )
        else:
            found = select_with_latency_4_9(
                candidates,
                self.index,
                self.tolerance,
                worst_index=self.worst_index,
                now_ms=self.now_ms,
            )
        queue, self.index, self.worst_index = found
        return [list(queue), self.index, self.worst_index]


class _Sequence5(_Sequence):
    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.tolerance: LatencyTolerance5 = LatencyTolerance5()

    def update(self, broker: str, latency_ms: int, isolation: Any, reachable: Any) -> None:
        duration = self.table.not_available_ms(latency_ms, isolation=isolation)
        self.tolerance.update(broker, latency_ms, duration, reachable=reachable, now_ms=self.now_ms)

    def step(self, kind: str, *arguments: Any) -> Any:
        if kind != "detect":
            return super().step(kind, *arguments)
        answering, known = arguments
        for broker in self.tolerance.due(self.now_ms):
            if broker not in known:
                self.tolerance.remove(broker)
            elif broker in answering:
                self.tolerance.detected(broker)
        return None

    def select(self, last_broker: str | None) -> list[Any]:
        queue, self.index = select_with_latency_5(
            self.queues, self.index, last_broker, self.tolerance, now_ms=self.now_ms
        )
        return [list(queue), self.index]
