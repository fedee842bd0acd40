"""The gateway: who is served, how fast they hear, and what went wrong."""

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards.grid import Row
from tools.dashboards.panel import Face, PanelSize, Question, bars, lines, points
from tools.dashboards.promql import GATEWAY_SEEN, of_job, or_zero, quantile

_THIRD = PanelSize(8)
_NO_GATEWAY = "no `fairlead serve` has a gateway"


def gateway() -> Row:
    """Return the seventh row."""
    return Row(
        "How are the clients of the gateway?",
        [_sessions(), _news(), _heartbeats(), _polls(), _lost(), _failures()],
    )


def _sessions() -> Panel:
    face = Face(
        "Sessions",
        "Clients that each gateway serves, and records of the log that it has not read.",
        "none",
        no_value=_NO_GATEWAY,
    )
    behind = of_job("fairlead_gateway_lag_records")
    return lines(
        face,
        [
            Question(f"{of_job('fairlead_gateway_sessions')}", "{{instance}}"),
            Question(f"sum by (instance) ({behind})", "{{instance}}: records behind"),
        ],
        _THIRD,
    )


def _news() -> Panel:
    face = Face(
        "Until a client hears the news: p50 and p99",
        "From the append of an assignment or a release to the answer that tells of it, of polls"
        " that waited.",
        "s",
        no_value="no client heard news in this time",
    )
    grown = of_job("fairlead_gateway_news_seconds_bucket").rate()
    questions = [Question(quantile(q, grown), f"p{q * 100:.0f}") for q in (0.5, 0.99)]
    return points(face, questions, _THIRD)


def _heartbeats() -> Panel:
    face = Face(
        "Until a heartbeat is in the log: p50 and p99",
        "From the receipt of a poll until the brokers have its heartbeat. No poll is answered"
        " sooner.",
        "s",
        no_value=_NO_GATEWAY,
    )
    grown = of_job("fairlead_gateway_heartbeat_seconds_bucket").rate()
    questions = [Question(quantile(q, grown), f"p{q * 100:.0f}") for q in (0.5, 0.99)]
    return lines(face, questions, _THIRD)


def _polls() -> Panel:
    face = Face(
        "Polls by outcome",
        "Per second. Quiet polls are the rule; news are starts and stops.",
        "cps",
        no_value=_NO_GATEWAY,
    )
    polls = of_job("fairlead_gateway_polls_total").rate()
    return lines(face, [Question(f"sum by (outcome) ({polls})", "{{outcome}}")], _THIRD)


def _lost() -> Panel:
    face = Face(
        "Sessions lost",
        "Clients that had to stop everything, by reason, in each step of time. lease_ended:"
        " silent for a lease; session_elsewhere: one session at two places.",
        "none",
        no_value=_NO_GATEWAY,
    )
    lost = of_job("fairlead_gateway_sessions_lost_total").grown()
    return bars(face, [Question(f"sum by (reason) ({lost})", "{{reason}}")], _THIRD)


def _failures() -> Panel:
    face = Face(
        "Appends that failed, requests refused",
        "In each step of time. Appends fail where brokers do not answer or a right is missing.",
        "none",
    )
    failed = of_job("fairlead_gateway_appends_total", outcome="failed").grown()
    refused = of_job("fairlead_gateway_refused_total").grown()
    questions = [
        Question(or_zero(f"sum({failed})", GATEWAY_SEEN), "appends failed"),
        Question(or_zero(f"sum({refused})", GATEWAY_SEEN), "requests refused"),
    ]
    return bars(face, questions, _THIRD)
