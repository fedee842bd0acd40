"""Answers a case of kind `start_offset`: RocketMQ's computePullFromWhere."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from fairlead.core.positions.consume_from_where import (
    CONSUME_FROM_WHERE,
    Consumer,
    Look,
    pull_from_where,
)
from fairlead_proof.conformance.consume_timestamp import parse_consume_timestamp
from fairlead_proof.conformance.fields import BadCaseError, CaseError, number_of, text_of, word_of

__all__ = ["answer_start_offset"]

_VERSIONS: Final = ("4.9", "5")
_CONSUMERS: Final = ("push", "litepull")
_NONE_NOW: Final = -1
_NAMES: Final = tuple(sorted(CONSUME_FROM_WHERE))


def answer_start_offset(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the offset to pull from, -1 for none now, and the time that was searched for, if any.

    Raises:
        BadCaseError: a field has not its form.
        CaseError: the consume timestamp is no date, where RocketMQ throws NullPointerException.
    """
    version = word_of(case, "version", _VERSIONS)
    consumer = cast("Consumer", word_of(case, "consumer", _CONSUMERS))
    consume_from = word_of(case, "consume_from", _NAMES)
    stored, topic = number_of(case, "stored"), text_of(case, "topic")
    number_of(case, "min")  # Told for completeness: RocketMQ never looks at it here.
    looked_up = {look: _looked_up(case, look.value) for look in Look}
    zone, timestamp = _zone(case), _timestamp(case)
    start = pull_from_where(consumer, consume_from, stored, topic)
    searched = None
    if start is Look.SEARCH:
        if timestamp is None:
            raise BadCaseError("consume_timestamp: it must be a text, for it is searched for")
        searched = parse_consume_timestamp(timestamp, zone)
        if searched is None:
            raise CaseError(
                "consume_timestamp_invalid",
                f"consume_timestamp: {timestamp!r} is no yyyyMMddHHmmss; write such a date",
            )
    offset = looked_up[start] if isinstance(start, Look) else start
    if offset is None or (offset < 0 and consumer == "push" and version == "5"):
        offset = _NONE_NOW
    return {"result": {"offset": offset, "searched_timestamp_ms": searched}}


def _looked_up(case: Mapping[str, Any], name: str) -> int | None:
    """Read what a broker answers; null: it does not."""
    return None if name in case and case[name] is None else number_of(case, name)


def _timestamp(case: Mapping[str, Any]) -> str | None:
    name = "consume_timestamp"
    return None if name in case and case[name] is None else text_of(case, name)


def _zone(case: Mapping[str, Any]) -> ZoneInfo:
    name = text_of(case, "tz") if case.get("tz") is not None else "UTC"
    zone = _zone_named(name)
    if zone is None:
        raise BadCaseError(f"tz: there is no time zone {name!r}; write one as Europe/Berlin")
    return zone


@cache
def _zone_named(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return None
