"""Is all safe, and how does one know? The answer of `/api/v1/safety`.

It says what `fairlead group check --all` says, as far as the topics tell. Nothing here reads who
owns what: the verdicts are those of `fairlead.observed.verdict`, and the handovers those of
`fairlead.observed.handovers`.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.access.guard import admitted
from fairlead.console.answers import NOT_READ, json_answer
from fairlead.console.group_check import checked_group
from fairlead.console.parts import View
from fairlead.observed.engine_liveness import EngineLiveness
from fairlead.observed.finding import Finding
from fairlead.observed.handovers import HandoverTally
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.verdict import VerdictWord

__all__ = ["SafetyApi"]

_FRESH_S: Final = 2.0
_SHARE: Final = 20
"""A look that took long is repeated only after so many times its duration."""
_REJECTS_MAX: Final = 50
_WORDS: Final[tuple[VerdictWord, ...]] = ("safe", "nobody", "problems", "unreadable")
_READ: Final = ("now_ms", "ready", "reason", "records_behind")
"""What was not read yet is not called safe."""
_OVERLAP: Final = "overlap"


@dataclass(frozen=True, slots=True)
class _Checked:
    """One group: its verdict, what is wrong, its handovers, and since when those are remembered."""

    word: VerdictWord
    findings: Sequence[Finding]
    handovers: HandoverTally
    since_ms: int | None


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the view knows of all groups' handovers, of the engine and of the bridges."""

    as_of_ms: int
    handovers: Mapping[str, tuple[HandoverTally, int | None]]
    engine: EngineLiveness | None
    bridges: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found in all groups at one moment."""

    facts: _Facts
    groups: Mapping[str, _Checked]
    bridges: Sequence[Mapping[str, Any]]


_NOTHING: Final = _Facts(0, {}, None, ())


class SafetyApi:
    """Answers `/api/v1/safety`; callers share a look at all groups.

    Args:
        view: what is known of all groups.
        head: returns how old that is, and whether the topics were read to their end.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        view: View,
        head: Callable[[], Mapping[str, Any]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._view, self._head, self._clock = view, head, clock
        self._one_look = asyncio.Lock()
        self._look: _Look | None = None
        self._fresh_until = 0.0

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [Route("/api/v1/safety", self.safety)]

    async def safety(self, request: Request) -> Response:
        """Tell whether all is safe in the groups that the caller may observe."""
        if not self._view.is_whole:
            return NOT_READ.answer()
        principal = admitted(request.scope).principal
        look = await self._fresh()
        if look is None:
            return NOT_READ.answer()
        head = await run_in_threadpool(self._head)
        document = self._document(look, lambda group: principal.may("observe", group))
        return json_answer({**{key: head[key] for key in _READ}, **document})

    def _document(self, look: _Look, may: Callable[[str], bool]) -> dict[str, Any]:
        groups = {name: each for name, each in look.groups.items() if may(name)}
        handovers, words = HandoverTally(), dict.fromkeys(_WORDS, 0)
        violations = [{"group": "*", **each.to_json()} for each in look.facts.bridges]
        for name, each in groups.items():
            handovers = handovers.plus(each.handovers)
            words[each.word] += 1
            violations += [{"group": name, **found.to_json()} for found in each.findings]
        since_ms = [each.since_ms for each in groups.values() if each.since_ms is not None]
        overlaps = sum(each["problem"] == _OVERLAP for each in violations)
        seen, newest = self._view.rejects.newest(
            _REJECTS_MAX, lambda group: may("*" if group is None else group)
        )
        engine = look.facts.engine
        return {
            "as_of_ms": look.facts.as_of_ms,
            "since_ms": min(since_ms, default=look.facts.as_of_ms),
            "handovers": {
                "checked": handovers.checked,
                "smallest_gap_ms": handovers.smallest_gap_ms,
                "by_release": handovers.by_release,
                "by_lease": handovers.by_lease,
                "otherwise": handovers.otherwise,
                "unsafe": handovers.unsafe,
            },
            "overlaps": overlaps,
            "violations": violations,
            "verdicts": words,
            "engine": None if engine is None else engine.to_json(),
            "bridges": look.bridges,
            "rejects": {"total_seen": seen, "newest": [each.to_json(None) for each in newest]},
        }

    async def _fresh(self) -> _Look | None:
        """Return a look that is not too old; None: meanwhile the topics are read again.

        One thread looks; whoever waits for it holds none.
        """
        async with self._one_look:
            if self._look is None or self._clock() >= self._fresh_until:
                begun = self._clock()
                look = await run_in_threadpool(self._look_again)
                if not self._view.is_whole:
                    # It may have seen a half of the groups, and a half looks safe.
                    return None
                self._look = look
                took = self._clock() - begun
                self._fresh_until = begun + max(_FRESH_S, _SHARE * took)
            return self._look

    def _look_again(self) -> _Look:
        lines, bridges = self._view.groups(), self._view.bridges()
        facts = self._view.query(_facts, _NOTHING)
        groups = {
            each["group"]: self._checked(each, *facts.handovers.get(each["group"], _NO_HANDOVERS))
            for each in lines
        }
        return _Look(facts, groups, bridges)

    def _checked(
        self, line: Mapping[str, Any], handovers: HandoverTally, since_ms: int | None
    ) -> _Checked:
        """Return a group; one with nothing wrong by its line is not looked through again."""
        if not line["problems"] and not line["alarms"]:
            return _Checked("safe" if line["members"] else "nobody", (), handovers, since_ms)
        found = self._view.query(lambda view: checked_group(view, line["group"]), None)
        if found is None:
            return _Checked("nobody", (), handovers, since_ms)
        return _Checked(found.word, found.findings, handovers, since_ms)


_NO_HANDOVERS: Final[tuple[HandoverTally, int | None]] = (HandoverTally(), None)


def _facts(view: ObservedGroups) -> _Facts:
    now_ms = time.time_ns() // 1_000_000
    handovers = {}
    for group in view.folds():
        history = group.decided.history
        handovers[group.name] = group.handovers.tally, history[0].append_ms if history else None
    return _Facts(view.as_of_ms, handovers, view.engine(now_ms), view.wrong_bridges(now_ms))
