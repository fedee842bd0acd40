"""The engine: where its time goes, how old what it applies is, what becomes of what it reads."""

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards.grid import Row
from tools.dashboards.panel import (
    Face,
    PanelSize,
    Question,
    bars,
    lines,
    on_own_axis,
    timeline,
)
from tools.dashboards.promql import ENGINE_SEEN, of_job, or_zero, quantile

_THIRD = PanelSize(8)


def engine() -> Row:
    """Return the fifth row."""
    return Row(
        "What does the engine do?",
        [
            _batches(),
            _ages(),
            _outcomes(),
            _state(),
            _gap(),
            _failures(),
            _lag(),
            _written(),
            _generation(),
        ],
    )


def _batches() -> Panel:
    face = Face(
        "Parts of a batch: p50 and p99",
        "Time of committed micro-batches and of their parts; execution is reading, deciding and"
        " writing. A join waits for one or two batches.",
        "s",
    )
    buckets = of_job("fairlead_batch_duration_seconds_bucket").rate()
    questions = [
        Question(quantile(0.5, buckets, "phase"), "{{phase}} p50"),
        Question(
            quantile(0.99, of_job("fairlead_batch_duration_seconds_bucket", phase="total").rate()),
            "total p99",
        ),
    ]
    return lines(face, questions, _THIRD)


def _ages() -> Panel:
    face = Face(
        "Age of what is applied: p50 and p99",
        "From the moment a record was appended to the moment the engine had applied it.",
        "s",
    )
    buckets = of_job("fairlead_event_age_seconds_bucket").rate()
    questions = [
        Question(quantile(0.5, buckets, "type"), "{{type}} p50"),
        Question(quantile(0.99, buckets, "type"), "{{type}} p99"),
    ]
    return lines(face, questions, _THIRD)


def _outcomes() -> Panel:
    face = Face(
        "Records by what became of them",
        "Applied, duplicate, stale or rejected, per second. Much that is rejected: look into the"
        " rejects topic with `fairlead rejects tail`.",
        "cps",
    )
    events = of_job("fairlead_events_total").rate()
    return lines(face, [Question(f"sum by (outcome) ({events})", "{{outcome}}")], _THIRD)


def _state() -> Panel:
    face = Face(
        "State",
        "Rows and memory of Spark's state store. Rows are one for each shard and stay; memory"
        " grows with groups and members, and stays with them.",
        "bytes",
    )
    questions = [
        Question(f"sum({of_job('fairlead_state_bytes')})", "memory"),
        Question(f"sum({of_job('fairlead_state_rows')})", "rows"),
    ]
    panel = lines(face, questions, _THIRD)
    on_own_axis(panel, "rows", "none")
    return panel


def _gap() -> Panel:
    face = Face(
        "The log's clock behind the wall clock",
        "Of the shard that is farthest behind. Leases end by the log's clock: a gap that grows"
        " means that nobody expires, and that clients of dead processes keep their queues.",
        "s",
    )
    return lines(
        face, [Question(f"max({of_job('fairlead_watermark_gap_seconds')})", "gap")], _THIRD
    )


def _failures() -> Panel:
    face = Face(
        "Failures",
        "Failed batches, restarts by the supervisor, records that could not be written, refused"
        " records, steps that failed. All should be 0.",
        "none",
    )
    counters = (
        ("batches failed", of_job("fairlead_batches_total", outcome="failed")),
        ("restarts", of_job("fairlead_query_restarts_total")),
        ("not written", of_job("fairlead_publish_errors_total")),
        ("records rejected", of_job("fairlead_rejects_total")),
        ("steps failed", of_job("fairlead_steps_total", outcome="failed")),
        ("allocations failed", of_job("fairlead_allocation_failures_total")),
    )
    questions = [
        Question(or_zero(f"sum({counter.grown()})", ENGINE_SEEN), legend)
        for legend, counter in counters
    ]
    return bars(face, questions, _THIRD)


def _lag() -> Panel:
    face = Face(
        "Input that is not read",
        "Records of each input topic that the last batch left unread.",
        "short",
    )
    lag = of_job("fairlead_input_lag_records")
    return lines(face, [Question(f"sum by (topic) ({lag})", "{{topic}}")], _THIRD)


def _written() -> Panel:
    face = Face(
        "Assignments told to clients",
        "Assignments, notices and records of clients that are gone, in each step of time.",
        "none",
    )
    told = of_job("fairlead_assignments_published_total").grown()
    return bars(face, [Question(f"sum by (kind) ({told})", "{{kind}}")], _THIRD)


def _generation() -> Panel:
    face = Face(
        "Driver",
        "The generation that is running: each start of the engine is a new one.",
        "none",
        no_value="no engine",
    )
    return timeline(face, [Question(f"max({of_job('fairlead_generation')})", "generation")], _THIRD)
