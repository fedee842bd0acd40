"""Joins the parts of decisions, and marks whole decisions of a superseded engine.

Every reader of the decisions topic joins parts here, so that all readers see the same decisions of
a group (docs/protocol.md §2 and §3.14).

ADR 0193 gives the reasons.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Self, TypeVar

__all__ = ["DecisionParts", "PartName", "Whole"]

Part = TypeVar("Part")


class PartName(NamedTuple):
    """Identifies one part of a decision.

    Attributes:
        generation: the generation of the engine that wrote it (``cut.generation``). A decision that
            grants nothing keeps the epoch of the one before it, perhaps of an earlier engine.
        whole: what all parts of one decision share, besides the generation.
        part: the part's number, from 0.
        parts: the number of parts.
    """

    generation: int
    whole: Hashable
    part: int
    parts: int

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        """Read it from a decision record.

        Raises:
            KeyError, TypeError, ValueError: the body is not a decision record.
        """
        generation, number = body["epoch"]
        cut = body["cut"]
        whole = ((generation, number), body.get("at_ms"), cut.get("step"))
        counts = (cut["generation"], body["part"], body["parts"])
        if not all(type(count) is int for count in counts):
            raise ValueError(f"generation, part and parts are not integers: {counts}")
        return cls(counts[0], whole, counts[1], counts[2])


@dataclass(frozen=True, slots=True)
class Whole(Generic[Part]):
    """A decision with all its parts.

    Attributes:
        parts: in order.
        superseded: a part of a newer engine's decision came before its last part. Clients ignore
            such a decision, so it does not affect who owns what.
    """

    parts: list[Part]
    superseded: bool


@dataclass(slots=True)
class _Open(Generic[Part]):
    whole: Hashable
    parts: list[Part]


@dataclass(slots=True)
class DecisionParts(Generic[Part]):
    """The parts of one group's decisions, added in the order of the topic.

    During a takeover two engines may write at once, so each engine's parts are joined separately.
    An engine writes the parts of a decision one after another; if it ends in the middle, the last
    part is missing and the decision is never returned.
    """

    newest: int = 0
    """The newest generation of any part read."""
    _open: dict[int, _Open[Part]] = field(default_factory=dict)

    def join(self, name: PartName, part: Part) -> Whole[Part] | None:
        """Add a part; return the decision that it completes, or None."""
        generation = name.generation
        self.newest = max(self.newest, generation)
        if name.part == 0:
            self._open[generation] = _Open(name.whole, [])
        known = self._open.get(generation)
        if known is None or known.whole != name.whole or name.part != len(known.parts):
            return None
        known.parts.append(part)
        if len(known.parts) < name.parts:
            return None
        del self._open[generation]
        return Whole(known.parts, superseded=generation < self.newest)
