"""How a queue that nobody has was lost by who had it last, and where it waits."""

from dataclasses import dataclass
from typing import Any

from fairlead.history.history_model import DecisionTold, Handover, Released
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["Loss"]


@dataclass(frozen=True, slots=True)
class Loss:
    """What took a queue from its last owner.

    Attributes:
        given_up: the last grant and its end; nobody was granted it after that.
        decision: that took it; None: it is not among those that were read.
        ended: the decision that found that the grant had ended; None: as before.
    """

    given_up: Handover
    decision: DecisionTold | None
    ended: DecisionRecord | None

    @property
    def since_ms(self) -> int | None:
        """Since when nobody has had it: when that was written."""
        return None if self.ended is None else self.ended.written_ms

    @property
    def client_id(self) -> str:
        """Who had it last."""
        return self.given_up.before.client_id

    @property
    def waits_at(self) -> Released | None:
        """The release that says where the next owner begins; None: there is none that says so."""
        released = self.given_up.released
        return None if released is None or released.offset is None else released

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        said = self.given_up.document()
        told = {name: said[name] for name in said if name not in _OF_SUCCESSORS}
        decision = None if self.decision is None else self.decision.document()
        return {**told, "decision": decision}


_OF_SUCCESSORS = ("granted_ms", "gap_ms", "by_release")
