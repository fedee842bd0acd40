"""The producer: which queue a message goes to, and how often it is tried (ADR 0133)."""
