"""The pull service, its flow control, and the threads that consume pulled messages (ADR 0137)."""
