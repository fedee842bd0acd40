"""Kafka under the session: threads that read, write and commit, and the session's own thread."""
