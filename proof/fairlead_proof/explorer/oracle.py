"""The judge's knowledge of a world: how far each queue is really processed."""

from typing import NamedTuple, TypeVar

from fairlead.core.model import NOTHING, Epoch, Position
from fairlead_proof.explorer.facts import FIRST, position_text
from fairlead_proof.explorer.steps import Cost, Effect
from fairlead_proof.explorer.world import Restart, WorldBounds

__all__ = ["Oracle", "first_oracle", "moved", "spent", "unfollowed"]

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
"""The bound that each cost uses up."""


class Oracle(NamedTuple):
    """The judge's knowledge, and the rest of the world's bounds."""

    processed: tuple[Position, ...]
    """Per queue, how far it is really processed since the newest followed reset."""
    asked: tuple[tuple[Position, ...], ...]
    """Per queue, the operator's resets."""
    started: tuple[Epoch, ...]
    """Per queue, the highest epoch under which a client started."""
    clean: bool
    """Whether nothing excuses a repetition yet."""
    targets: tuple[str, ...]
    """The operator's newest targets."""
    moves: int
    deaths: int
    losses: int
    comebacks: int
    resets: int
    mutes: int
    lost: int


def first_oracle(world: WorldBounds) -> Oracle:
    """Return the judge's knowledge at the beginning."""
    return Oracle(
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


def spent(oracle: Oracle, cost: Cost, world: WorldBounds) -> Oracle | None:
    """Return the knowledge after a step that uses up a bound; None: the bound is used up."""
    bound = _BOUNDS.get(cost)
    if bound is None:
        return oracle
    left = getattr(oracle, bound)
    if not left:
        return None
    # A lost state repeats messages; a replaced driver may call a client dead before it has read
    # that client's last release.
    forgets = world.restart is Restart.LOST or world.zombie
    excused = cost is Cost.DEATH or (cost is Cost.LOSS and forgets)
    return oracle._replace(**{bound: left - 1}, clean=oracle.clean and not excused)


def moved(
    oracle: Oracle, effects: tuple[Effect, ...], who: str, *, overtaken: bool
) -> tuple[Oracle, str | None]:
    """Return the judge's knowledge after a client's step, and the violation, if any.

    An overtaken client may start late: under an older epoch, beside its successor.
    """
    for effect in effects:
        queue, processed = effect.queue, oracle.processed[effect.queue]
        if effect.started is None:
            done = _with(oracle.processed, queue, max(processed, effect.position))
            oracle = oracle._replace(processed=done)
            continue
        late = overtaken and effect.started <= oracle.started[queue]
        verdict = None if late else _start(oracle, effect, effect.started)
        newest = max(oracle.started[queue], effect.started)
        oracle = oracle._replace(started=_with(oracle.started, queue, newest))
        if effect.position.reset > processed.reset:
            oracle = oracle._replace(processed=_with(oracle.processed, queue, effect.position))
        if verdict is not None:
            return oracle, f"{verdict} (queue {queue}, {who})"
    return oracle, None


def _start(oracle: Oracle, effect: Effect, epoch: Epoch) -> str | None:
    processed, newest = oracle.processed[effect.queue], oracle.started[effect.queue]
    if epoch <= newest:
        return f"EPOCH: a start under {epoch} after one under {newest}"
    at, done = position_text(effect.position), position_text(processed)
    if effect.position.reset > processed.reset:
        wanted = effect.position in oracle.asked[effect.queue]
        return None if wanted else f"RESETLOST: a start at {at}, which nobody asked for"
    if effect.position.reset < processed.reset:
        return f"RESETLOST: a start at {at}, where a reset was followed and {done} reached"
    if effect.position > processed:
        return f"HOLE: a start at {at}, where {done} is the first not processed"
    if effect.position < processed and oracle.clean:
        return f"DUP: a start at {at}, where all below {done} is processed"
    return None


def unfollowed(oracle: Oracle) -> str | None:
    """Return the text about an unfollowed reset; None: the newest of each queue is followed."""
    for queue, (asked, processed) in enumerate(zip(oracle.asked, oracle.processed, strict=True)):
        if asked and asked[-1].reset > processed.reset:
            return f"nobody has followed the reset of queue {queue} to {position_text(asked[-1])}"
    return None


def _with(values: tuple[Value, ...], index: int, value: Value) -> tuple[Value, ...]:
    return (*values[:index], value, *values[index + 1 :])
