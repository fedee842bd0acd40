"""The bridge calls topics on Kafka as the client does."""

from fairlead_client.session import topic_names as of_client
from hypothesis import example, given
from hypothesis import strategies as st

from fairlead.bridges.kafka import topic_names as of_bridge

NAMES = st.text("ab_%|.-RETYDLQ", min_size=1, max_size=249)
OWN = st.builds(
    lambda prefix, group: prefix + group,
    st.sampled_from(["%RETRY%", "%DLQ%", "_-RETRY_-", "_-DLQ_-"]),
    st.text("ab_%|.-", max_size=121),
)


def _kafka_name(names: object, topic: str) -> str | tuple[str, str]:
    """What a topic is called on Kafka, or the refused name and the one that is meant."""
    try:
        return names.kafka_topic(topic)  # type: ignore[attr-defined, no-any-return]
    except ValueError as error:
        return error.topic, error.meant  # type: ignore[attr-defined]


@given(NAMES | OWN)
@example("%RETRY%" + 120 * "_")
@example("%RETRY%" + 121 * "g")
@example("_-RETRY_-g")
def test_as_the_client(name: str) -> None:
    """Client and bridge agree on every name, in both directions, and on whose retry topic it is."""
    assert _kafka_name(of_bridge, name) == _kafka_name(of_client, name)
    assert of_bridge.named_topic(name) == of_client.named_topic(name)
    assert of_bridge.retried_group(name) == of_client.retried_group(name)
    assert of_bridge.dead_letter_topic(name) == of_client.dead_letter_topic(name)
