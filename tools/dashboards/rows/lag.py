"""Lag: in messages and in seconds, of the groups that have most of it, and of those offline."""

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards.conditions import GREEN, ORANGE
from tools.dashboards.grid import Row
from tools.dashboards.panel import Face, PanelSize, Question, Word, lines
from tools.dashboards.promql import most, of_groups, or_zero

_THIRD = PanelSize(8)
_SHOWN = 20
_LATE_S = 300


def _messages_of(modifier: str) -> str:
    lag = of_groups("fairlead_group_lag_messages", "topic").at(modifier)
    return f"sum by (group) ({lag})"


def _seconds_of(modifier: str) -> str:
    lag = of_groups("fairlead_group_lag_seconds", "topic").at(modifier)
    return f"max by (group) ({lag})"


def lag() -> Row:
    """Return the fourth row."""
    return Row("Who is behind?", [_messages(), _seconds(), _offline()])


def _messages() -> Panel:
    face = Face(
        "Lag in messages",
        f"Messages not processed yet, of the {_SHOWN} groups with most of them at the end of the"
        " time shown.",
        "short",
    )
    return lines(face, [Question(most(_SHOWN, _messages_of), "{{group}}")], _THIRD)


def _seconds() -> Panel:
    face = Face(
        "Lag in time",
        f"Age of the oldest message that is not processed, of the {_SHOWN} groups with the oldest."
        " It tells of slow groups what a number of messages does not.",
        "s",
        words=(Word(0, GREEN), Word(_LATE_S, ORANGE)),
    )
    return lines(face, [Question(most(_SHOWN, _seconds_of), "{{group}}")], _THIRD)


def _offline() -> Panel:
    face = Face(
        "Lag of groups without members",
        "Messages that wait for groups that nobody reads for at all.",
        "short",
    )
    nobody = f"{_messages_of('')} and on (group) {of_groups('fairlead_group_members')} == 0"
    return lines(face, [Question(or_zero(f"sum({nobody})"), "all offline groups")], _THIRD)
