"""A run of a world step by step, as the search found it, done again with the real code."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairlead_proof.explorer.facts import epoch_text, position_text
from fairlead_proof.explorer.world import World
from fairlead_proof.explorer.world_state import CLIENTS, ENGINE, JUDGE, NONE, ZOMBIE, Joint, Moment

__all__ = ["LostThreadError", "Told", "retell"]


class LostThreadError(Exception):
    """A step of the run cannot be taken: the code is another than the one that was searched."""


class Told(NamedTuple):
    """One step of a run, and how things stand after it."""

    step: str
    stand: str
    violation: str | None


def retell(world: World, run: Sequence[str]) -> Iterator[Told]:
    """Yield each step of a run again.

    Raises:
        LostThreadError: the next step is not among those that can be taken.
    """
    joint = Joint(world)
    moment = joint.begin()
    for number, label in enumerate(run, start=1):
        for each in joint.nexts(moment):
            if each.label == label:
                moment = each.to
                yield Told(label, stand(joint, moment), each.violation)
                break
        else:
            message = f"step {number} is not possible here: {label}"
            raise LostThreadError(message)


def stand(joint: Joint, moment: Moment) -> str:
    """Return in words who works on what, and whom the engines think of."""
    words = []
    for number in moment[CLIENTS:]:
        client = joint.clients.states[number]
        works = ", ".join(f"{queue}@{epoch_text(epoch)}" for queue, epoch in client.works)
        name = client.member.incarnation
        waits = " and waits" if client.waits else ""
        words.append(f"{name} {'is gone' if client.stopped else works or 'idle'}{waits}")
    words += [_engine(joint, moment[index]) for index in (ENGINE, ZOMBIE) if moment[index] != NONE]
    done = joint.ghosts[moment[JUDGE]].processed
    words.append(f"processed {', '.join(map(position_text, done))}")
    return "; ".join(words)


def _engine(joint: Joint, number: int) -> str:
    engine = joint.engines.states[number]
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
