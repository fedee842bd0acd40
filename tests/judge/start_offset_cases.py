"""Cases about where a consumer starts a queue, drawn from a seed."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tests.judge.cases import Case, Draw

NAMES: Final = (
    *("CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET"),
    *("CONSUME_FROM_TIMESTAMP",) * 5,
    *("CONSUME_FROM_MIN_OFFSET", "CONSUME_FROM_MAX_OFFSET"),
    "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
)
ZONES: Final = (
    *("UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Asia/Kolkata"),
    *("Asia/Tokyo", "America/St_Johns", "Australia/Lord_Howe"),
)
# Hours that clocks skip or repeat, in one of the zones.
TURNS: Final = (
    *("20260329023000", "20261025023000", "20260308023000", "20261101013000"),
    *("20260405014500", "20261004021500", "20200329020000", "20201025030000"),
)
ODD: Final = (
    *("20261301000000", "20260100000000", "20260001000000", "202601311200600", "20260131246060"),
    *("20260131120000.5", "20260131120000 and more", "2026 131 2 0 0", "2026-1-1-1-1-1"),
    *("  26 131120000", "\uff12\uff10260131120000", "2026\t131120000", "20260131120000000000"),
)
NO_DATES: Final = (
    *("", " ", "yesterday", "2026", "20260131", "202601311200", "2026-01-31T12:00:00", "null"),
    *("20260131 12:00:00x", "\u0000", "+20260131120000", "中文", "1.5", "\U0001f600"),
)


def start_offset(draw: Draw, version: str) -> Case:
    """Return what a store and brokers say of a queue, and what the consumer is set to."""
    topic = draw.chance.choice(("orders", "orders", "%RETRY%orders", "%DLQ%x", draw.name()))
    timestamp, zone = _timestamp(draw)
    return {
        "version": version,
        "consumer": draw.chance.choice(("push", "litepull")),
        "consume_from": draw.chance.choice(NAMES),
        "stored": draw.chance.choice((*(-1,) * 8, -2, -3, -9, 0, 7, 2**62)),
        "topic": topic,
        "min": draw.chance.choice((0, 5, 100)),
        "max": _looked_up(draw),
        "search": _looked_up(draw),
        "consume_timestamp": timestamp,
        "tz": zone,
    }


def _looked_up(draw: Draw) -> int | None:
    return draw.chance.choice((None, -1, -7, 0, 120, 900, 2**40, draw.chance.randint(0, 10_000)))


def _timestamp(draw: Draw) -> tuple[str, str]:
    zone: Any = draw.chance.choice(ZONES)
    kind = draw.chance.random()
    if kind < 0.6:
        return draw.chance.choice(NO_DATES), zone
    if kind < 0.7:
        # Java keeps no history of clocks before 1900, where some of these are.
        return draw.chance.choice(ODD), "UTC"
    if kind < 0.8:
        return draw.chance.choice(TURNS), zone
    moment = datetime(1971, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.chance.randint(0, 2**31))
    return moment.strftime("%Y%m%d%H%M%S"), zone
