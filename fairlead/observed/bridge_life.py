"""What the bridges say of themselves in the offsets topic: there, in trouble, stopped, or dead."""

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

__all__ = ["BridgeLife", "BridgeSigns", "BridgeVerdict", "is_sign"]

_MISSED: Final = 3
"""So many signs in a row are missing of one that is dead."""
_LIMITS: Final = WireLimits(shards=1)

BridgeVerdict = Literal["running", "look_ups_fail", "stopped", "dead"]
"""What a bridge is, in one word: what it said last, or that it says nothing any more."""


@dataclass(frozen=True, slots=True)
class BridgeLife:
    """The bridge of one cluster, or the liveliest of several.

    Attributes:
        cluster: what it calls its cluster.
        verdict: what it is.
        at_ms: when it last gave a sign, by its own clock.
        now_ms: when that was looked at.
    """

    cluster: str
    verdict: BridgeVerdict
    at_ms: int
    now_ms: int

    def words(self) -> str:
        """Say it, with the time of its last sign."""
        when = f"{utc_words(self.at_ms)}, {duration_words(max(0, self.now_ms - self.at_ms))} ago"
        did = {
            "running": f"is there, and last said so at {when}",
            "look_ups_fail": f"cannot learn the topics of its cluster, it said at {when}",
            "stopped": f"was stopped at {when}",
            "dead": f"gave its last sign of life at {when}, and did not say that it ends",
        }[self.verdict]
        return f"the bridge of cluster {self.cluster} {did}"

    @property
    def command(self) -> str:
        """How it is started: under another name it would tell the same queues as others."""
        return f"fairlead bridge kafka --cluster-name {shlex.quote(self.cluster)}"

    def document(self) -> dict[str, Any]:
        """Return it as JSON tells it."""
        return {
            "cluster": self.cluster,
            "verdict": self.verdict,
            "last_sign_ms": self.at_ms,
            "says": self.words(),
        }


def is_sign(row: RawRecord) -> bool:
    """Tell whether a row of the offsets topic is of a bridge itself, by its key: no answer."""
    return b'","' not in (row.key or b'","')


@dataclass(slots=True)
class BridgeSigns:
    """The newest sign of each run of a bridge, from the rows of the offsets topic in their order.

    Attributes:
        newest: cluster -> the uuid of a run -> when it said what.
    """

    newest: dict[str, dict[str, tuple[int, BridgeSign]]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[RawRecord]) -> "BridgeSigns":
        """Return what these rows tell; those that are no signs tell nothing."""
        found = cls()
        for row in rows:
            found.take(row)
        return found

    def take(self, row: RawRecord) -> None:
        """Take in one row, whatever it is."""
        if row.value is None or not is_sign(row):
            return
        try:
            sign = decode("offsets", row, _LIMITS)
        except WireError:
            # The engine refuses it as well.
            return
        if isinstance(sign, BridgeSign):
            runs = self.newest.setdefault(sign.cluster, {})
            runs.pop(sign.bridge, None)
            runs[sign.bridge] = (row.append_ms, sign)
            if len(runs) > _RUNS_MAX:
                del runs[next(iter(runs))]

    def lives(self, now_ms: int) -> list[BridgeLife]:
        """Return what is to be said of each cluster's bridge, by the clusters' names.

        Of several bridges of one cluster one that is there counts; else the one heard last.
        """
        return [_life(name, self.newest[name], now_ms) for name in sorted(self.newest)]


_RUNS_MAX: Final = 16
"""So many runs of bridges of one cluster are told apart; a run of long ago says nothing now."""


def _life(cluster: str, runs: Mapping[str, tuple[int, BridgeSign]], now_ms: int) -> BridgeLife:
    lives = [
        BridgeLife(cluster, _verdict(at_ms, sign, now_ms), at_ms, now_ms)
        for at_ms, sign in runs.values()
    ]
    return max(lives, key=lambda each: (_LIVELY.get(each.verdict, 0), each.at_ms))


_LIVELY: Final[Mapping[str, int]] = {"running": 2, "look_ups_fail": 1}


def _verdict(at_ms: int, sign: BridgeSign, now_ms: int) -> BridgeVerdict:
    if sign.state == "stopped":
        return "stopped"
    return "dead" if now_ms - at_ms > _MISSED * sign.every_ms else sign.state
