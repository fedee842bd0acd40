"""Answers cases as RocketMQ's classes would, so that anybody can compare the two (ADR 0090)."""
