"""What nobody in a world knows, but its judge: how far each queue was really processed."""

from typing import NamedTuple, TypeVar

from fairlead.core.model import NOTHING, Epoch, Position
from fairlead_proof.explorer.facts import FIRST, position_text
from fairlead_proof.explorer.steps import Cost, Effect
from fairlead_proof.explorer.world import Restart, World

__all__ = ["Ghost", "first_ghost", "moved", "spent", "unfollowed"]

Value = TypeVar("Value")


_BOUNDS = {
    Cost.DEATH: "deaths",
    Cost.LEAVE: "deaths",
    Cost.MOVE: "moves",
    Cost.COMEBACK: "comebacks",
    Cost.RESET: "resets",
    Cost.LOSS: "losses",
    Cost.MUTE: "mutes",
    Cost.RECORD: "lost",
}
"""What is left of each cost."""


class Ghost(NamedTuple):
    """The judge's memory, and what is left of the world's bounds."""

    processed: tuple[Position, ...]
    """Of each queue how far it was really processed, from the newest reset on that was followed."""
    asked: tuple[tuple[Position, ...], ...]
    """Of each queue the positions that an operator asked for."""
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
    resets: int
    mutes: int
    lost: int


def first_ghost(world: World) -> Ghost:
    """Return the memory of a judge who has seen nothing yet."""
    return Ghost(
        (FIRST,) * world.queues,
        ((),) * world.queues,
        (NOTHING,) * world.queues,
        clean=True,
        targets=(world.client_ids[0],) * world.queues,
        moves=world.moves,
        deaths=world.deaths,
        losses=world.losses,
        comebacks=world.comebacks,
        resets=world.resets,
        mutes=world.mutes,
        lost=world.lost,
    )


def spent(ghost: Ghost, cost: Cost, world: World) -> Ghost | None:
    """Return what is left after a step that uses up a bound; None: there is nothing left of it."""
    bound = _BOUNDS.get(cost)
    if bound is None:
        return ghost
    left = getattr(ghost, bound)
    if not left:
        return None
    # What nobody remembers is read again; and what a driver that was replaced takes for dead it
    # may take so before it has read its last release.
    forgets = world.restart is Restart.LOST or world.zombie
    excused = cost is Cost.DEATH or (cost is Cost.LOSS and forgets)
    return ghost._replace(**{bound: left - 1}, clean=ghost.clean and not excused)


def moved(
    ghost: Ghost, effects: tuple[Effect, ...], who: str, *, overtaken: bool
) -> tuple[Ghost, str | None]:
    """Return the judge's memory after a client's step, and what was violated by it.

    Who was overtaken may start late: under an older epoch, beside its successor.
    """
    for effect in effects:
        queue, processed = effect.queue, ghost.processed[effect.queue]
        if effect.started is None:
            done = _with(ghost.processed, queue, max(processed, effect.position))
            ghost = ghost._replace(processed=done)
            continue
        late = overtaken and effect.started <= ghost.started[queue]
        verdict = None if late else _start(ghost, effect, effect.started)
        newest = max(ghost.started[queue], effect.started)
        ghost = ghost._replace(started=_with(ghost.started, queue, newest))
        if effect.position.reset > processed.reset:
            ghost = ghost._replace(processed=_with(ghost.processed, queue, effect.position))
        if verdict is not None:
            return ghost, f"{verdict} (queue {queue}, {who})"
    return ghost, None


def _start(ghost: Ghost, effect: Effect, epoch: Epoch) -> str | None:
    processed, newest = ghost.processed[effect.queue], ghost.started[effect.queue]
    if epoch <= newest:
        return f"EPOCH: a start under {epoch} after one under {newest}"
    at, done = position_text(effect.position), position_text(processed)
    if effect.position.reset > processed.reset:
        wanted = effect.position in ghost.asked[effect.queue]
        return None if wanted else f"RESETLOST: a start at {at}, which nobody asked for"
    if effect.position.reset < processed.reset:
        return f"RESETLOST: a start at {at}, where a reset was followed and {done} reached"
    if effect.position > processed:
        return f"HOLE: a start at {at}, where {done} is the first not processed"
    if effect.position < processed and ghost.clean:
        return f"DUP: a start at {at}, where all below {done} is processed"
    return None


def unfollowed(ghost: Ghost) -> str | None:
    """Return which reset nobody has followed; None: the newest of each queue was."""
    for queue, (asked, processed) in enumerate(zip(ghost.asked, ghost.processed, strict=True)):
        if asked and asked[-1].reset > processed.reset:
            return f"nobody has followed the reset of queue {queue} to {position_text(asked[-1])}"
    return None


def _with(values: tuple[Value, ...], index: int, value: Value) -> tuple[Value, ...]:
    return (*values[:index], value, *values[index + 1 :])
