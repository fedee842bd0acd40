"""The judge of what happened: recorded topics and journals against the promises of the protocol.

ADR 0113 gives the reasons.
"""
