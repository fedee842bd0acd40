"""The real engine and the real client session on a virtual clock, with no process between them.

ADR 0110 gives the reasons.
"""
