"""When a client that was taken for dead was last heard, on the engine's clock."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import orjson

from fairlead.engine.clock import TICKS_PER_MOVE, ShardClock
from fairlead.history.formatting import at_words, clock_words
from fairlead.kafka.missing_record import RecordPlace
from fairlead.wire.raw import RawRecord

__all__ = ["LastHeard", "Patience", "last_heard"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the engine waits for a silent client of a group."""

    lease_ms: int
    margin_ms: int


@dataclass(frozen=True, slots=True)
class LastHeard:
    """The last heartbeat of a client before a decision.

    Attributes:
        place: its place.
        append_ms: when it was appended.
        lease_ms: the client's own lease; 0: it does not say.
        silent_ms: from it to the decision, on the engine's clock.
    """

    place: RecordPlace
    append_ms: int
    lease_ms: int
    silent_ms: int

    def words(self, patience: Patience) -> str:
        """Say why the client was taken for dead, by the group's present rules."""
        lease_ms = max(self.lease_ms, patience.lease_ms)
        appended = (
            f"its last heartbeat was appended at {clock_words(self.append_ms)} "
            f"({at_words(*self.place)}), {_seconds(self.silent_ms)} before on the engine's clock"
        )
        waited = f"lease {_seconds(lease_ms)} + margin {_seconds(patience.margin_ms)}"
        if self.silent_ms > lease_ms + patience.margin_ms:
            return f"{appended}: longer than {waited}"
        return f"{appended}; the present {waited} is longer than the one at that time"


def _seconds(span_ms: int) -> str:
    return f"{span_ms / 1_000:g} s"


def last_heard(
    rows: Iterable[RawRecord],
    group: str,
    client_ids: Collection[str],
    end: int,
    tick_ms: int,
    *,
    lease_ms: int = 0,
    newest: bool = False,
) -> Mapping[str, LastHeard]:
    """Return the last heartbeat of each client before an offset; unheard clients are left out.

    If a client id heartbeats again in another incarnation, the one that fell silent counts, unless
    the newest is asked for.

    Args:
        rows: of the group's partition of heartbeats, in order.
        group: the group.
        client_ids: the clients to look for.
        end: the first offset that the decision had not read.
        tick_ms: the period of the engine's ticks.
        lease_ms: that of the group: longer silence counts as fallen silent.
        newest: the incarnation that was heard last counts, whatever became of others.
    """
    clock = ShardClock(TICKS_PER_MOVE * tick_ms)
    heard: dict[tuple[str, str], tuple[RawRecord, int, int]] = {}
    key = group.encode()
    for row in rows:
        if row.offset >= end:
            break
        now_ms = clock.advance(row.append_ms)
        beat = _beat(row) if row.key == key else None
        if beat is not None and beat[0] in client_ids:
            # The incarnation that was heard last stands last.
            heard.pop(beat[:2], None)
            heard[beat[:2]] = row, beat[2], now_ms
    last: dict[str, LastHeard] = {}
    for (client_id, _), (row, lease, at_ms) in heard.items():
        place = (row.topic, row.partition, row.offset)
        beat_heard = LastHeard(place, row.append_ms, lease, clock.clock_ms - at_ms)
        if newest or client_id not in last or beat_heard.silent_ms > max(lease, lease_ms):
            last[client_id] = beat_heard
    return last


def _beat(row: RawRecord) -> tuple[str, str, int] | None:
    """Return client, incarnation and lease of a heartbeat, rejected or not; None: it is none."""
    try:
        body = orjson.loads(row.value or b"null")
    except orjson.JSONDecodeError:
        return None
    if not isinstance(body, dict) or body.get("kind") != "heartbeat":
        return None
    lease = body.get("lease_ms")
    life = str(body.get("incarnation"))
    return str(body.get("client_id")), life, lease if isinstance(lease, int) else 0
