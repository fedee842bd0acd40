"""The metrics of a gateway that has counted everything once."""

from typing import NamedTuple

from fairlead_client.thin.thin_words import Joined, PollAnswer
from prometheus_client import CollectorRegistry

from fairlead.gateway.gateway_metrics import GatewayMetrics, StateMetrics
from fairlead.gateway.journal import Asker, Journal
from fairlead.gateway.outputs import FULL, Reply, session_over
from fairlead.kafka.topic_follower import FollowedTopic, Following

__all__ = ["add_gateway"]


class _Ready(NamedTuple):
    following: Following
    trouble: str = ""
    sessions: int = 2


def add_gateway(registry: CollectorRegistry) -> None:
    """Register a gateway that has answered, refused and lost."""
    topics = {"heartbeats": FollowedTopic(3, 1_000)}
    following = Following(caught_up=True, trouble="", topics=topics, read=9, wanted=9)
    registry.register(StateMetrics(_Ready(following)))
    journal, asker = Journal(GatewayMetrics(registry)), Asker("p", "s", "g")
    journal.appended("heartbeats", is_there=True)
    journal.request("poll", 200, 0.5)
    journal.request("join", 503, 0.1)
    news = Reply(1, PollAnswer("state", 9_000, (), (), ()), None, 12, True, 1_000)  # noqa: FBT003 - as a gateway makes it
    journal.replied("poll", asker, news)
    journal.replied("poll", asker, Reply(2, session_over("lease_ended", "It ended.")))
    journal.replied("join", asker, Reply(3, FULL))
    journal.replied("join", asker, Reply(4, Joined("s", "state", "c", 9_000, 3_000)))
