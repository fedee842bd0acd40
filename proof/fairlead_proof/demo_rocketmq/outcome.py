"""The outcome of the demo on RocketMQ: what was found under each way, and the verdict on ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from fairlead.verify.history import Closing, StepBegun, StepRecord
from fairlead_proof.demo.verdict import Check
from fairlead_proof.demo_rocketmq.handled import Handled
from fairlead_proof.demo_rocketmq.roll_out import OUR_STEPS, STILL_STEPS
from fairlead_proof.demo_rocketmq.way import Way

__all__ = ["DemoOutcome", "StepFigures", "WayOutcome"]

REPORT_VERSION: Final = 1
TAKEN_OVER_SECONDS_MAX: Final = 20.0
"""Lease and margin, 18 s by default, and a batch of the engine on a busy machine."""


@dataclass(frozen=True, slots=True)
class StepFigures:
    """What a step did to the queues.

    Attributes:
        name: the step.
        moves: queues that went on at another consumer.
        longest_gap_ms: the longest pause of a queue that moved; None: none did.
        over_ms: from the event to the first message of the last queue that moved; None: none did.
        again: messages that were begun again without need.
        beside: calls that began beside another consumer.
    """

    name: str
    moves: int
    longest_gap_ms: float | None
    over_ms: float | None
    again: int = 0
    beside: int = 0


@dataclass(frozen=True, slots=True)
class WayOutcome:
    """What was found under one way.

    Attributes:
        way: who shared the queues.
        handled: what the listeners did.
        steps: what each step did.
        failure: why the script ended early; None: it did not.
    """

    way: Way
    handled: Handled
    steps: tuple[StepFigures, ...]
    failure: str | None

    @classmethod
    def of(
        cls,
        way: Way,
        log: Sequence[StepRecord],
        handled: Handled,
        failure: str | None,
    ) -> "WayOutcome":
        """Share the moves out to the steps in which they came."""
        begun = [each for each in log if isinstance(each, StepBegun)]
        closing = next((each.t_ns for each in log if isinstance(each, Closing)), None)
        steps = []
        for at, step in enumerate(begun):
            until = begun[at + 1].t_ns if at + 1 < len(begun) else closing
            within = partial(_is_within, step.t_ns, until)
            mine = [move for move in handled.moves if within(move.at_ns)]
            steps.append(
                StepFigures(
                    step.name,
                    len(mine),
                    max((move.gap_ns / 1e6 for move in mine), default=None),
                    max(((move.at_ns - step.t_ns) / 1e6 for move in mine), default=None),
                    sum(within(call.begin_ns) for call in handled.begun_again),
                    sum(within(call.begin_ns) for call in handled.beside),
                )
            )
        return cls(way, handled, tuple(steps), failure)

    @property
    def checks(self) -> tuple[Check, ...]:
        """What is demanded of this way, and was measured."""
        if self.way is Way.ROCKETMQ:
            return ()
        if self.way is Way.ROLL_OUT:
            return self._roll_out_checks()
        handled = self.handled
        frozen = any(step.name == "freeze" for step in self.steps)
        return (
            _none("began beside another consumer", [str(each) for each in handled.beside]),
            _none("begun again on clean moves", [str(each) for each in handled.begun_again]),
            _none(
                "messages missed",
                _missed_words(handled),
                handled.holes,
            ),
            Check(
                "queues moved",
                str(len(handled.moves)),
                "at least 1",
                bool(handled.moves),
                ("No queue moved: the run proves nothing.",),
            ),
            *((self._taken_over(),) if frozen else ()),
        )

    def _roll_out_checks(self) -> tuple[Check, ...]:
        """What is demanded while Fairlead vouches for one owner, and of both ways over."""
        ours = [step for step in self.steps if step.name in OUR_STEPS]
        still = [step for step in self.steps if step.name in STILL_STEPS]
        missed = _missed_words(self.handled)
        return (
            _none(
                "began beside another consumer, from take-over to return",
                [f"{step.name}: {step.beside}" for step in ours if step.beside],
                sum(step.beside for step in ours),
            ),
            _none(
                "begun again, from take-over to return",
                [f"{step.name}: {step.again}" for step in ours if step.again],
                sum(step.again for step in ours),
            ),
            _none(
                "queues moved by the take-over or the return itself",
                [f"{step.name}: {step.moves}" for step in still if step.moves],
                sum(step.moves for step in still),
            ),
            _none("messages missed", missed, self.handled.holes),
        )

    def _taken_over(self) -> Check:
        took = self.handled.taken_over_ms
        return Check(
            "a frozen consumer's queues were taken over",
            "never" if took is None else f"after {took / 1000:.1f} s",
            f"within {TAKEN_OVER_SECONDS_MAX:.0f} s",
            took is not None and took <= TAKEN_OVER_SECONDS_MAX * 1000,
            ("Lease and margin must end before anybody may take them.",),
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        handled = self.handled
        return {
            "way": self.way.value,
            "failure": self.failure,
            "calls": handled.calls,
            "moves": len(handled.moves),
            "begun_again": len(handled.begun_again),
            "begun_again_after_cut": handled.begun_again_after_cut,
            "beside": len(handled.beside),
            "missed": handled.holes,
            "gap_ms": handled.gap_ms(),
            "longest_gap_ms": handled.longest_gap_ms(),
            "taken_over_ms": handled.taken_over_ms,
            "steps": [
                {
                    "name": step.name,
                    "moves": step.moves,
                    "longest_gap_ms": step.longest_gap_ms,
                    "over_ms": step.over_ms,
                    "begun_again": step.again,
                    "beside": step.beside,
                }
                for step in self.steps
            ],
        }


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """The outcome of a run: each way in its order, and what was run."""

    ways: tuple[WayOutcome, ...]
    server: str
    client: str
    ordered: bool
    seed: int
    took_s: float

    @property
    def passed(self) -> bool:
        """True if the scripts came to their ends, and Fairlead's consumers did what is demanded."""
        return all(
            way.failure is None and all(check.passed for check in way.checks) for way in self.ways
        )

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "v": REPORT_VERSION,
            "passed": self.passed,
            "server": self.server,
            "client": self.client,
            "ordered": self.ordered,
            "seed": self.seed,
            "took_s": round(self.took_s, 1),
            "ways": [way.to_json() for way in self.ways],
        }


def _missed_words(handled: Handled) -> list[str]:
    return [
        f"{queue}: {len(gone):,}, the first at offset {gone[0]:,}"
        for queue, gone in sorted(handled.missed.items())
    ]


def _is_within(begin_ns: int, until_ns: int | None, t_ns: int) -> bool:
    return begin_ns <= t_ns and (until_ns is None or t_ns < until_ns)


def _none(name: str, findings: Sequence[str], count: int | None = None) -> Check:
    found = len(findings) if count is None else count
    return Check(name, f"{found:,}", "0", found == 0, tuple(findings[:5]))
