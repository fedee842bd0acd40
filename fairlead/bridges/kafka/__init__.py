"""The bridge to Kafka: a topic's partitions become queues, its topic id the topic's identity."""

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge

__all__ = ["BridgeTimes", "KafkaBridge"]
