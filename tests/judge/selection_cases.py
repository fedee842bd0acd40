"""Cases about a producer's choice, drawn from a seed: selections, latencies, and both in turn.

The kind `fault_strategy` is the tests' own: `fairlead proof conform` does not have it. Its steps
are updates and questions; time goes on by hours, so that the moments a step takes decide nothing.
"""

from typing import Any, Final

from tests.judge.cases import Case, Draw

INDEXES: Final = (0, 1, -1, -7, 2**31 - 1, 2**31 - 2, -(2**31), -(2**31) + 1, 12)
THRESHOLDS: Final = (0, 50, 100, 550, 1_000, 1_800, 2_000, 3_000, 5_000, 10_000, 15_000, 30_000)
HOUR_MS: Final = 3_600_000
SCALE: Final = 3_600
"""A table's seconds become hours."""


def select_queue(draw: Draw, version: str) -> Case:
    """Return queues of a few brokers, and who failed before each of some calls."""
    brokers = _brokers(draw)
    queues = [] if draw.often(0.15) else _queues(draw, brokers)
    strangers = [None, None, "a stranger", ""]
    calls = draw.chance.randint(1 if not queues else 0, 12)
    return {
        "version": version,
        "queues": queues,
        "start_index": _index(draw),
        "last_brokers": [draw.chance.choice([*brokers, *strangers]) for _ in range(calls)],
    }


def not_available_ms(draw: Draw, version: str) -> Case:
    """Return a latency at a threshold or beside it, any other one, or none that can be."""
    near = draw.chance.choice(THRESHOLDS) + draw.chance.choice((-1, 0, 1))
    drawn = draw.chance.choice((near, near, draw.chance.randint(-5, 40_000), 2**63 - 1, -(2**63)))
    return {"version": version, "latency_ms": drawn, "isolation": draw.often(0.3)}


def fault_strategy(draw: Draw, version: str) -> Case:
    """Return updates, questions and passing hours over a few brokers."""
    brokers = [f"broker-{letter}" for letter in "abcdefgh"[: draw.chance.randint(1, 5)]]
    queues = [] if draw.often(0.14) else _queues(draw, brokers)
    shares = [
        {"brokerName": name, "perm": draw.chance.choice((6, 6, 4)), "writeQueueNums": number}
        for name in brokers
        for number in draw.chance.choice(((4,), (1,), (0,), (2, 3)))
        if draw.often(0.9)
    ]
    return {
        "version": version,
        "scale": SCALE,
        "queues": queues,
        "route": {"queueDatas": shares, "brokerDatas": []},
        "start_index": _index(draw),
        "worst_index": _index(draw),
        "steps": [*_steps(draw, brokers, version), ["select", None]],
    }


def _steps(draw: Draw, brokers: list[str], version: str) -> list[list[Any]]:
    steps: list[list[Any]] = []
    for number in range(draw.chance.randint(1, 14)):
        broker = draw.chance.choice([*brokers, "a stranger"])
        kind = draw.chance.random()
        if kind < 0.4:
            # No two latencies are alike, so that nothing is left to the order of moments.
            latency = draw.chance.choice(THRESHOLDS) + number
            steps.append(["update", broker, latency, draw.often(0.2), draw.often(0.7)])
        elif kind < 0.65:
            steps.append(["select", draw.chance.choice([*brokers, None])])
        elif kind < 0.77:
            hours = draw.chance.choice((1, 3, 7, 13, 61, 127, 601))
            steps.append(["advance", hours * HOUR_MS + HOUR_MS // 2 * (number == 0)])
        elif kind < 0.95:
            steps.append(_question(draw, brokers, version, broker))
        else:
            steps.append(["remove", broker])
    return steps


def _question(draw: Draw, brokers: list[str], version: str, broker: str) -> list[Any]:
    """Return a question about a broker; of 5 also a round of checks: who answers, who is known."""
    kinds = ("available", "reachable", "detect") if version == "5" else ("available",)
    kind = draw.chance.choice(kinds)
    if kind != "detect":
        return [kind, broker]
    answering = [name for name in brokers if draw.often(0.6)]
    return [kind, answering, [name for name in brokers if draw.often(0.9)]]


def _brokers(draw: Draw) -> list[str]:
    return [draw.chance.choice(("broker-a", draw.name())) for _ in range(draw.chance.randint(1, 4))]


def _queues(draw: Draw, brokers: list[str]) -> list[list[Any]]:
    queues = [
        ["orders", name, number] for name in brokers for number in range(draw.chance.randint(1, 4))
    ]
    if draw.often(0.3):
        draw.chance.shuffle(queues)
    return queues


def _index(draw: Draw) -> int:
    return draw.chance.choice((*INDEXES, draw.chance.randint(-(2**31), 2**31 - 1)))
