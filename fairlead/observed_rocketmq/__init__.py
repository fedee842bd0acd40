"""What a look at a RocketMQ cluster shows of its groups, and what is wrong with them (ADR 0213)."""
