"""Is it safe: answered by a colour and a word each, without scrolling, and where it is not."""

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards import conditions
from tools.dashboards.conditions import (
    GREEN,
    NOBODY_TELLS,
    ORANGE,
    PURPLE,
    RED,
    counted,
)
from tools.dashboards.grid import Row
from tools.dashboards.panel import Face, PanelSize, Question, Word, lines, tile
from tools.dashboards.promql import UNKNOWN, firing, of_groups, or_unknown, or_zero
from tools.dashboards.table import Column, table

_TILE = PanelSize(3, 4)


def safety() -> Row:
    """Return the first row: eight tiles, what is not well by group, and since when."""
    return Row(
        "Is it safe?",
        [*_of_groups(), *_of_programs(), _not_well(), _firing(), _since_when()],
    )


def _of_groups() -> list[Panel]:
    verdict = Face(
        "Verdict",
        "SAFE: every tile beside it is green. SAFE, BUT LOOK: no queue has two owners, but another"
        " tile is not green. UNSAFE: a queue may be read by two clients at once. UNKNOWN: no"
        " metrics of `fairlead serve` or of the engine.",
        "none",
        words=conditions.VERDICT_WORDS,
    )
    two_owners = Face(
        "Two owners",
        "Queues that two clients may be reading now, and overlaps seen in the last 5 minutes."
        " Anything but none is a page: `fairlead group check GROUP`.",
        "suffix:queues",
        words=(NOBODY_TELLS, Word(0, GREEN, "none"), Word(1, RED)),
    )
    no_owner = Face(
        "No owner",
        "Queues that nobody reads although their group has members. Seconds of it belong to a"
        " handover; minutes do not.",
        "suffix:queues",
        words=(NOBODY_TELLS, Word(0, GREEN, "none"), Word(1, ORANGE)),
    )
    stuck = Face(
        "Stuck groups",
        f"Groups that for {conditions.STUCK} were at no moment where they should be: a member"
        " does not release, or does not start.",
        "suffix:groups",
        words=(NOBODY_TELLS, Word(0, GREEN, "none"), Word(1, ORANGE)),
    )
    alarms = Face(
        "Alarms",
        "Groups with an alarm in their last decision, such as mute_member or duplicate_client_id;"
        " the table below names them.",
        "suffix:groups",
        words=(NOBODY_TELLS, Word(0, GREEN, "none"), Word(1, ORANGE)),
    )
    return [
        tile(verdict, conditions.VERDICT, _TILE),
        tile(two_owners, counted(conditions.UNSAFE), _TILE),
        tile(no_owner, counted(conditions.OWNERLESS), _TILE),
        tile(stuck, counted(conditions.STUCK_GROUPS), _TILE),
        tile(alarms, counted(conditions.ALARMED), _TILE),
    ]


def _of_programs() -> list[Panel]:
    batch = Face(
        "Last batch",
        "Age of the engine's last micro-batch. While it grows nobody decides: clients keep what"
        " they own, and nothing moves.",
        "suffix:s ago",
        words=(
            Word(UNKNOWN, PURPLE, "NO ENGINE"),
            Word(0, GREEN, "fresh"),
            Word(conditions.BATCH_SLOW_S, ORANGE),
            Word(conditions.BATCH_STALLED_S, RED),
        ),
    )
    engine = Face(
        "Engine is behind",
        "Records of its input topics that the engine has not read.",
        "suffix:records",
        words=(
            Word(UNKNOWN, PURPLE, "NO ENGINE"),
            Word(0, GREEN, "keeps up"),
            Word(conditions.LAG_RECORDS, ORANGE),
            Word(conditions.LAG_RECORDS_MANY, RED),
        ),
    )
    view = Face(
        "This view is behind",
        "Records that `fairlead serve` has not read: what is shown of groups is that old.",
        "suffix:records",
        words=(
            Word(UNKNOWN, PURPLE, "NO VIEW"),
            Word(0, GREEN, "keeps up"),
            Word(conditions.LAG_RECORDS, ORANGE),
            Word(conditions.LAG_RECORDS_MANY, RED),
        ),
    )
    return [
        tile(batch, or_unknown(f"round({conditions.BATCH_AGE})"), _TILE),
        tile(engine, or_unknown(conditions.ENGINE_LAG), _TILE),
        tile(view, or_unknown(conditions.VIEW_LAG), _TILE),
    ]


_WHAT = (
    ("two owners", f"{conditions.UNSAFE_BY_GROUP} > 0"),
    ("overlaps in 5 minutes", f"{conditions.VIOLATIONS_BY_GROUP} > 0"),
    ("queues without owner", f"({conditions.OWNERLESS_BY_GROUP}) > 0"),
    ("stuck", f"1 + ({conditions.STUCK_BY_GROUP})"),
    ("alarms", conditions.ALARMS_BY_GROUP),
)


def _not_well() -> Panel:
    named = [f'label_replace({expression}, "what", "{what}", "", "")' for what, expression in _WHAT]
    face = Face(
        "Which groups",
        "Each group that is not well, what it is, and how many; the worst first. Open one to see"
        " since when.",
        "none",
        no_value="every group is well",
    )
    columns = [
        Column("Group", label="group", opens_group=True),
        Column("What", label="what"),
        Column("How many", " or ".join(named), unit="none", width=110),
    ]
    return table(face, columns, PanelSize(9, 7), sort_by=["How many"])


def _firing() -> Panel:
    face = Face(
        "Alerts that fire",
        "Of the chosen groups, the engine and the view; docs/runbooks has a page for each name."
        " Empty too where Prometheus does not load deploy/prometheus/rules.",
        "none",
        no_value="no alert fires",
    )
    columns = [
        Column(
            "Alert", f"{firing('alertname', 'severity', 'group', match='$group|')}", "alertname"
        ),
        Column("Severity", label="severity", width=100),
        Column("Group", label="group", opens_group=True),
    ]
    return table(face, columns, PanelSize(6, 7), sort_by=["Severity"])


def _since_when() -> Panel:
    face = Face(
        "Since when",
        "The tiles over time. Short steps of `no owner` and `not converged` are handovers.",
        "none",
    )
    moving = of_groups("fairlead_group_converged")
    questions = [
        Question(or_zero(conditions.UNSAFE), "two owners (queues)"),
        Question(or_zero(conditions.OWNERLESS), "no owner (queues)"),
        Question(or_zero(f"count({moving} == 0)"), "not converged (groups)"),
        Question(or_zero(conditions.ALARMED), "with alarms (groups)"),
    ]
    return lines(face, questions, PanelSize(9, 7))
