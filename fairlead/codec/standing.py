"""A group's footing as plain JSON values, with what leads to a change of it."""

from collections.abc import Mapping
from typing import Any, Final

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.standby_records import FormerQueue
from fairlead.core.standing import ClusterLooks, Footing, HeldFrozen, Said, Standing

__all__ = ["plain_standing", "read_standing"]

_LOOKS_ROW: Final = 2
"""A cluster and its looks."""


def plain_standing(
    standing: Standing | None, key_rows: Mapping[MemberKey, int]
) -> list[Any] | None:
    """Return a footing; members stand by their rows in the key table."""
    if standing is None:
        return None
    return [
        standing.footing,
        [*standing.epoch],
        standing.since_ms,
        standing.retry_ms,
        standing.because,
        standing.who,
        standing.changed_ms,
        [[key_rows[key], *said] for key, said in sorted(standing.said.items())],
        [[key_rows[key], *_plain_held(held)] for key, held in sorted(standing.formers.items())],
        [[cluster, _plain_looks(looks)] for cluster, looks in sorted(standing.looks.items())],
        sorted([each, until] for each, until in standing.gone.items()),
        [*standing.foreign],
    ]


def _plain_held(held: HeldFrozen) -> list[Any]:
    parts = [[part, [_plain_queue(entry) for entry in read]] for part, read in held.read.items()]
    return [held.parts, sorted(parts)]


def _plain_queue(entry: FormerQueue) -> list[Any]:
    position = None if entry.position is None else [*entry.position]
    return [[*entry.queue], position, entry.identity]


def _plain_looks(looks: ClusterLooks) -> list[Any]:
    listed = sorted([each, since] for each, since in looks.listed.items())
    states = [looks.complete, looks.even, looks.counted]
    return [looks.bridge, looks.look, looks.append_ms, listed, *states]


def read_standing(plain: list[Any] | None, keys: list[MemberKey]) -> Standing | None:
    """Return what :func:`plain_standing` wrote."""
    if plain is None:
        return None
    footing, epoch, since_ms, retry_ms, because, who, changed_ms, said, *rest = plain
    formers, looks, gone, foreign = rest
    return Standing(
        None if footing is None else Footing(footing),
        Epoch(*epoch),
        since_ms,
        retry_ms,
        because,
        who,
        changed_ms,
        {keys[row]: Said(*each) for row, *each in said},
        {keys[row]: _read_held(parts, read) for row, parts, read in formers},
        # An earlier version wrote a row of eight, dated by the bridge's clock: as if never read.
        {row[0]: _read_looks(row[1]) for row in looks if len(row) == _LOOKS_ROW},
        dict(gone),
        tuple(foreign),
    )


def _read_held(parts: int, read: list[Any]) -> HeldFrozen:
    return HeldFrozen(
        parts, {part: tuple(_read_queue(entry) for entry in held) for part, held in read}
    )


def _read_queue(plain: list[Any]) -> FormerQueue:
    queue, position, identity = plain
    return FormerQueue(
        MessageQueue(*queue), None if position is None else Position(*position), identity
    )


def _read_looks(plain: list[Any]) -> ClusterLooks:
    bridge, look, append_ms, listed, *states = plain
    return ClusterLooks(bridge, look, append_ms, dict(listed), *states)
