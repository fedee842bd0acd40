"""The HTTP server of the engine and of ``fairlead serve``: bounded, and closed to web pages.

ADR 0183 gives the reasons.
"""
