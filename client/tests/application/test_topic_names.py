"""What Kafka calls the retry and dead-letter topics of a group, and that no two are one."""

import re

import pytest
from fairlead_client import SettingsError
from fairlead_client.model import Subscription
from fairlead_client.session.topic_names import (
    TopicNameError,
    dead_letter_topic,
    is_own_topic,
    kafka_topic,
    named_topic,
    owner_of,
    retried_group,
    retry_topic,
)
from fairlead_client.settings.client_settings import Settings
from hypothesis import given
from hypothesis import strategies as st

CHARACTERS = "ab_%|.-RETYDLQ"
GROUPS = st.text(CHARACTERS, min_size=1, max_size=120)
OWN = GROUPS.flatmap(lambda group: st.sampled_from([retry_topic(group), dead_letter_topic(group)]))
ORDINARY = st.text(CHARACTERS, min_size=1, max_size=249) | st.builds(
    lambda head, group: head + group, st.sampled_from(["_-RETRY_-", "_-DLQ_-", "%DLQ"]), GROUPS
)
LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")


def settings(**chosen: object) -> Settings:
    """The settings of a member of the group orders."""
    return Settings(**{"bootstrap": "h:1", "group": "orders", "topics": ["sales"], **chosen})  # type: ignore[arg-type]


def _kafka_name(topic: str) -> str | None:
    """What Kafka calls a topic; None: that name is another's."""
    try:
        return kafka_topic(topic)
    except TopicNameError:
        return None


@pytest.mark.parametrize(
    "topic, kafka",
    [
        ("%RETRY%orders", "_-RETRY_-orders"),
        ("%DLQ%orders", "_-DLQ_-orders"),
        ("%RETRY%a.b", "_-RETRY_-a_db"),
        ("%RETRY%a_b", "_-RETRY_-a__b"),
        ("%RETRY%a|%b", "_-RETRY_-a_b_-b"),
        ("%RETRY%" + 120 * "%", "_-RETRY_-" + 120 * "_-"),
        ("orders_v2.eu-1", "orders_v2.eu-1"),
        ("%RETRY%", "%RETRY%"),
        ("_-RETRY_-a_x", "_-RETRY_-a_x"),
    ],
)
def test_only_retry_and_dead_letter_topics_are_escaped(topic: str, kafka: str) -> None:
    """Retry and dead-letter topics are escaped, all others keep their name."""
    assert kafka_topic(topic) == kafka
    assert named_topic(kafka) == topic


@given(OWN)
def test_every_topic_name_is_legal_and_read_back(topic: str) -> None:
    """Every group has names that Kafka allows, and that are read back to the same topic."""
    kafka = kafka_topic(topic)
    assert LEGAL.fullmatch(kafka)
    assert named_topic(kafka) == topic


@given(OWN | ORDINARY, OWN | ORDINARY)
def test_two_topics_never_share_a_kafka_name(one: str, other: str) -> None:
    """Two topics never have one name on Kafka: whoever is called so is refused."""
    names = [name for topic in {one, other} if (name := _kafka_name(topic)) is not None]
    assert len(names) == len(set(names))


@given(OWN, OWN)
def test_no_collision_in_metrics(one: str, other: str) -> None:
    """No two groups' topics differ by dots and underscores alone, which Kafka refuses."""
    if one != other:
        assert kafka_topic(one).replace(".", "_") != kafka_topic(other).replace(".", "_")


@given(st.text("ab_%|.-RETYDLQ", min_size=1, max_size=249))
def test_every_kafka_name_is_read(kafka: str) -> None:
    """What is read out of a name on Kafka is written back to that name."""
    assert kafka_topic(named_topic(kafka)) == kafka


@given(GROUPS)
def test_group_of_a_retry_topic(group: str) -> None:
    """A retry topic tells its group; a dead-letter topic and the bare prefix tell none."""
    assert retried_group(retry_topic(group)) == group
    assert retried_group(dead_letter_topic(group)) is None
    assert retried_group("%RETRY%" + 121 * "g") is None
    assert retried_group("%RETRY%") is None


@given(GROUPS)
def test_owner_of_an_own_topic(group: str) -> None:
    """Both topics of a group tell it; an ordinary name and the name on Kafka tell none."""
    for topic in (retry_topic(group), dead_letter_topic(group)):
        assert is_own_topic(topic)
        assert owner_of(topic) == group
        assert owner_of(kafka_topic(topic)) is None
    for other in ("orders", "%DLQ%", "%DLQ%" + 121 * "g"):
        assert not is_own_topic(other)


def test_a_refused_name_tells_which_is_meant() -> None:
    """The error is a ValueError, and names both."""
    with pytest.raises(ValueError, match="is Kafka's name of '%DLQ%orders'") as caught:
        kafka_topic("_-DLQ_-orders")
    assert isinstance(caught.value, TopicNameError)
    assert (caught.value.topic, caught.value.meant) == ("_-DLQ_-orders", "%DLQ%orders")


def test_a_retry_topic_under_its_kafka_name_is_refused() -> None:
    """The refusal of a retry topic under Kafka's name shows its own name."""
    with pytest.raises(SettingsError, match="'%RETRY%orders'") as caught:
        settings(topics=["_-RETRY_-orders"])
    assert caught.value.field == "topics"


def test_a_wanted_retry_topic_joins_the_subscription() -> None:
    """A member that wants its retry topic has it behind its own topics, at every subscription."""
    chosen = settings(retry_topic=True)
    retried = Subscription("%RETRY%orders", sub_version=7)
    assert chosen.subscriptions(7) == (Subscription("sales", sub_version=7), retried)
    assert chosen.subscribing(["rents"], 7) == (Subscription("rents", sub_version=7), retried)
    named = (Subscription("%RETRY%orders", "A", sub_version=7),)
    assert chosen.subscribing(named, 7) == named
    assert settings().subscriptions(7) == (Subscription("sales", sub_version=7),)
