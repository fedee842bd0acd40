"""What each strategy of the product promises, and the options under which it is held to that."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from fairlead.core.allocation import AllocationRequest
from fairlead.core.model import MessageQueue
from strategies.laws import (
    ALIKE_FEWEST_MOVES,
    ALIKE_ONLY_THE_CHANGE_MOVES,
    ANY_ORDER,
    EVERY_QUEUE_OWNED,
    FREE,
    ONE_OWNER,
    ONLY_THE_CHANGE_MOVES,
    OTHER_TOPICS_STAY,
    OWNERS_CHANGE_NOTHING,
    TWICE_IS_ONCE,
    Change,
    Law,
    Trial,
    moves_at_most,
    spread_by_topic,
    spread_in_total,
)
from strategies.machine_room import room_of_broker
from tests.strategies.drawn import ROOMS, room_of


def _avg_bound(change: Change, queues: int, sharers: int) -> int:
    """Blocks shift by half of their size on the average, and each by one queue of rounding."""
    return sharers - 1 if change.what == "growth" else queues // 2 + sharers


def _circle_bound(change: Change, queues: int, sharers: int) -> int | None:
    """Nothing is promised of a change in front of others: everything behind it is dealt anew."""
    if not change.last:
        return None
    return 0 if change.what == "growth" else max(0, queues - sharers + 1)


def _listed(trial: Trial) -> Iterator[str]:
    listed = [MessageQueue(*queue) for queue in trial.request.options["queues"]]
    for topic, held in trial.request.queues.items():
        own = [queue for queue in listed if queue in held]
        for client_id in trial.sharers(topic):
            if list(trial.allocation.topics[topic].get(client_id, ())) != own:
                yield f"{client_id!a} does not own {own}"


def _rooms_owned(trial: Trial) -> Iterator[str]:
    rooms = trial.request.options["rooms"]
    for topic, held in trial.request.queues.items():
        for queue in held if trial.sharers(topic) else ():
            if (queue in trial.owners) != (room_of_broker(queue.broker_name) in rooms):
                yield f"{queue!a} is owned, or not, against its room"


def _own_room(trial: Trial) -> Iterator[str]:
    for queue, client_id in trial.owners.items():
        inside = [each for each in trial.sharers(queue.topic) if _same_room(queue, each)]
        if inside and client_id not in inside:
            yield f"{queue!a} went to {client_id!a}"


def _private_rooms_stay(trial: Trial) -> Iterator[str]:
    for change in trial.changes:
        new = {*_every(change.after)} - {*_every(change.before)}
        for queue in change.among_others():
            room = room_of(queue.broker_name)
            if change.what == "growth":
                touched = room in {room_of(each.broker_name) for each in new}
            else:
                touched = room == room_of(change.subject) or not any(
                    _same_room(queue, each)
                    for each in trial.sharers(queue.topic)
                    if each != change.subject
                )
            if not touched:
                yield f"{change}: {queue!a} moved"


def _no_second_owner_for_twins(trial: Trial) -> Iterator[str]:
    candidates = tuple(each for each in trial.request.candidates for _ in range(2))
    yield from ONE_OWNER.broken(
        Trial(trial.strategy, replace(trial.request, candidates=candidates))
    )


def _same_room(queue: MessageQueue, client_id: str) -> bool:
    return room_of(queue.broker_name) == room_of(client_id)


def _every(request: AllocationRequest) -> Iterator[MessageQueue]:
    for queues in request.queues.values():
        yield from queues


TWINS: Final = Law(
    "a client id that comes twice gives no queue a second owner", _no_second_owner_for_twins
)
ROCKETMQ_ALL: Final = (OWNERS_CHANGE_NOTHING, OTHER_TOPICS_STAY)
EVEN: Final = spread_by_topic(1)

PROMISES: Final[Mapping[str, tuple[Law, ...]]] = {
    "AVG": (
        *FREE,
        *ROCKETMQ_ALL,
        TWINS,
        EVERY_QUEUE_OWNED,
        EVEN,
        moves_at_most(
            "of a topic half of the queues and one for each sharer move, of growth one for each",
            _avg_bound,
        ),
    ),
    "AVG_BY_CIRCLE": (
        *FREE,
        *ROCKETMQ_ALL,
        TWINS,
        EVERY_QUEUE_OWNED,
        EVEN,
        moves_at_most(
            "growth at the end moves nothing, and the last member leaves each other one queue",
            _circle_bound,
        ),
    ),
    # Whoever asks owns the whole list: two members are two owners, which the engine refuses.
    "CONFIG": (
        *(law for law in FREE if law is not ONE_OWNER),
        *ROCKETMQ_ALL,
        Law("each has exactly what is listed and can be read", _listed),
    ),
    "MACHINE_ROOM": (
        *FREE,
        *ROCKETMQ_ALL,
        TWINS,
        EVEN,
        Law("exactly the queues of the configured rooms are owned", _rooms_owned),
    ),
    "MACHINE_ROOM_NEARBY": (
        *FREE,
        *ROCKETMQ_ALL,
        TWINS,
        EVERY_QUEUE_OWNED,
        Law("a room's queues go to its clients, if it has some", _own_room),
        Law("a room with clients is untouched by changes of others", _private_rooms_stay),
    ),
    "CONSISTENT_HASH": (
        *FREE,
        *ROCKETMQ_ALL,
        TWINS,
        EVERY_QUEUE_OWNED,
        ONLY_THE_CHANGE_MOVES,
    ),
    "STICKY": (
        *FREE,
        TWINS,
        EVERY_QUEUE_OWNED,
        ANY_ORDER,
        TWICE_IS_ONCE,
        spread_in_total(1),
        ALIKE_FEWEST_MOVES,
        ALIKE_ONLY_THE_CHANGE_MOVES,
    ),
}
"""Wire name -> laws."""


@st.composite
def options(draw: st.DrawFn, name: str, request: AllocationRequest) -> Mapping[str, Any]:
    """Draw options of a strategy for a request, under which no topic fails."""
    match name:
        case "CONFIG":
            every = [list(queue) for queue in _every(request)]
            listed = draw(st.lists(st.sampled_from(every), unique_by=tuple))
            gone = [["unknown", "broker", 0], [every[0][0], "gone", 0]]
            return {"queues": [*listed, *gone]}
        case "MACHINE_ROOM":
            return {"rooms": draw(st.lists(st.sampled_from([*ROOMS, "", "nowhere"])))}
        case "CONSISTENT_HASH":
            return draw(st.sampled_from([{}, {"virtual_nodes": 1}, {"virtual_nodes": 3}]))
        case "MACHINE_ROOM_NEARBY":
            inner = draw(st.sampled_from(["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"]))
            by_name = {
                "broker_rooms": {
                    each.broker_name: room_of(each.broker_name) for each in _every(request)
                },
                "client_rooms": {
                    each.client_id: room_of(each.client_id) for each in request.candidates
                },
            }
            rooms: list[dict[str, Any]] = [{}, {"room": "zone"}, {"room": "map", **by_name}]
            return {"inner": inner, **draw(st.sampled_from(rooms))}
        case _:
            return {}
