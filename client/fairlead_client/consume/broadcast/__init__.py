"""Message model BROADCASTING: every member reads every queue, and keeps its offsets itself.

ADR 0144 gives the reasons.
"""
