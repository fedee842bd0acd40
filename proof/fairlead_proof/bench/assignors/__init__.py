"""The benchmark of the strategies: ours and Kafka's own assignors over the same groups.

ADR 0090 gives the reasons.
"""
