"""Kafka's questions about groups of KIP-848, which kafka-python 3.0 does not have (ADR 0216)."""
