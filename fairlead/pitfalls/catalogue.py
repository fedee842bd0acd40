"""All pitfalls, in the order in which they are told."""

from fairlead.pitfalls.handovers import HANDOVERS
from fairlead.pitfalls.members import MEMBERS
from fairlead.pitfalls.pitfall import Pitfall
from fairlead.pitfalls.views import VIEWS

__all__ = ["PITFALLS"]

PITFALLS: tuple[Pitfall, ...] = (*VIEWS, *HANDOVERS, *MEMBERS)
