"""How many queues a producer's selector chooses in a second, on one core.

    python -m benchmarks.selection --check

Each row is the selector as producers call it, lock included; its time is the thread's own processor
time, so that it hardly depends on what else the machine does. Of several rounds the median counts.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fairlead_client.model import Queue
from fairlead_client.produce.broker_health import BrokerHealth
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.queue_selection import select_queue
from fairlead_client.produce.selector import FairSelector
from fairlead_client.produce.target import Target
from fairlead_client.rocketmq.fault_strategy import select_with_latency_5
from fairlead_client.rocketmq.latency_tolerance import LatencyTolerance5

REQUIRED: Final = 100_000
"""Selections a second and core."""
SIZES: Final = (3, 30, 300)
_BROKERS_MAX: Final = 30
_CALLS: Final = 20_000
_ROUNDS: Final = 5
Choose = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured: a name, how many queues there are, and selections a second."""

    name: str
    queues: int
    per_second: float


def targets_of(queues: int) -> list[Target]:
    """Return so many queues, shared evenly by at most 30 brokers."""
    brokers = min(queues, _BROKERS_MAX)
    return [
        Target(Queue("orders", f"broker-{number % brokers}", number), f"broker-{number % brokers}")
        for number in range(queues)
    ]


def cases(queues: int) -> dict[str, Choose]:
    """Return what is measured with so many queues: each takes the number of the call."""
    targets = targets_of(queues)
    plain = FairSelector(BrokerHealth(), avoid=False)
    calm, troubled, stormy = (FairSelector(BrokerHealth()) for _ in range(3))
    turns = {name: FairRoundRobin(targets, 0) for name in ("plain", "calm", "troubled", "stormy")}
    troubled.failed("broker-0", 1, reachable=False, now_ms=0)
    retried = ("broker-1",)

    def storm(number: int) -> None:
        """Every tenth message is slow, and is tried again elsewhere."""
        target = stormy.select(turns["stormy"], (), number)
        assert target.broker is not None
        if number % 10 == 0:
            stormy.failed(target.broker, 600, reachable=True, now_ms=number)
            stormy.select(turns["stormy"], (target.broker,), number)
        else:
            stormy.succeeded(target.broker, 5, now_ms=number)

    tolerance = LatencyTolerance5()
    tolerance.update("broker-0", 1, 10_000, reachable=False, now_ms=0)
    rows = [target.queue for target in targets]
    return {
        "fair, avoidance off": lambda number: plain.select(turns["plain"], (), number),
        "fair, avoidance on": lambda number: calm.select(turns["calm"], (), number),
        "fair, a broker avoided": lambda _: troubled.select(turns["troubled"], (), 1),
        "fair, a broker avoided, second attempt": lambda _: troubled.select(
            turns["troubled"], retried, 1
        ),
        "fair, every tenth sending fails": storm,
        "RocketMQ 4.9, latency off": lambda number: select_queue("4.9", rows, number, None),
        "RocketMQ 5, latency on, a broker avoided": lambda number: select_with_latency_5(
            rows, number, None, tolerance, now_ms=1
        ),
    }


def measure(name: str, queues: int, choose: Choose) -> Row:
    """Return the median speed of several rounds, after one to warm up."""
    speeds = []
    for _ in range(_ROUNDS + 1):
        begun = time.thread_time()
        for number in range(_CALLS):
            choose(number)
        speeds.append(_CALLS / (time.thread_time() - begun))
    return Row(name, queues, statistics.median(speeds[1:]))


def main() -> None:
    """Measure every case and print a row each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 below the target")
    arguments = parser.parse_args()
    rows = [
        measure(name, queues, choose) for queues in SIZES for name, choose in cases(queues).items()
    ]
    width = max(len(row.name) for row in rows)
    for row in rows:
        sys.stdout.write(f"{row.name:{width}}  {row.queues:4} queues  {row.per_second:11,.0f}/s\n")
    slow = [row for row in rows if row.name.startswith("fair") and row.per_second < REQUIRED]
    sys.stdout.write(f"target: {REQUIRED:,}/s and core: {'missed' if slow else 'met'}\n")
    if slow and arguments.check:
        sys.exit(1)


if __name__ == "__main__":
    main()
