"""Signs of life in the log: the engine's ticks, the clocks that date them, the bridge's answers."""

import time
from collections.abc import Iterator
from typing import Final

from fairlead.bridges.kafka.untold_queues import UNTOLD_REMEDY, look_for_untold
from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.surroundings import SeenTick, Surroundings
from fairlead.observed.engine_liveness import NEVER_RAN

__all__ = ["bridge", "clock", "engine", "live_tick"]

_TICKS_SILENT: Final = 10
_SKEW_WARN_MS: Final = 2_000
_SKEW_FAIL_MS: Final = 60_000
_LOOK_MS_MAX: Final = 2_000


def engine(around: Surroundings) -> Iterator[Answer]:
    """See how old the newest tick is, and whether it is of the newest generation."""
    cluster = around.cluster
    if not cluster.partitions("heartbeats") or not cluster.partitions("generations"):
        yield unknown("its topics are missing", "see: topics")
        return
    claimed, ticks = cluster.end("generations"), cluster.ticks.newest
    if claimed == 0:
        yield warn(NEVER_RAN, "fairlead run --supervise")
        return
    if not ticks:
        yield fail(
            f"generation {claimed} was claimed, and no tick stands near the end of any partition",
            "fairlead run --supervise",
        )
        return
    newest = max(ticks.values())
    age_ms = max(0, _now_ms() - newest.appended_ms)
    bound_ms = _TICKS_SILENT * around.settings.engine.tick_ms
    told = f"newest tick {age_ms / 1_000:.1f} s ago, of generation {newest.generation}"
    if age_ms > bound_ms:
        yield fail(
            f"{told}: the engine is down, or cannot reach the brokers; groups keep what they have, "
            "and nobody who goes is noticed",
            "fairlead run --supervise; the log of the last one says why it ended",
        )
    elif max(tick.generation for tick in ticks.values()) < claimed:
        yield warn(
            f"{told}, and generation {claimed} was claimed: a newer engine starts, or has died at "
            "its start",
            "look again in a minute; if it stays, look at the log of the newer one",
        )
    elif len(ticks) < cluster.partitions("heartbeats"):
        yield warn(
            f"{told}; {len(ticks)} of {cluster.partitions('heartbeats')} shards have a tick near "
            "their end",
            "look at the brokers that lead the others; docs/metrics.md has fairlead_ticks_total",
        )
    else:
        yield ok(f"{told}, in every shard")


def live_tick(around: Surroundings) -> SeenTick | None:
    """Return the newest tick, if an engine ticked when we looked; None: none did.

    Other checks may have taken their time since.
    """
    cluster = around.cluster
    if not cluster.partitions("heartbeats") or not cluster.partitions("generations"):
        return None
    evidence = cluster.ticks
    newest = max(evidence.newest.values(), default=None)
    looked_ms = _now_ms() if evidence.looked_ms is None else evidence.looked_ms
    bound_ms = _TICKS_SILENT * around.settings.engine.tick_ms
    return newest if newest is not None and looked_ms - newest.appended_ms <= bound_ms else None


def clock(around: Surroundings) -> Iterator[Answer]:
    """Compare this machine's clock with the brokers', by when they dated what we saw arrive."""
    cluster = around.cluster
    if not cluster.partitions("heartbeats"):
        yield unknown("there is no topic with dates of the brokers", "see: topics")
        return
    evidence = cluster.ticks
    yield from _brokers_apart(around)
    if evidence.arrivals:
        # A record arrives at its append time or later, so the quickest one is the nearest.
        skew_ms = min(seen - appended for appended, seen in evidence.arrivals)
        yield _skew(skew_ms, f"by {len(evidence.arrivals)} records that came while we looked")
        return
    newest = max((tick.appended_ms for tick in evidence.newest.values()), default=None)
    if newest is not None and newest - _now_ms() > _SKEW_WARN_MS:
        yield _skew(_now_ms() - newest, "by a record that is dated later than now")
        return
    yield unknown(
        "only what is appended tells the brokers' time; nothing came while we looked, and "
        "nothing is written for it",
        "look again while an engine runs",
    )


def bridge(around: Surroundings) -> Iterator[Answer]:
    """See what the bridges say of themselves, and whether what was asked of them has an answer.

    As `fairlead group check --all` does.
    """
    cluster = around.cluster
    if not all(cluster.partitions(suffix) for suffix in ("requests", "routes", "offsets")):
        yield unknown("its topics are missing", "see: topics")
        return
    yield from _untold(around)
    found = cluster.bridges
    rows = found.rows()
    for row in rows:
        yield fail(row["says"], row["do"])
    if rows:
        return
    if not found.lives:
        yield unknown("no bridge has ever given a sign of life, and nothing asked has no answer")
        return
    for each in found.lives:
        if each in found.stopped:
            yield warn(each.words(), f"{each.command}, unless it is meant to stand still")
        else:
            yield ok(each.words())


def _untold(around: Surroundings) -> Iterator[Answer]:
    """Tell topics that have grown without a bridge: nobody asks for what nobody knows of."""
    routes, kafka = around.cluster.routes, around.settings.kafka
    for topic, words in sorted(look_for_untold(routes, kafka, timeout_ms=_LOOK_MS_MAX).items()):
        yield fail(f"{topic}: {words}", UNTOLD_REMEDY)


def _brokers_apart(around: Surroundings) -> Iterator[Answer]:
    """Tell brokers whose clocks differ: the ticks of one moment are dated by several of them."""
    ticks = around.cluster.ticks.newest
    dates = [tick.appended_ms for tick in ticks.values()]
    apart_ms = max(dates, default=0) - min(dates, default=0)
    margin_ms = around.settings.group_defaults.margin_ms
    if apart_ms > margin_ms:
        yield fail(
            f"shards are dated {apart_ms / 1_000:.1f} s apart, more than the margin of "
            f"{margin_ms / 1_000:.1f} s: a client of one may lapse early",
            "set the brokers' clocks (NTP); if one of them is down, bring it back",
        )


def _skew(skew_ms: int, by: str) -> Answer:
    """Return the verdict on a difference; positive: this machine is ahead, or slow to read."""
    told = (
        f"{abs(skew_ms) / 1_000:.2f} s {'ahead of' if skew_ms > 0 else 'behind'} the brokers, {by}"
    )
    remedy = (
        "set this machine's clock (NTP). Leases run on the brokers' clock and are right; times "
        "that commands and metrics show are not"
    )
    if abs(skew_ms) > _SKEW_FAIL_MS:
        return fail(told, remedy)
    return warn(told, remedy) if abs(skew_ms) > _SKEW_WARN_MS else ok(told)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
