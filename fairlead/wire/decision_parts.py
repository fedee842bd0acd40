"""Joins the parts of decisions, and tells which whole decisions a superseded engine wrote.

Every reader of the decisions topic joins parts here, whatever it reads of them, so that all of them
see the same decisions of a group (docs/protocol.md §2 and §3.14).

ADR 0193 gives the reasons.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Self, TypeVar

__all__ = ["DecisionParts", "PartName", "Whole"]

Part = TypeVar("Part")


class PartName(NamedTuple):
    """What a record of the decisions topic says of the decision that it is a part of.

    Attributes:
        generation: of the engine that wrote it (``cut.generation``). The epoch of a decision that
            grants nothing is that of the one before it, and may be of an earlier engine.
        whole: what all parts of one decision have in common, beside their generation.
        part: its number, from 0.
        parts: how many there are.
    """

    generation: int
    whole: Hashable
    part: int
    parts: int

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        """Return what a decision record says of it.

        Raises:
            KeyError, TypeError, ValueError: it is no decision record.
        """
        generation, number = body["epoch"]
        cut = body["cut"]
        whole = ((generation, number), body.get("at_ms"), cut.get("step"))
        counts = (cut["generation"], body["part"], body["parts"])
        if not all(type(count) is int for count in counts):
            raise ValueError(f"generation, part and parts are no whole numbers: {counts}")
        return cls(counts[0], whole, counts[1], counts[2])


@dataclass(frozen=True, slots=True)
class Whole(Generic[Part]):
    """A decision of which all parts were read.

    Attributes:
        parts: in their order.
        superseded: a part of a newer engine's decision was read before its last part. Clients
            ignore what it led to, so it says nothing of who owns what.
    """

    parts: list[Part]
    superseded: bool


@dataclass(slots=True)
class _Open(Generic[Part]):
    whole: Hashable
    parts: list[Part]


@dataclass(slots=True)
class DecisionParts(Generic[Part]):
    """The parts of one group's decisions that were read, in the order of the topic.

    Two engines may write at once while one takes over from the other: the parts of each are joined
    by themselves. One engine writes the parts of a decision one after another, so a decision whose
    engine ended in the middle stays without its last part, and is never returned.
    """

    newest: int = 0
    """The greatest generation that any part was read of."""
    _open: dict[int, _Open[Part]] = field(default_factory=dict)

    def join(self, name: PartName, part: Part) -> Whole[Part] | None:
        """Return the decision that this part completes; None: it completes none."""
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
