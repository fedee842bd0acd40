"""The metrics that engine, `fairlead serve` and clients export, each with its own labels."""

from collections.abc import Mapping
from typing import Final

GROUP: Final = ("group",)
TOPIC: Final = ("group", "topic")
TRIGGER: Final = ("group", "trigger")
QUEUE: Final = ("group", "topic", "broker", "queue")

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    # Of Prometheus itself, of the rules in deploy/prometheus.
    "ALERTS": ("alertname", "alertstate", "severity", "service", "group"),
    "fairlead_build_info": ("version", "spark"),
    "fairlead_generation": (),
    "fairlead_query_restarts_total": (),
    "fairlead_last_batch_timestamp_seconds": (),
    "fairlead_batches_total": ("outcome",),
    "fairlead_batch_duration_seconds_bucket": ("phase", "le"),
    "fairlead_event_age_seconds_bucket": ("type", "le"),
    "fairlead_events_total": ("type", "outcome"),
    "fairlead_input_lag_records": ("topic",),
    "fairlead_state_rows": ("operator",),
    "fairlead_state_bytes": ("operator",),
    "fairlead_watermark_gap_seconds": (),
    "fairlead_publish_errors_total": ("reason",),
    "fairlead_rejects_total": ("reason",),
    "fairlead_steps_total": ("outcome",),
    "fairlead_allocation_failures_total": ("code",),
    "fairlead_assignments_published_total": ("kind",),
    "fairlead_group_info": ("group", "strategy", "mode", "model"),
    "fairlead_group_phase": ("group", "phase"),
    "fairlead_group_members": GROUP,
    "fairlead_group_members_idle": GROUP,
    "fairlead_group_queues": TOPIC,
    "fairlead_group_queues_unassigned": TOPIC,
    "fairlead_group_queues_in_handover": ("group", "phase"),
    "fairlead_group_queues_unsafe": GROUP,
    "fairlead_group_converged": GROUP,
    "fairlead_group_epoch": GROUP,
    "fairlead_group_assignment_skew": GROUP,
    "fairlead_group_alarm": ("group", "alarm"),
    "fairlead_subscription_mismatch": GROUP,
    "fairlead_group_lag_messages": TOPIC,
    "fairlead_group_lag_seconds": TOPIC,
    "fairlead_queue_lag_messages": QUEUE,
    "fairlead_queue_lag_seconds": QUEUE,
    "fairlead_queue_owner_since_timestamp_seconds": QUEUE,
    "fairlead_rebalances_total": TRIGGER,
    "fairlead_queue_moves_total": TRIGGER,
    "fairlead_queue_moves_minimum_total": TRIGGER,
    "fairlead_handover_timeouts_total": GROUP,
    "fairlead_overlap_violations_total": GROUP,
    "fairlead_fenced_commits_total": GROUP,
    "fairlead_client_expirations_total": GROUP,
    "fairlead_client_id_conflicts_total": GROUP,
    "fairlead_offset_fallbacks_total": ("group", "policy"),
    "fairlead_rebalance_phase_seconds_bucket": ("phase", "le"),
    "fairlead_handover_gap_seconds_bucket": ("le",),
    "fairlead_view_ready": (),
    "fairlead_view_lag_records": ("topic",),
    "fairlead_client_owned_queues": GROUP,
    "fairlead_client_polls_total": GROUP,
    "fairlead_client_last_assignment_timestamp_seconds": GROUP,
    "fairlead_client_revocations_total": GROUP,
    "fairlead_client_revoke_callback_seconds_bucket": ("group", "le"),
    "fairlead_client_commit_errors_total": GROUP,
}
