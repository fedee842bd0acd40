"""A small model of RocketMQ: every client decides for itself, by what it sees."""
