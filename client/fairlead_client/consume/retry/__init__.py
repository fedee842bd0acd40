"""Messages that could not be consumed: when they come back, and when they do no more (ADR 0141)."""
