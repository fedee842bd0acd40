"""MACHINE_ROOM shares only the queues of certain rooms, among all clients.

Source: AllocateMessageQueueByMachineRoom#allocate. A queue's room is the part of its broker name
before the ``@``. The only goal is RocketMQ's exact result, with its oddities:

- Queues of other rooms belong to nobody.
- The remainder of the division comes from the tail, one queue for each of the first clients,
  behind their block: 5 queues and 2 clients give 0, 1, 4 and 2, 3.
- A name has a room only if exactly two parts remain after Java's ``String#split("@")``, which drops
  empty parts at the end: ``a@b`` and ``a@b@`` are in room ``a``, ``@b`` in the room without a name,
  ``a@``, ``a@@b`` and ``a@b@c`` in none.
- Without configured rooms the first queue that has a room causes an error.

Option ``rooms``: a list of names; null: not configured.

>>> queues = [MessageQueue("orders", "east@a", number) for number in range(5)]
>>> dealing = machine_room(queues, ["a", "b"], {"rooms": ["east"]})
>>> [[queue.queue_id for queue in dealing(client_id)] for client_id in ("a", "b")]
[[0, 1, 4], [2, 3]]
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from fairlead.core.allocation import AllocationError
from fairlead.core.model import MessageQueue
from strategies.dealing import Dealing, PerTopic, by_place
from strategies.options import bad_option, refuse_unknown

__all__ = ["MACHINE_ROOM", "machine_room", "room_of_broker"]

_PARTS = 2


def machine_room(
    queues: Sequence[MessageQueue], client_ids: Sequence[str], options: Mapping[str, Any]
) -> Dealing:
    """Deal the queues of the configured rooms; both lists keep their given order."""
    rooms = _rooms(options)

    @cache
    def kept() -> tuple[MessageQueue, ...]:
        return _in_rooms(queues, rooms)

    def block(index: int) -> tuple[MessageQueue, ...]:
        shared = kept()
        each, rest = divmod(len(shared), len(client_ids))
        own = shared[each * index : each * (index + 1)]
        left_over = shared[index + each * len(client_ids) :][:1] if rest > index else ()
        return own + left_over

    return by_place(queues, client_ids, block)


def room_of_broker(broker_name: str) -> str | None:
    """Return the room of a broker name; None if it has none."""
    parts = broker_name.split("@")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts[0] if len(parts) == _PARTS else None


def _in_rooms(
    queues: Sequence[MessageQueue], rooms: frozenset[str] | None
) -> tuple[MessageQueue, ...]:
    kept = []
    for queue in queues:
        room = room_of_broker(queue.broker_name)
        if room is None:
            continue
        if rooms is None:
            raise AllocationError("rooms_unset", "consumeridcs was never configured")
        if room in rooms:
            kept.append(queue)
    return tuple(kept)


def _rooms(options: Mapping[str, Any]) -> frozenset[str] | None:
    refuse_unknown(options, "rooms")
    rooms = options.get("rooms")
    if rooms is None:
        return None
    if not isinstance(rooms, list | tuple) or not all(isinstance(room, str) for room in rooms):
        raise bad_option("rooms", "a list of names, or null")
    return frozenset(rooms)


MACHINE_ROOM = PerTopic("MACHINE_ROOM", machine_room)
