"""`check` of a group and of all groups names a topic that is not there."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from fairlead.errors import ExitCode
from fairlead.settings import Settings
from tests.kit.command import Command
from tests.kit.routed_topic import routed_topic
from tests.kit.wire_records import example

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames
    from tests.kit.kafka_log import Log


@pytest.fixture
def command(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command of the test."""
    return Command("group", settings, capsys)


@pytest.fixture
def topic(bootstrap: str, topics: "TopicNames") -> Iterator[str]:
    """A topic that exists, and whose route a bridge has published."""
    # Like no other topic of the shared broker: only this one is similar to it.
    with routed_topic(bootstrap, topics, stem="q7f3k9z2-w8x5") as name:
        yield name


def test_a_finding_names_topic_cluster_and_similar_names(
    command: Command, log: "Log", topic: str
) -> None:
    """The finding names the topic, the cluster as its bridge calls it, and what is similar."""
    absent = f"{topic}s"
    for group, read in (("payments", absent), ("orders", topic)):
        beat = example("heartbeat") | {"group": group}
        beat["subscriptions"] = [{**beat["subscriptions"][0], "topic": read}]
        log.append_of("heartbeats", group, beat)
    says = f"topic {absent} does not exist on cluster main; there is {topic}"
    one = command("check", "payments", code=ExitCode.VERDICT_NEGATIVE)
    found = [each for each in one["problem_list"] if each["problem"] == "unassigned"]
    assert [(each["for"], each["says"]) for each in found] == [(absent, says)]
    assert "create the topic" in found[0]["remedy"]
    every = command("check", "--all", code=ExitCode.VERDICT_NEGATIVE)
    told = {
        each["group"]: [one["says"] for one in each["problem_list"]]
        for each in every["verdict_list"]
    }
    assert says in told["payments"]
    assert says not in told["orders"]
