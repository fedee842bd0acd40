"""Puts the parts of an assignment together; an incomplete set has no effect."""

from fairlead_client.model import Epoch
from fairlead_client.session.records import Assignment


class AssignmentAssembler:
    """Collects parts until all of one set are there.

    A part whose epoch or generation is not that of part 0 does not belong to the set. An older part
    never takes the place of a newer one: a set that was overtaken is healed by the engine.
    """

    def __init__(self) -> None:
        self._parts: dict[int, Assignment] = {}

    def add(self, record: Assignment) -> tuple[Assignment, ...]:
        """Take one part; return the whole set, in order, when this part completed it, else ()."""
        if record.parts == 1:
            return (record,)
        known = self._parts.get(record.part)
        if known is not None and _age(known) > _age(record):
            return ()
        self._parts[record.part] = record
        first = self._parts.get(0)
        if first is None:
            return ()
        found = tuple(
            part
            for index in range(first.parts)
            if (part := self._parts.get(index)) is not None
            and _age(part) == _age(first)
            and part.parts == first.parts
        )
        if len(found) < first.parts:
            return ()
        self._parts.clear()
        return found

    def clear(self) -> None:
        """Forget every part, as a new incarnation does."""
        self._parts.clear()


def _age(record: Assignment) -> tuple[int, Epoch]:
    return (record.generation, record.epoch)
