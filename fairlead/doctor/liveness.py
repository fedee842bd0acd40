"""Checks signs of life in the log: the engine's ticks, the brokers' clocks, bridges' answers."""

import time
from collections.abc import Iterator
from typing import Final

from fairlead.bridges.kafka.untold_queues import UNTOLD_REMEDY, look_for_untold
from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.context import CheckContext, SeenTick
from fairlead.observed.engine_liveness import NEVER_RAN

__all__ = ["bridge", "clock", "engine", "live_tick"]

_TICKS_SILENT: Final = 10
_SKEW_WARN_MS: Final = 2_000
_SKEW_FAIL_MS: Final = 60_000
_LOOK_MS_MAX: Final = 2_000


def engine(context: CheckContext) -> Iterator[Answer]:
    """Check the age of the newest tick, and whether it is of the newest generation."""
    cluster = context.cluster
    if not cluster.partitions("heartbeats") or not cluster.partitions("generations"):
        yield unknown("its topics are missing", "see: topics")
        return
    claimed, ticks = cluster.end_offset("generations"), cluster.ticks.newest
    if claimed == 0:
        yield warn(NEVER_RAN, "fairlead run --supervise")
        return
    if not ticks:
        yield fail(
            f"an engine claimed generation {claimed}, but no partition has a tick near its end",
            "fairlead run --supervise",
        )
        return
    newest = max(ticks.values())
    age_ms = max(0, _now_ms() - newest.appended_ms)
    bound_ms = _TICKS_SILENT * context.settings.engine.tick_ms
    says = f"newest tick {age_ms / 1_000:.1f} s ago, of generation {newest.generation}"
    if age_ms > bound_ms:
        yield fail(
            f"{says}: the engine is down, or cannot reach the brokers; groups keep their queues, "
            "and nothing replaces a client that stops",
            "fairlead run --supervise; the log of the last engine says why it ended",
        )
    elif max(tick.generation for tick in ticks.values()) < claimed:
        yield warn(
            f"{says}, and generation {claimed} is claimed: a newer engine is starting, or has died "
            "at its start",
            "run the doctor again in a minute; if this stays, read the log of the newer engine",
        )
    elif len(ticks) < cluster.partitions("heartbeats"):
        yield warn(
            f"{says}; only {len(ticks)} of {cluster.partitions('heartbeats')} shards have a tick "
            "near their end",
            "check the brokers that lead the others; docs/metrics.md has fairlead_ticks_total",
        )
    else:
        yield ok(f"{says}, in every shard")


def live_tick(context: CheckContext) -> SeenTick | None:
    """Return the newest tick, if an engine ticked when the doctor read the log; None: none did.

    Its age counts up to that moment, since other checks may have taken time.
    """
    cluster = context.cluster
    if not cluster.partitions("heartbeats") or not cluster.partitions("generations"):
        return None
    evidence = cluster.ticks
    newest = max(evidence.newest.values(), default=None)
    looked_ms = _now_ms() if evidence.looked_ms is None else evidence.looked_ms
    bound_ms = _TICKS_SILENT * context.settings.engine.tick_ms
    return newest if newest is not None and looked_ms - newest.appended_ms <= bound_ms else None


def clock(context: CheckContext) -> Iterator[Answer]:
    """Compare this machine's clock with the brokers', by the dates of arriving records."""
    cluster = context.cluster
    if not cluster.partitions("heartbeats"):
        yield unknown("there is no topic with dates of the brokers", "see: topics")
        return
    evidence = cluster.ticks
    yield from _brokers_apart(context)
    if evidence.arrivals:
        # A record arrives at its append time or later, so the quickest one is the best measure.
        skew_ms = min(seen - appended for appended, seen in evidence.arrivals)
        yield _skew(skew_ms, f"by {len(evidence.arrivals)} records that arrived during the check")
        return
    newest = max((tick.appended_ms for tick in evidence.newest.values()), default=None)
    if newest is not None and newest - _now_ms() > _SKEW_WARN_MS:
        yield _skew(_now_ms() - newest, "by a record with a date later than now")
        return
    yield unknown(
        "only appended records show the brokers' time; none arrived during the check, and the "
        "doctor writes none",
        "run the doctor again while an engine runs",
    )


def bridge(context: CheckContext) -> Iterator[Answer]:
    """Check the bridges and the requests to them, as `fairlead group check --all` does."""
    cluster = context.cluster
    if not all(cluster.partitions(suffix) for suffix in ("requests", "routes", "offsets")):
        yield unknown("its topics are missing", "see: topics")
        return
    yield from _untold(context)
    bridges = cluster.bridges
    findings = bridges.findings()
    for finding in findings:
        yield fail(finding.text, finding.remedy)
    if findings:
        return
    if not bridges.lives:
        yield unknown("no bridge has ever given a sign of life, and no request lacks an answer")
        return
    for life in bridges.lives:
        if life in bridges.stopped:
            yield warn(life.words(), f"{life.command}, unless it is stopped on purpose")
        else:
            yield ok(life.words())


def _untold(context: CheckContext) -> Iterator[Answer]:
    """Report topics with new queues that no bridge has published: nobody asks for these."""
    routes, kafka = context.cluster.routes, context.settings.kafka
    for topic, words in sorted(look_for_untold(routes, kafka, timeout_ms=_LOOK_MS_MAX).items()):
        yield fail(f"{topic}: {words}", UNTOLD_REMEDY)


def _brokers_apart(context: CheckContext) -> Iterator[Answer]:
    """Report brokers with differing clocks: several of them date the ticks of one moment."""
    ticks = context.cluster.ticks.newest
    dates = [tick.appended_ms for tick in ticks.values()]
    apart_ms = max(dates, default=0) - min(dates, default=0)
    margin_ms = context.settings.group_defaults.margin_ms
    if apart_ms > margin_ms:
        yield fail(
            f"the brokers date their shards {apart_ms / 1_000:.1f} s apart, more than the margin "
            f"of {margin_ms / 1_000:.1f} s: clients may lapse early",
            "set the brokers' clocks (NTP); if a broker is down, start it again",
        )


def _skew(skew_ms: int, by: str) -> Answer:
    """Return the answer about a difference; positive: this machine is ahead, or slow to read."""
    says = (
        f"{abs(skew_ms) / 1_000:.2f} s {'ahead of' if skew_ms > 0 else 'behind'} the brokers, {by}"
    )
    remedy = (
        "set this machine's clock (NTP). Leases run on the brokers' clocks and are right; times in "
        "commands and metrics are wrong, and a gateway may take the older of two clients with one "
        "client id for the newer"
    )
    if abs(skew_ms) > _SKEW_FAIL_MS:
        return fail(says, remedy)
    return warn(says, remedy) if abs(skew_ms) > _SKEW_WARN_MS else ok(says)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
