"""Group state and shards to bytes and back, under a version and a checksum (ADR 0040)."""
