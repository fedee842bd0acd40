"""Kafka's questions about groups of KIP-848, which kafka-python 3.0 does not have.

The JSON files are Kafka's message definitions, in Kafka's form, so that kafka-python's own codec
reads and writes them (`kafka.protocol.api_message.ApiMessage`).
"""

from kafka.protocol.api_message import ApiMessage

__all__ = ["ConsumerGroupDescribeRequest", "ConsumerGroupDescribeResponse"]


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__package__):  # type: ignore[call-arg, misc]  # kafka ships no types
    """Asks a coordinator for groups of the new protocol."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__package__):  # type: ignore[call-arg, misc]  # kafka ships no types
    """The coordinator's answer: epochs, members, what they own and what they shall own."""
