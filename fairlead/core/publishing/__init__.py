"""What members are told: assignments, decisions, notices, and records sent again."""
