"""Who may call ``fairlead serve``: principals, their rights, and how they prove who they are.

ADR 0197 gives the reasons.
"""
