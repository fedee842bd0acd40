"""What the engine tells members: assignments, decisions, notices, and records sent again."""
