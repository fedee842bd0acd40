"""Whether an engine runs, by its ticks in the log: one answer and one wording for every command.

An engine counts as silent when records have come for five tick periods behind its newest tick, or
when nothing at all has come for lease and margin by this machine's clock. So a clock that is a
little wrong makes no engine look dead.

ADR 0167 gives the reasons.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fairlead.durations import duration_words
from fairlead.engine.seals import is_believed
from fairlead.wire.raw import RawRecord

__all__ = ["NEVER_RAN", "TICKS_SILENT", "EngineLiveness", "newest_tick_ms", "tick_generation"]

NEVER_RAN: Final = "no engine has ever run"
"""The words for a log without any claim of a generation: an engine claims one before all else."""

TICKS_SILENT: Final = 5
"""After this many periods without a tick an engine counts as silent."""


@dataclass(frozen=True, slots=True)
class EngineLiveness:
    """What one partition of heartbeats, or all of them, tell of the engine.

    Attributes:
        ticked_ms: when the newest tick was appended; None: none stands in what was read.
        newest_ms: when the newest record was appended; None: there is none.
        since_ms: from when on was read; None: from the first record.
        now_ms: until when silence counts.
        tick_ms: the period of the ticks.
        patience_ms: how long nothing at all may come.
        claimed: the newest claimed generation; 0: none.
    """

    ticked_ms: int | None
    newest_ms: int | None
    since_ms: int | None
    now_ms: int
    tick_ms: int
    patience_ms: int
    claimed: int

    @property
    def never_ran(self) -> bool:
        """Whether no engine has ever run: no generation is claimed, and no tick was read."""
        return self.claimed == 0 and self.ticked_ms is None

    @property
    def silent(self) -> bool:
        """Whether no engine has ticked for too long."""
        if self.newest_ms is None or self.ticked_ms is None:
            return True
        return self._nothing_comes or (
            self.newest_ms - self.ticked_ms > TICKS_SILENT * self.tick_ms
        )

    @property
    def silent_ms(self) -> int | None:
        """For how long at least it has been silent; None: it is not, never ran, or unknown."""
        from_ms = self.since_ms if self.ticked_ms is None else self.ticked_ms
        if self.never_ran or not self.silent or self.newest_ms is None or from_ms is None:
            return None
        return max(self.now_ms, self.newest_ms) - from_ms

    @property
    def _nothing_comes(self) -> bool:
        return self.newest_ms is not None and self.now_ms - self.newest_ms > self.patience_ms

    def words(self) -> str:
        """Say for how long no engine has ticked, or when one last did, without a point."""
        if self.never_ran:
            return NEVER_RAN
        if self.newest_ms is None:
            return "the log has no heartbeat, neither of an engine nor of a client"
        if self.silent_ms is not None:
            more = "more than " if self.ticked_ms is None else ""
            clock = ", by this machine's clock" if self._nothing_comes else ""
            return f"no engine has ticked for {more}{duration_words(self.silent_ms)}{clock}"
        if self.ticked_ms is None:
            return "the log has no tick of an engine"
        return f"ticks, last {duration_words(max(self.now_ms - self.ticked_ms, 0))} ago"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "ticked_ms": self.ticked_ms,
            "silent": self.silent,
            "silent_ms": self.silent_ms,
            "says": self.words(),
        }


def newest_tick_ms(rows: Iterable[RawRecord], claimed: int) -> int | None:
    """Return when the newest tick among heartbeats was appended.

    Args:
        rows: records of heartbeats.
        claimed: the newest claimed generation.
    """
    ticks = ((tick_generation(row), row.append_ms) for row in rows)
    return max(
        (at_ms for generation, at_ms in ticks if generation and is_believed(generation, claimed)),
        default=None,
    )


def tick_generation(row: RawRecord) -> int | None:
    """Return the generation that a record of heartbeats ticks for; None: it is no tick."""
    # A tick belongs to no group, so it has no key.
    if row.key is not None or row.value is None:
        return None
    try:
        body = orjson.loads(row.value)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(body, dict) or body.get("kind") != "tick":
        return None
    generation = body.get("generation")
    return generation if type(generation) is int and generation > 0 else None
