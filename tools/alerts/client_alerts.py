"""Alerts from applications that show the metrics of their clients."""

from typing import Final

from tools.alerts.alert import CLIENTS, Alert

CLIENT_ALERTS: Final = (
    Alert(
        name="CommitsFailing",
        job=CLIENTS,
        severity="ticket",
        expression="round(increase(fairlead_client_commit_errors_total[15m])) > 3",
        hold="0s",
        when="more than three commits of one client to the data cluster failed within 15 minutes",
        summary="Group {{ $labels.group }}: commits of {{ $labels.instance }} fail",
        description="The engine learns the progress all the same. But tools"
        " that read the group's committed offsets see old ones, and after a loss of the engine's"
        " state so would the engine.",
    ),
)
