"""Compares RocketMQ's way of sharing queues with ours, on histories that went wrong (ADR 0152)."""
