"""How an engine comes out of a barrier: what it has read by then, and whom it took for dead.

Inside a barrier an engine tells nobody anything, so nobody sees what it has read so far. What it
reads stays in the log, and who has stopped stays so: it may as well read everything in the moment
in which it passes. So the whole passage is one step of the world, for each of its outcomes.

What is gathered in a barrier may come in any order; here it comes in one. The acknowledgements of
those who live are read as far as they are written: before one is, nothing may pass. Of everything
else each part is read or not. Worlds that are not pruned take each of these steps by itself, in
every order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from fairlead.core.model import MemberKey
from fairlead.core.records import Claims, Heartbeat, Leave, Progress, Release, Reset
from fairlead_proof.explorer.engine_half import EngineHalf
from fairlead_proof.explorer.environment import Around, Seen
from fairlead_proof.explorer.facts import Fact, bits
from fairlead_proof.explorer.steps import Kind, Step
from fairlead_proof.explorer.world import life_of, member_key

__all__ = ["Passing"]

Name = tuple[int, int, tuple[Seen, ...], tuple[str, ...]]

IN_ORDER: tuple[type, ...] = (Reset, Heartbeat, Claims, Leave, Release, Progress)


class _Stage(NamedTuple):
    """One thing on the way: None if it is not possible; ``must``: no passage goes without it."""

    take: Callable[[int], Step | None]
    must: bool


@dataclass(slots=True)
class Passing:
    """The outcomes of each passage that was searched."""

    engines: EngineHalf
    known: dict[Name, tuple[tuple[Step, ...], bool]] = field(default_factory=dict)

    def ends(self, state: int, around: Around) -> tuple[Step, ...]:
        """Return a step for each state in which an engine can leave its barrier now.

        A defect of the core on the way is a step too. None at all: something is still missing.
        """
        return self._searched(state, around)[0]

    def stays(self, state: int, around: Around) -> bool:
        """Whether an engine that has read everything there is does not leave its barrier."""
        return self._searched(state, around)[1]

    def _searched(self, state: int, around: Around) -> tuple[tuple[Step, ...], bool]:
        facts = around.facts & self.engines.facts.for_engines
        name = (state, facts, around.clients, around.targets)
        known = self.known.get(name)
        if known is None:
            known = self.known[name] = self._search(state, around)
        return known

    def _search(self, state: int, around: Around) -> tuple[tuple[Step, ...], bool]:
        found: dict[tuple[int, int, Kind], Step] = {}
        paths: dict[int, tuple[str, ...]] = {state: ()}
        thorough = state
        for stage in self._stages(state, around):
            fresh: dict[int, tuple[str, ...]] = {}
            for inner, path in paths.items():
                step = stage.take(inner)
                if inner == thorough and step is not None:
                    thorough = step.to
                if step is not None and (step.kind is Kind.DEFECT or self._grants(step.to)):
                    label = "; ".join((*path, step.label))
                    end = (step.to, step.facts, step.kind)
                    found.setdefault(end, step._replace(label=label))
                elif step is not None:
                    assert not step.facts, "an engine in a barrier tells nobody anything"
                    fresh.setdefault(step.to, (*path, step.label))
                if step is None or not stage.must:
                    fresh.setdefault(inner, path)
            paths = fresh
        return tuple(found.values()), not self._grants(thorough)

    def _grants(self, state: int) -> bool:
        return self.engines.states[state].granting

    def _stages(self, state: int, around: Around) -> Iterator[_Stage]:
        """Yield what may be read and concluded, in one order, the last tick at the end."""
        engines = self.engines
        living = {client.member for client in around.clients if not client.stopped}

        def word(inner: int) -> Step | None:
            known = engines.states[inner].targets == around.targets
            return None if known else engines.word(inner, around.targets)

        # The operator's words stand before everything else.
        recovering = engines.states[state].recovering
        yield _Stage(word, must=engines.states[state].group is None)
        if recovering:
            # It tells nothing but that the wait begins.
            yield _Stage(around.tick, must=True)
        numbers = self._in_order(around.facts)
        first = [number for number in numbers if self._is_first(number, living)]
        # One without a state may miss them until it has waited.
        yield _Stage(partial(self._read_all, first), must=not recovering)
        for number in numbers:
            if number not in first:
                fact = engines.facts.known[number]
                must = _is_reset(fact) or (fact.sender in living and _acks(fact))
                yield _Stage(partial(self._read, number), must)
        for client in around.clients:
            for life in range(1, life_of(client.member) + 1):
                member = member_key(client.member.client_id, life)
                yield _Stage(partial(_lapsed, around, member), must=False)
        yield _Stage(around.tick, must=True)

    def _is_first(self, number: int, living: set[MemberKey]) -> bool:
        """Whether a fact is the first heartbeat of somebody who lives."""
        fact = self.engines.facts.known[number]
        assert fact.arrival is not None
        return fact.sender in living and isinstance(fact.arrival.record, Heartbeat)

    def _in_order(self, facts: int) -> list[int]:
        """Return the facts by kind; of progress to one position on one queue any one will do."""
        known = self.engines.facts.known
        # By their words: numbers are given as facts are met, which differs in a run done again.
        numbers = sorted(
            bits(facts & self.engines.facts.for_engines), key=lambda number: known[number].text
        )
        found: dict[object, int] = {}
        for number in numbers:
            found.setdefault(_told_by(known[number]) or number, number)
        return sorted(found.values(), key=lambda number: _place(known[number]))

    def _read(self, number: int, state: int) -> Step | None:
        if not self.engines.look(state, 1 << number):
            return None
        return self.engines.reads[state][number]

    def _read_all(self, numbers: list[int], state: int) -> Step | None:
        met = state
        labels = []
        for number in numbers:
            step = self._read(number, met)
            if step is not None:
                met = step.to
                labels.append(step.label)
            if step is not None and (step.kind is Kind.DEFECT or self._grants(met)):
                break
        else:
            return Step("; ".join(labels), met) if labels else None
        return step._replace(label="; ".join(labels))


def _acks(fact: Fact) -> bool:
    return fact.arrival is not None and isinstance(fact.arrival.record, Claims)


def _is_reset(fact: Fact) -> bool:
    return fact.arrival is not None and isinstance(fact.arrival.record, Reset)


def _place(fact: Fact) -> int:
    assert fact.arrival is not None
    return IN_ORDER.index(type(fact.arrival.record))


def _told_by(fact: Fact) -> object:
    if fact.arrival is None or not isinstance(fact.arrival.record, Progress):
        return None
    return tuple((entry.queue, entry.position) for entry in fact.arrival.record.queues)


def _lapsed(around: Around, member: MemberKey, state: int) -> Step | None:
    return around.lapse(state, member)
