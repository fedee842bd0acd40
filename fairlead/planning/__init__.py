"""What would move if a group were changed; nothing is written anywhere (ADR 0096)."""
