"""For users of RocketMQ only: its exact selection of queues, and its form of routes."""
