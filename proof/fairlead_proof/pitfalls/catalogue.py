"""All pitfalls, in the order of docs/pitfalls.md."""

from fairlead_proof.pitfalls.handovers import HANDOVERS
from fairlead_proof.pitfalls.members import MEMBERS
from fairlead_proof.pitfalls.pitfall import Pitfall
from fairlead_proof.pitfalls.views import VIEWS

__all__ = ["PITFALLS"]

PITFALLS: tuple[Pitfall, ...] = (*VIEWS, *HANDOVERS, *MEMBERS)
