"""Fairlead: decides which consumer of a group reads which queue, for many groups at once.

ADR 0001 lists the rooms beside this package, and their permitted imports.
"""

__version__ = "0.1.0"
