"""What a gateway says of its answers: who was concerned, and never a state or a token."""

import pytest
from fairlead_client.model import Process
from fairlead_client.thin.thin_words import Joined, PollAnswer
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from fairlead.gateway.gateway_metrics import GatewayMetrics
from fairlead.gateway.journal import Asker, Journal
from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.outputs import (
    FULL,
    SUPERSEDED,
    SUPERSEDED_ELSEWHERE,
    Body,
    Left,
    Reply,
    session_over,
)

WHO = {"group": "orders", "client_id": "c1", "session": "s1", "principal": "shop"}
PROFILE = MemberProfile(principal="shop", group="orders", client_id="c1", process=Process(1, "u"))
STATE = "the-state"


class Told:
    """A journal, and what it has counted."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.journal = Journal(GatewayMetrics(self.registry))

    def count(self, name: str, **labels: str) -> float | None:
        """Return the value of a counter."""
        return self.registry.get_sample_value(f"fairlead_gateway_{name}", labels)

    def reply(self, body: Body, route: str = "poll") -> list[dict[str, object]]:
        """Tell it of a reply; return the lines of the log."""
        with capture_logs() as lines:
            self.journal.replied(route, Asker("shop", "s1"), Reply(1, body, PROFILE))
        return [dict(line) for line in lines]


@pytest.mark.parametrize(
    "body, route, event, level",
    [
        (Joined("s1", STATE, "c1", 9_000, 3_000), "join", "session_joined", "info"),
        (Left(), "leave", "session_left", "info"),
        (session_over("lease_ended", "It ended."), "poll", "session_lost", "warning"),
        (FULL, "join", "request_refused", "warning"),
    ],
)
def test_each_event_is_one_line_that_names_who(
    body: Body, route: str, event: str, level: str
) -> None:
    """A join, a leave, a loss and a refusal are one line with group, client, session, principal."""
    (line,) = Told().reply(body, route)
    assert (line["event"], line["log_level"]) == (event, level)
    assert {name: line[name] for name in WHO} == WHO
    assert STATE not in str(line)


def test_a_poll_that_goes_well_is_counted_and_not_logged() -> None:
    """Thousands of polls a second leave no line."""
    told = Told()
    assert told.reply(PollAnswer(STATE, 9_000, (), (), ())) == []
    assert told.count("polls_total", outcome="quiet") == 1


@pytest.mark.parametrize("body", [SUPERSEDED, SUPERSEDED_ELSEWHERE])
def test_a_poll_that_its_client_gave_up_is_no_loss(body: Body) -> None:
    """A client that sends a newer poll has lost nothing, whatever the older one is answered."""
    told = Told()
    assert told.reply(body) == []
    assert told.count("polls_total", outcome="superseded") == 1
    assert told.count("sessions_lost_total", reason="session_elsewhere") == 0


def test_a_loss_is_counted_by_its_reason() -> None:
    """The reasons stand there from the beginning, so that the first loss is seen."""
    told = Told()
    assert told.count("sessions_lost_total", reason="lease_ended") == 0
    told.reply(session_over("lease_ended", "It ended."))
    assert told.count("sessions_lost_total", reason="lease_ended") == 1
    assert told.count("polls_total", outcome="lost") == 1


def test_a_refusal_without_a_profile_shows_what_the_request_shows() -> None:
    """The group of a refused join comes from its path."""
    told = Told()
    with capture_logs() as lines:
        told.journal.replied("join", Asker("shop", "", "orders"), Reply(1, FULL))
    (line,) = lines
    assert (line["group"], line["client_id"], line["kind"]) == ("orders", None, FULL.kind)
    assert told.count("joins_total", outcome="refused") == 1
