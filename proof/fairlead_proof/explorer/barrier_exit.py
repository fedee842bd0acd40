"""The exit of an engine from a barrier: what it has read by then, and which members it calls dead.

Inside a barrier an engine writes nothing, so nobody sees what it has read. The log keeps what it
reads, and a stopped client stays stopped: the engine may as well read everything at the moment of
its exit. So the whole exit is one step of the world, for each outcome.

The order in which an engine reads inside a barrier does not matter; here there is one order. It
reads every written acknowledgement of a live client, because nothing may pass before; it reads any
other record or not. Unpruned worlds take each of these steps by itself, in every order.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from fairlead.core.model import MemberKey
from fairlead.core.records import Claims, Heartbeat, Leave, Progress, Release, Reset
from fairlead_proof.explorer.engines import Engines
from fairlead_proof.explorer.environment import Environment, Seen
from fairlead_proof.explorer.facts import Fact, bits
from fairlead_proof.explorer.steps import Kind, Step
from fairlead_proof.explorer.world import lives_of

__all__ = ["BarrierExit"]

Name = tuple[int, int, tuple[Seen, ...], tuple[str, ...]]

IN_ORDER: tuple[type, ...] = (Reset, Heartbeat, Claims, Leave, Release, Progress)


class _Stage(NamedTuple):
    """One step of an exit: None if impossible; ``must``: every exit needs it."""

    take: Callable[[int], Step | None]
    must: bool


@dataclass(slots=True)
class BarrierExit:
    """The outcomes of every searched exit."""

    engines: Engines
    known: dict[Name, tuple[tuple[Step, ...], bool]] = field(default_factory=dict)

    def ends(self, state: int, environment: Environment) -> tuple[Step, ...]:
        """Return a step for each state in which an engine can leave its barrier now.

        A defect of the core is a step too. No step: something is still missing.
        """
        return self._searched(state, environment)[0]

    def stays(self, state: int, environment: Environment) -> bool:
        """Whether an engine that has read everything stays in its barrier."""
        return self._searched(state, environment)[1]

    def _searched(self, state: int, environment: Environment) -> tuple[tuple[Step, ...], bool]:
        facts = environment.facts & self.engines.facts.for_engines
        name = (state, facts, environment.clients, environment.targets)
        known = self.known.get(name)
        if known is None:
            known = self.known[name] = self._search(state, environment)
        return known

    def _search(self, state: int, environment: Environment) -> tuple[tuple[Step, ...], bool]:
        by_end: dict[tuple[int, int, Kind], Step] = {}
        paths: dict[int, tuple[str, ...]] = {state: ()}
        thorough = state
        for stage in self._stages(state, environment):
            fresh: dict[int, tuple[str, ...]] = {}
            for inner, path in paths.items():
                step = stage.take(inner)
                if inner == thorough and step is not None:
                    thorough = step.to
                if step is not None and (step.kind is Kind.DEFECT or self._grants(step.to)):
                    label = "; ".join((*path, step.label))
                    end = (step.to, step.facts, step.kind)
                    by_end.setdefault(end, step._replace(label=label))
                elif step is not None:
                    assert not step.facts, "an engine in a barrier tells nobody anything"
                    fresh.setdefault(step.to, (*path, step.label))
                if step is None or not stage.must:
                    fresh.setdefault(inner, path)
            paths = fresh
        return tuple(by_end.values()), not self._grants(thorough)

    def _grants(self, state: int) -> bool:
        return self.engines.states[state].granting

    def _stages(self, state: int, environment: Environment) -> Iterator[_Stage]:
        """Yield what the engine may read and conclude, in one order, the last tick at the end."""
        engines = self.engines
        living = {client.member for client in environment.clients if not client.stopped}

        def word(inner: int) -> Step | None:
            known = engines.states[inner].targets == environment.targets
            return None if known else engines.word(inner, environment.targets)

        # The operator's records come before everything else.
        recovering = engines.states[state].recovering
        yield _Stage(word, must=engines.states[state].group is None)
        if recovering:
            # This tick only begins the wait.
            yield _Stage(environment.tick, must=True)
        numbers = self._in_order(environment.facts)
        first = [number for number in numbers if self._is_first(number, living)]
        # An engine without a state may miss them until it has waited.
        yield _Stage(partial(self._read_all, first), must=not recovering)
        again = self._repeated(numbers)
        for number in numbers:
            if number not in first:
                fact = engines.facts.known[number]
                must = _is_reset(fact) or (fact.sender in living and _acks(fact))
                yield _Stage(partial(self._read, number), must and number not in again)
        # Of several acknowledgements any may be the last one that is read.
        for number in again:
            yield _Stage(partial(self._read, number), must=False)
        for client in environment.clients:
            for member in lives_of(client.member):
                yield _Stage(partial(_lapsed, environment, member), must=False)
        yield _Stage(environment.tick, must=True)

    def _repeated(self, numbers: list[int]) -> list[int]:
        """Return the acknowledgements whose member has written others for the same generation."""
        known = self.engines.facts.known
        names = {
            number: (known[number].sender, known[number].generation)
            for number in numbers
            if _acks(known[number])
        }
        count = Counter(names.values())
        return [number for number, name in names.items() if count[name] > 1]

    def _is_first(self, number: int, living: set[MemberKey]) -> bool:
        """Whether a fact is the first heartbeat of a live client."""
        fact = self.engines.facts.known[number]
        assert fact.arrival is not None
        return fact.sender in living and isinstance(fact.arrival.record, Heartbeat)

    def _in_order(self, facts: int) -> list[int]:
        """Return the facts by kind; of progress with the same positions only one."""
        known = self.engines.facts.known
        # Sort by text: the numbers of facts differ between a search and a replay.
        numbers = sorted(
            bits(facts & self.engines.facts.for_engines), key=lambda number: known[number].text
        )
        first_of_source: dict[object, int] = {}
        for number in numbers:
            first_of_source.setdefault(_told_by(known[number]) or number, number)
        return sorted(first_of_source.values(), key=lambda number: _place(known[number]))

    def _read(self, number: int, state: int) -> Step | None:
        if not self.engines.effective(state, 1 << number):
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


def _lapsed(environment: Environment, member: MemberKey, state: int) -> Step | None:
    return environment.lapse(state, member)
