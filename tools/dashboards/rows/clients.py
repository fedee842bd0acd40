"""Clients: what applications tell of the client library that runs in them."""

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards.grid import Row
from tools.dashboards.panel import Face, PanelSize, Question, bars, lines, points
from tools.dashboards.promql import CLIENTS_SEEN, of_clients, or_zero, quantile

_THIRD = PanelSize(8)


def clients() -> Row:
    """Return the sixth row."""
    return Row(
        "How are the applications?",
        [_owned(), _polls(), _ages(), _revocations(), _callbacks(), _commits()],
    )


def _owned() -> Panel:
    face = Face(
        "Queues worked on",
        "By group, as the applications themselves say; it should be what the group has.",
        "none",
        no_value="no application exports its client's metrics",
    )
    owned = of_clients("fairlead_client_owned_queues")
    return lines(face, [Question(f"sum by (group) ({owned})", "{{group}}")], _THIRD)


def _polls() -> Panel:
    face = Face(
        "Messages asked for",
        "Per second and group. A group at 0 that has lag is an application that stands still.",
        "cps",
        no_value="no application exports its client's metrics",
    )
    polls = of_clients("fairlead_client_polls_total").rate()
    return lines(face, [Question(f"sum by (group) ({polls})", "{{group}}")], _THIRD)


def _ages() -> Panel:
    face = Face(
        "Since the last assignment",
        "Of the client of each group that heard from the engine least recently. Groups at rest hear"
        " nothing: only a step down tells something.",
        "s",
        no_value="no application exports its client's metrics",
    )
    oldest = of_clients("fairlead_client_last_assignment_timestamp_seconds")
    return lines(face, [Question(f"time() - min by (group) ({oldest} > 0)", "{{group}}")], _THIRD)


def _revocations() -> Panel:
    face = Face(
        "Queues taken away",
        "By group, in each step of time.",
        "none",
    )
    taken = of_clients("fairlead_client_revocations_total").grown()
    return bars(face, [Question(f"sum by (group) ({taken})", "{{group}}")], _THIRD)


def _callbacks() -> Panel:
    face = Face(
        "Until an application lets go: p50 and p99",
        "Time that applications took to stop working on a queue: their part of a handover.",
        "s",
        no_value="no queue was taken away in this time",
    )
    grown = of_clients("fairlead_client_revoke_callback_seconds_bucket").grown()
    questions = [
        Question(quantile(0.5, grown, "group"), "{{group}} p50"),
        Question(quantile(0.99, grown, "group"), "{{group}} p99"),
    ]
    return points(face, questions, _THIRD)


def _commits() -> Panel:
    face = Face(
        "Commits that failed",
        "Positions that could not be committed, in each step of time.",
        "none",
    )
    failed = of_clients("fairlead_client_commit_errors_total").grown()
    question = Question(or_zero(f"sum({failed})", CLIENTS_SEEN), "all chosen groups")
    return bars(face, [question], _THIRD)
