"""Laws about movement: which queues may move when a member joins or leaves or a topic grows."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from strategies.laws.law import Law
from strategies.laws.trial import Change, Trial, alike

__all__ = [
    "ALIKE_FEWEST_MOVES",
    "ALIKE_ONLY_THE_CHANGE_MOVES",
    "ONLY_THE_CHANGE_MOVES",
    "OTHER_TOPICS_STAY",
    "moves_at_most",
]

_CHANGE_ONLY: Final = "only the joiner gains, only the leaver loses, and growth moves nothing"


def _only_the_change_moves(trial: Trial) -> Iterator[str]:
    for change in trial.changes:
        for queue in change.among_others():
            yield f"{change}: {queue!a} moved between others"


def _alike_only_the_change_moves(trial: Trial) -> Iterator[str]:
    for change in trial.changes:
        if alike(change.before) and alike(change.after):
            for queue in change.among_others():
                yield f"{change}: {queue!a} moved between others"


ONLY_THE_CHANGE_MOVES: Final = Law(_CHANGE_ONLY, _only_the_change_moves)

ALIKE_ONLY_THE_CHANGE_MOVES: Final = Law(
    f"where all members have the same topics, {_CHANGE_ONLY}", _alike_only_the_change_moves
)


def _fewest_moves(trial: Trial) -> Iterator[str]:
    held = Counter(trial.request.owners.get(queue) for queue in trial.owners)
    members = [each.client_id for each in trial.request.candidates]
    if not members or not alike(trial.request):
        return
    least, more = divmod(len(trial.owners), len(members))
    counts = sorted((held[member] for member in members), reverse=True)
    # The members with the most queues keep one more than the others.
    fewest = sum(max(0, count - least - (place < more)) for place, count in enumerate(counts))
    moves = sum(
        owner in members and trial.owners.get(queue) != owner
        for queue, owner in trial.request.owners.items()
        if queue in trial.owners
    )
    if moves != fewest:
        yield f"{moves} queues leave their owner, {fewest} must"


ALIKE_FEWEST_MOVES: Final = Law(
    "where all members have the same topics, a spread of one queue takes the fewest moves",
    _fewest_moves,
)


def _other_topics_stay(trial: Trial) -> Iterator[str]:
    if trial.request.slots == "group":
        return
    for change in trial.changes:
        concerned = _topics(change)
        for queue, _, _ in change.moved():
            if queue.topic not in concerned:
                yield f"{change}: {queue!a} moved"


OTHER_TOPICS_STAY: Final = Law(
    "a joining or leaving member, or a new queue, moves nothing of other topics",
    _other_topics_stay,
)


def moves_at_most(sentence: str, bound: Callable[[Change, int, int], int | None]) -> Law:
    """Return the law that limits the moves of a topic's queues between other members.

    Args:
        sentence: the law in words.
        bound: returns the limit from a change, the number of queues of a topic and the number of
            its clients, including the joiner or leaver; None: no limit.
    """

    def broken(trial: Trial) -> Iterator[str]:
        for change in trial.changes:
            moved = Counter(queue.topic for queue in change.among_others())
            for topic, moves in moved.items():
                # The trial's request has every queue and every member of its changes.
                queues, sharers = trial.request.queues[topic], trial.sharers(topic)
                most = bound(change, len(queues), len(sharers))
                if most is not None and moves > most:
                    yield f"{change}: {moves} queues of {topic!a} moved, the limit is {most}"

    return Law(sentence, broken)


def _topics(change: Change) -> frozenset[str]:
    if change.what == "growth":
        return frozenset({change.subject})
    every = (*change.before.candidates, *change.after.candidates)
    return frozenset(
        topic for each in every if each.client_id == change.subject for topic in each.topics
    )
