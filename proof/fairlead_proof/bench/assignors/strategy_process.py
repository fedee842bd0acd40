"""Runs our strategies over groups: one group per line of JSON in, its answer out, in order.

The counterpart of AssignorProcess.java, a process of its own for the same reason: a run can be
ended from outside, and no contestant finds the heap that another one left.
"""

import gc
import sys
import time
from typing import Any, Final

import orjson

from fairlead.core.allocation import Allocation, AllocationRequest, Strategy
from fairlead_proof.bench.assignors.group import NOBODY, Group, member_names, topic_names
from strategies.registry import STRATEGIES

_SIGN_OF_LIFE_SECONDS: Final = 0.2


def main() -> None:
    """Answer each line of the standard input."""
    for line in sys.stdin.buffer:
        asked = orjson.loads(line)
        group = Group.read(asked)
        request = group.request()
        _say({"ready": 1})
        contest = _Contest(asked)
        allocation = contest.run(STRATEGIES[asked["contestant"]], request)
        _say({**contest.answer, "owners": owners_by_number(group, allocation)})


def _say(document: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(document) + b"\n")
    sys.stdout.buffer.flush()


def owners_by_number(group: Group, allocation: Allocation) -> list[list[int]]:
    """Return the owners by number, in the order of topics and queues."""
    number = {name: place for place, name in enumerate(member_names(len(group.members)))}
    topic_number = {name: place for place, name in enumerate(topic_names(len(group.topics)))}
    numbered = [[NOBODY] * count for count in group.topics]
    for topic, shares in allocation.topics.items():
        owners = numbered[topic_number[topic]]
        for client_id, queues in shares.items():
            for queue in queues:
                owners[queue.queue_id] = number[client_id]
    return numbered


class _Contest:
    """Runs a strategy until it is warm, and then until enough runs were timed."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.answer: dict[str, Any] = {"warm_ups": 0, "clock_ns": [], "processor_ns": []}
        self._warm_up_ns = asked["warm_up_ms"] * 1_000_000
        self._measure_ns = asked["measure_ms"] * 1_000_000
        self._runs_min = asked["runs_min"]
        self._said = time.monotonic()

    def run(self, strategy: Strategy, request: AllocationRequest) -> Allocation:
        """Return the first answer."""
        begun = time.perf_counter_ns()
        while time.perf_counter_ns() - begun < self._warm_up_ns:
            strategy.allocate(request)
            self.answer["warm_ups"] += 1
            self._live()
        clock, processor = self.answer["clock_ns"], self.answer["processor_ns"]
        result: Allocation | None = None
        begun = time.perf_counter_ns()
        while len(clock) < self._runs_min or time.perf_counter_ns() - begun < self._measure_ns:
            # The last answer is garbage by now, and not this run's.
            gc.collect()
            processor_begun, run_begun = time.thread_time_ns(), time.perf_counter_ns()
            latest = strategy.allocate(request)
            clock.append(time.perf_counter_ns() - run_begun)
            processor.append(time.thread_time_ns() - processor_begun)
            result = result or latest
            self._live()
        assert result is not None
        return result

    def _live(self) -> None:
        """Whoever waits takes a long silence for a run that goes beyond its limit."""
        if time.monotonic() - self._said > _SIGN_OF_LIFE_SECONDS:
            _say({"alive": 1})
            self._said = time.monotonic()


if __name__ == "__main__":
    main()
