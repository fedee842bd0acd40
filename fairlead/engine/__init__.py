"""The shard machine: from rows and stored bytes to records and stored bytes."""
