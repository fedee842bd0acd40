"""The pull service: what pulls messages ahead, what holds it back, and who consumes them.

ADR 0137 gives the reasons.
"""
