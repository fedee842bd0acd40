"""Rebalances: how many and why, how long each part takes, what goes wrong in them."""

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards.grid import Row
from tools.dashboards.panel import (
    Face,
    PanelSize,
    Question,
    bars,
    heat_map,
    points,
)
from tools.dashboards.promql import of_all_groups, of_groups, or_zero, quantile

_HALF = PanelSize(12)
_PHASES = of_all_groups("fairlead_rebalance_phase_seconds_bucket", "le", "phase")
_GAPS = of_all_groups("fairlead_handover_gap_seconds_bucket", "le")
_CONVERGE = of_all_groups("fairlead_rebalance_phase_seconds_bucket", "le", phase="converge")

MISHAPS = (
    ("fairlead_overlap_violations_total", "overlap: two live owners"),
    ("fairlead_handover_timeouts_total", "holder gone or mute before it released"),
    ("fairlead_client_expirations_total", "client expired"),
    ("fairlead_client_id_conflicts_total", "client id used twice"),
    ("fairlead_fenced_commits_total", "release or progress of an old epoch"),
)
"""Counters of what should not happen in a rebalance, and their names in a legend."""


def rebalances() -> Row:
    """Return the second row."""
    return Row(
        "Rebalances: how often, why, how long?",
        [_why(), _moves(), _phases(), _converging(), _gap(), _mishaps()],
    )


def _why() -> Panel:
    face = Face(
        "Decisions by trigger",
        "Decisions of the chosen groups in each step of time, once for each of their triggers."
        " `fairlead moves GROUP` tells them one by one.",
        "none",
        no_value="no decision in this time",
    )
    decided = of_groups("fairlead_rebalances_total", "trigger").grown()
    return bars(face, [Question(f"sum by (trigger) ({decided})", "{{trigger}}")], _HALF)


def _moves() -> Panel:
    face = Face(
        "Queues moved, and the least possible",
        "Queues whose owner changed, beside the fewest moves that give an even share. Far apart:"
        " the strategy moves more than it has to; STICKY does not.",
        "none",
    )
    moved = of_groups("fairlead_queue_moves_total", "trigger").grown()
    least = of_groups("fairlead_queue_moves_minimum_total", "trigger").grown()
    questions = [
        Question(or_zero(f"sum({moved})"), "moved"),
        Question(or_zero(f"sum({least})"), "least possible"),
    ]
    return points(face, questions, _HALF)


def _phases() -> Panel:
    face = Face(
        "Parts of a rebalance: p50 and p99",
        "detect: from the first record that caused it, of a lapse the last heartbeat, until the"
        " newest was read. decide: until the decision was written. release: of each queue, from"
        " the drop to its release. converge: from the decision until all members say that they"
        " hold their assignments. Each point stands for the rebalances of its step; between them"
        " there were none.",
        "s",
        no_value="no rebalance in this time",
    )
    grown = _PHASES.grown()
    questions = [
        Question(quantile(0.5, grown, "phase"), "{{phase}} p50"),
        Question(quantile(0.99, grown, "phase"), "{{phase}} p99"),
    ]
    return points(face, questions, _HALF)


def _converging() -> Panel:
    face = Face(
        "Until all is in place",
        "How many rebalances took how long from the decision until all members said that they hold"
        " their assignments. A second band far above the first is a member that lets go late.",
        "s",
        no_value="no rebalance in this time",
    )
    return heat_map(face, f"sum by (le) ({_CONVERGE.grown()})", _HALF)


def _gap() -> Panel:
    face = Face(
        "Handover gap: p50 and p99",
        "How long a queue that moved was read by nobody.",
        "s",
        no_value="no handover in this time",
    )
    grown = _GAPS.grown()
    questions = [
        Question(quantile(0.5, grown), "p50"),
        Question(quantile(0.99, grown), "p99"),
    ]
    return points(face, questions, _HALF)


def _mishaps() -> Panel:
    face = Face(
        "What went wrong",
        "What should not happen in a rebalance, in each step of time. An overlap is a page; clients"
        " that expire again and again are processes that die or stand still.",
        "none",
    )
    questions = [
        Question(or_zero(f"sum({of_groups(metric).grown()})"), legend) for metric, legend in MISHAPS
    ]
    return bars(face, questions, _HALF)
