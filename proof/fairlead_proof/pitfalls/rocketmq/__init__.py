"""A small model of RocketMQ's own way: every client decides for itself, from what it sees."""
