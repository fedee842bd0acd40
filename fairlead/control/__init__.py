"""What an operator tells the engine through the log, and what the engine answers (ADR 0095)."""
