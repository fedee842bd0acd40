"""The shard: many groups folded through the core, with isolation, clock and generation."""
