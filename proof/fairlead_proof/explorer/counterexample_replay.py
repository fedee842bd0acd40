"""Replays a run of a world step by step with the real code."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairlead_proof.explorer.facts import epoch_text, position_text
from fairlead_proof.explorer.state_space import (
    ENGINE,
    JUDGE,
    NONE,
    ZOMBIE,
    Moment,
    StateSpace,
)
from fairlead_proof.explorer.world import WorldBounds

__all__ = ["ImpossibleStepError", "ReplayedStep", "replay_run"]


class ImpossibleStepError(Exception):
    """A step of the run is impossible: the code differs from the searched code."""


class ReplayedStep(NamedTuple):
    """One step of a run, and the world's state after it."""

    step: str
    stand: str
    violation: str | None


def replay_run(world: WorldBounds, run: Sequence[str]) -> Iterator[ReplayedStep]:
    """Yield each step of a run with the state after it.

    Raises:
        ImpossibleStepError: the next step is not possible.
    """
    space = StateSpace(world)
    moment = space.begin()
    for number, label in enumerate(run, start=1):
        for each in space.nexts(moment):
            if each.label == label:
                moment = each.to
                yield ReplayedStep(label, stand(space, moment), each.violation)
                break
        else:
            message = f"step {number} is not possible here: {label}"
            raise ImpossibleStepError(message)


def stand(space: StateSpace, moment: Moment) -> str:
    """Return in words who works on what, and the chains of the engines."""
    words = []
    for client in space.members(moment):
        works = ", ".join(f"{queue}@{epoch_text(epoch)}" for queue, epoch in client.works)
        name = client.member.incarnation
        waits = " and waits" if client.waits else ""
        words.append(f"{name} {'is gone' if client.stopped else works or 'idle'}{waits}")
    words += [_engine(space, moment[index]) for index in (ENGINE, ZOMBIE) if moment[index] != NONE]
    done = space.oracles[moment[JUDGE]].processed
    words.append(f"processed {', '.join(map(position_text, done))}")
    return "; ".join(words)


def _engine(space: StateSpace, number: int) -> str:
    engine = space.engines.states[number]
    name = f"engine {engine.generation}"
    if engine.group is None:
        return f"{name} knows nothing"
    chains = [
        f"{queue.queue_id}: "
        + (
            " then ".join(
                f"{grant.member.incarnation}@{epoch_text(grant.epoch)}"
                + (" dropped" if grant.dropped else "")
                for grant in value.chain
            )
            or "nobody"
        )
        for queue, value in sorted(engine.group.queues.items())
    ]
    barrier = "" if engine.granting else " in its barrier"
    return f"{name}{barrier} has {', '.join(chains) or 'no queue'}"
