"""Consumers: the lifecycle of one client, its messages in hand, and its ways to get messages."""
