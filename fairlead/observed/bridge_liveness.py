"""What the bridges report of themselves in the offsets topic: running, failing, stopped or dead."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from fairlead.core.publishing.utc_words import utc_words
from fairlead.core.records import BridgeSign
from fairlead.durations import duration_words
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

__all__ = ["BridgeLiveness", "BridgeSigns", "BridgeVerdict", "is_sign"]

_MISSED: Final = 3
"""A bridge counts as dead when this many signs in a row are missing."""
_LIMITS: Final = WireLimits(shards=1)

BridgeVerdict = Literal["running", "look_ups_fail", "stopped", "dead"]
"""The state of a bridge: what it said last, or that it says nothing any more."""


@dataclass(frozen=True, slots=True)
class BridgeLiveness:
    """The bridge of one cluster; of several, the one most likely to be running.

    Attributes:
        cluster: the name that the bridge gives its cluster.
        verdict: its state.
        at_ms: when it last gave a sign, by its own clock.
        now_ms: when somebody looked.
        kind: which of the bridges it is.
    """

    cluster: str
    verdict: BridgeVerdict
    at_ms: int
    now_ms: int
    kind: Literal["kafka", "rocketmq"] = "kafka"

    def words(self) -> str:
        """Say its state and when it gave its last sign."""
        when = f"{utc_words(self.at_ms)}, {duration_words(max(0, self.now_ms - self.at_ms))} ago"
        did = {
            "running": f"runs; its last sign of life was at {when}",
            "look_ups_fail": f"cannot read the topics of its cluster, as it said at {when}",
            "stopped": f"was stopped at {when}",
            "dead": f"gave its last sign of life at {when} and did not say that it stops",
        }[self.verdict]
        return f"the bridge of cluster {self.cluster} {did}"

    @property
    def command(self) -> str:
        """The command that starts it; under another name it would publish the same queues twice."""
        return f"fairlead bridge {self.kind} --cluster-name {shlex.quote(self.cluster)}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "cluster": self.cluster,
            "verdict": self.verdict,
            "last_sign_ms": self.at_ms,
            "says": self.words(),
        }


def is_sign(row: RawRecord) -> bool:
    """Tell by its key whether a row of the offsets topic is a bridge's own sign, not an answer."""
    return b'","' not in (row.key or b'","')


@dataclass(slots=True)
class BridgeSigns:
    """The newest sign of each run of a bridge, from the rows of the offsets topic in order.

    Attributes:
        newest: cluster -> uuid of a run -> when it gave its sign, and the sign.
    """

    newest: dict[str, dict[str, tuple[int, BridgeSign]]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[RawRecord]) -> "BridgeSigns":
        """Return the signs among these rows."""
        signs = cls()
        for row in rows:
            signs.apply_row(row)
        return signs

    def apply_row(self, row: RawRecord) -> None:
        """Add one row, whatever it is."""
        if row.value is None or not is_sign(row):
            return
        try:
            sign = decode("offsets", row, _LIMITS)
        except WireError:
            # The engine rejects it as well.
            return
        if isinstance(sign, BridgeSign):
            runs = self.newest.setdefault(sign.cluster, {})
            runs.pop(sign.bridge, None)
            runs[sign.bridge] = (row.append_ms, sign)
            if len(runs) > _RUNS_MAX:
                del runs[next(iter(runs))]

    def lives(self, now_ms: int) -> list[BridgeLiveness]:
        """Return the bridge of each cluster, sorted by the clusters' names.

        Of several bridges of one cluster a running one counts, else the one heard last.
        """
        return [_life(name, self.newest[name], now_ms) for name in sorted(self.newest)]


_RUNS_MAX: Final = 16
"""This many runs of bridges of one cluster are kept apart; old runs say nothing about now."""


def _life(cluster: str, runs: Mapping[str, tuple[int, BridgeSign]], now_ms: int) -> BridgeLiveness:
    lives = [
        BridgeLiveness(cluster, _verdict(at_ms, sign, now_ms), at_ms, now_ms)
        for at_ms, sign in runs.values()
    ]
    return max(lives, key=lambda each: (_LIVELY.get(each.verdict, 0), each.at_ms))


_LIVELY: Final[Mapping[str, int]] = {"running": 2, "look_ups_fail": 1}


def _verdict(at_ms: int, sign: BridgeSign, now_ms: int) -> BridgeVerdict:
    if sign.state == "stopped":
        return "stopped"
    return "dead" if now_ms - at_ms > _MISSED * sign.every_ms else sign.state
