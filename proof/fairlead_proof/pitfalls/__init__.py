"""RocketMQ's own way of sharing queues beside ours: what went wrong there, told side by side.

ADR 0152 gives the reasons.
"""
