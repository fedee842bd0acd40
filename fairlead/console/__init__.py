"""The console: the pages of `fairlead serve`, and the answers that only they ask for.

ADR 0203 gives the reasons.
"""
