"""What nobody in a world knows, but its judge: how far each queue was really processed."""

from typing import NamedTuple, TypeVar

from fairlead.core.model import NOTHING, Epoch
from fairlead.sim.explorer.steps import Cost, Effect
from fairlead.sim.explorer.world import Restart, World

__all__ = ["Ghost", "first_ghost", "moved", "spent"]

Value = TypeVar("Value")


class Ghost(NamedTuple):
    """The judge's memory, and what is left of the world's bounds."""

    processed: tuple[int, ...]
    """Of each queue the messages that were really processed, from the first on."""
    started: tuple[Epoch, ...]
    """Of each queue the highest epoch under which anybody started."""
    clean: bool
    """Whether nothing has happened that excuses a repetition."""
    targets: tuple[str, ...]
    """The operator's newest word."""
    moves: int
    deaths: int
    losses: int
    comebacks: int


def first_ghost(world: World) -> Ghost:
    """Return the memory of a judge who has seen nothing yet."""
    return Ghost(
        (0,) * world.queues,
        (NOTHING,) * world.queues,
        clean=True,
        targets=(world.client_ids[0],) * world.queues,
        moves=world.moves,
        deaths=world.deaths,
        losses=world.losses,
        comebacks=world.comebacks,
    )


def spent(ghost: Ghost, cost: Cost, world: World) -> Ghost | None:
    """Return what is left after a step that uses up a bound; None: there is nothing left of it."""
    match cost:
        case Cost.DEATH if ghost.deaths:
            return ghost._replace(deaths=ghost.deaths - 1, clean=False)
        case Cost.LEAVE if ghost.deaths:
            return ghost._replace(deaths=ghost.deaths - 1)
        case Cost.MOVE if ghost.moves:
            return ghost._replace(moves=ghost.moves - 1)
        case Cost.COMEBACK if ghost.comebacks:
            return ghost._replace(comebacks=ghost.comebacks - 1)
        case Cost.LOSS if ghost.losses:
            # What nobody remembers is read again; and what a driver that was replaced takes for
            # dead it may take so before it has read its last release.
            excused = world.restart is Restart.LOST or world.zombie
            return ghost._replace(losses=ghost.losses - 1, clean=ghost.clean and not excused)
        case Cost.NOTHING:
            return ghost
    return None


def moved(ghost: Ghost, effects: tuple[Effect, ...], who: str) -> tuple[Ghost, str | None]:
    """Return the judge's memory after a client's step, and what was violated by it."""
    for effect in effects:
        queue, processed = effect.queue, ghost.processed[effect.queue]
        if effect.started is None:
            done = _with(ghost.processed, queue, max(processed, effect.offset))
            ghost = ghost._replace(processed=done)
            continue
        verdict = _start(ghost, effect, effect.started)
        ghost = ghost._replace(
            started=_with(ghost.started, queue, max(ghost.started[queue], effect.started))
        )
        if verdict is not None:
            return ghost, f"{verdict} (queue {queue}, {who})"
    return ghost, None


def _start(ghost: Ghost, effect: Effect, epoch: Epoch) -> str | None:
    processed, newest = ghost.processed[effect.queue], ghost.started[effect.queue]
    if epoch <= newest:
        return f"EPOCH: a start under {epoch} after one under {newest}"
    if effect.offset > processed:
        return f"HOLE: a start at {effect.offset}, where {processed} is the first not processed"
    if effect.offset < processed and ghost.clean:
        return f"DUP: a start at {effect.offset}, where all below {processed} is processed"
    return None


def _with(values: tuple[Value, ...], index: int, value: Value) -> tuple[Value, ...]:
    return (*values[:index], value, *values[index + 1 :])
