"""The bridge to Kafka: a topic's partitions become queues, its topic id the topic's identity.

ADR 0060 gives the reasons.
"""
