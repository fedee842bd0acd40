"""Message model BROADCASTING: every member reads every queue, with its own offsets (ADR 0144)."""
