"""Who is in a group: heartbeats, leaves, lapses, returns, quotas and disagreements."""
