"""Reads live clusters of RocketMQ by the remoting protocol, and joins no group (ADR 0212)."""
