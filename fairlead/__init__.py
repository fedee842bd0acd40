"""Fairlead: decides which consumer of a group reads which queue, for many groups at once.

ADR 0001 says which rooms stand beside this package, and which may import which.
"""

__version__ = "0.1.0"
