"""Failed messages: when they come back, and when they go to the dead-letter topic (ADR 0141)."""
