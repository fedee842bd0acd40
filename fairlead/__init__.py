"""Fairlead: decides which consumer of a group reads which queue, for many groups at once."""

__version__ = "0.1.0"
