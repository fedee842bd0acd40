"""Kafka under the session: threads that read, write and commit, and one that owns the session."""
