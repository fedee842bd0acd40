"""What is known of each group: one fold of the topics, and the questions put to it (ADR 0193)."""
