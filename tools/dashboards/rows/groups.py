"""Groups: one line each, with a link to its own dashboard."""

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards import conditions
from tools.dashboards.conditions import GREEN, ORANGE, RED
from tools.dashboards.grid import Row
from tools.dashboards.panel import Face, PanelSize, Word
from tools.dashboards.promql import of_groups
from tools.dashboards.table import Column, table

_NUMBER = 95
_NONE_OR_BAD = (Word(0, GREEN), Word(1, ORANGE))


def groups() -> Row:
    """Return the third row."""
    return Row("Which group holds what?", [_table()])


def _sum(metric: str) -> str:
    return f"sum by (group) ({of_groups(metric, 'topic')})"


def _table() -> Panel:
    face = Face(
        "Groups",
        "Every chosen group, the longest lag first; offline groups too. Idle: members without a"
        " queue. Skew: most minus fewest queues of a member. More than serve.max_groups groups are"
        " one line, __other__.",
        "none",
        no_value="no group: is `fairlead serve` scraped?",
    )
    members = of_groups("fairlead_group_members")
    phase = of_groups("fairlead_group_phase", "phase")
    info = of_groups("fairlead_group_info", "strategy")
    columns = [
        Column("Group", label="group", opens_group=True),
        Column("Phase", f"{phase} > 0", label="phase", width=140),
        Column(
            "Strategy",
            f"{info}",
            label="strategy",
            width=170,
        ),
        Column("Members", f"{members}", width=_NUMBER),
        Column("Idle", f"{of_groups('fairlead_group_members_idle')}", width=_NUMBER),
        Column("Queues", _sum("fairlead_group_queues"), width=_NUMBER),
        Column(
            "No owner",
            _sum("fairlead_group_queues_unassigned"),
            words=_NONE_OR_BAD,
            width=_NUMBER,
        ),
        Column(
            "Two owners",
            conditions.UNSAFE_BY_GROUP,
            words=(Word(0, GREEN), Word(1, RED)),
            width=_NUMBER,
        ),
        Column("Skew", f"{of_groups('fairlead_group_assignment_skew')}", width=_NUMBER),
        Column("Lag", _sum("fairlead_group_lag_messages"), unit="short", width=_NUMBER),
        Column(
            "Lag in time",
            f"max by (group) ({of_groups('fairlead_group_lag_seconds', 'topic')})",
            unit="s",
            words=(Word(0, GREEN), Word(300, ORANGE)),
            width=_NUMBER,
        ),
        Column(
            "Alarms",
            f"{conditions.ALARMS_BY_GROUP} or 0 * {members}",
            words=_NONE_OR_BAD,
            width=_NUMBER,
        ),
    ]
    return table(face, columns, PanelSize(24, 11), sort_by=["Lag in time", "Lag"])
