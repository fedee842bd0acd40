"""RocketMQ: its exact selection of queues, its form of routes, and its messages."""
