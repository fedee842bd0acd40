"""MACHINE_ROOM_NEARBY gives a room's queues to the clients of that room, by another strategy.

Source: AllocateMachineRoomNearby#allocate. The clients of a room share its queues, however few
they are. All clients of the group share the queues of rooms without clients, room by room in the
order of their names. The only goal is RocketMQ's exact result, with its oddities:

- Each room without clients is dealt separately, so the first clients get the remainder of each.
- One queue or client without a room fails the whole topic, for everybody.

Options:

- ``inner``: the strategy within a room, by default AVG, with ``inner_options``. Any strategy works,
  even this one. A strategy for whole groups (STICKY, a user's own) is asked room by room and topic
  by topic, with the current owners, so it balances only within that part.
- ``room``: where a room's name comes from. ``prefix-before-first-dash`` (the default): the broker
  name and the client id. ``map``: ``broker_rooms`` and ``client_rooms``. ``zone``: the zones of the
  client and of the queue's leader; ``zones``, ``queue_zones`` and ``broker_zones`` win over the
  zones that members and routes report (strategies.zones).

>>> from strategies.averagely import averagely
>>> queues = [MessageQueue("t", f"IDC{room}-x", number) for room in (1, 2) for number in range(2)]
>>> nearby = MachineRoomNearby({"AVG": averagely})
>>> dealing = nearby.deal(queues, ["IDC1-a", "IDC1-b"], {})
>>> [(queue.broker_name, queue.queue_id) for queue in dealing("IDC1-b")]
[('IDC1-x', 1), ('IDC2-x', 1)]
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest, Strategy
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from strategies.configured import CONFIGURED, configured, only_of_topic
from strategies.dealing import Deal, Dealer, Dealing, PerTopic, check
from strategies.one_question import deal_of
from strategies.options import bad_option, names_of, refuse_unknown
from strategies.zones import ZONE_OPTIONS, read_zones

__all__ = ["MachineRoomNearby"]

NAME = "MACHINE_ROOM_NEARBY"
PREFIX = "prefix-before-first-dash"
MAP = "map"
ZONE = "zone"
_OPTIONS = {
    PREFIX: (),
    MAP: ("broker_rooms", "client_rooms"),
    ZONE: ZONE_OPTIONS,
}


@dataclass(frozen=True, slots=True)
class Rooms:
    """The rooms of queues and clients; None or empty if unknown."""

    of_queue: Callable[[MessageQueue], str | None]
    of_client: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class _Divided:
    """Queues and clients by room, each in its given order; rooms in the order of their names."""

    queues: Mapping[str, list[MessageQueue]]
    client_ids: Mapping[str, list[str]]


class MachineRoomNearby(PerTopic):
    """The strategy, with the given strategies as inner ones."""

    def __init__(
        self, inner: Mapping[str, Deal], others: Mapping[str, Strategy] | None = None
    ) -> None:
        """Describe the strategy; both mappings are by name on the wire.

        Args:
            inner: inner strategies that deal topic by topic, as RocketMQ's do.
            others: inner strategies for whole groups.
        """
        super().__init__(NAME, self._deal)
        self._inner = {**inner, NAME: self._deal}
        self._others = dict(others or {})

    def beside(self, others: Mapping[str, Strategy]) -> "MachineRoomNearby":
        """Return the strategy with these strategies for whole groups as inner ones, too."""
        return MachineRoomNearby(self._inner, {**self._others, **others})

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Deal each topic; with an inner CONFIG each topic gets only its own queues of the list."""
        allocation = super().allocate(request)
        if request.options.get("inner") != CONFIGURED.name:
            return allocation
        return only_of_topic(allocation, request)

    def dealer(self, request: AllocationRequest) -> Dealer:
        """Return a dealer that also uses zones of members and routes; options win."""

        @cache
        def rooms() -> Rooms:
            return _rooms(request.options, request)

        return lambda queues, ids: self._dealing(queues, ids, request.options, rooms, request)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse also an inner CONFIG without its list: it could deal no room.

        Raises:
            AllocationError: ``bad_option``.
        """
        super().check_options(options)
        inner, inner_options = self._chosen(options, None)
        if inner is configured and inner_options.get("queues") is None:
            raise _no_list()

    def _deal(
        self,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
        options: Mapping[str, Any],
    ) -> Dealing:
        return self._dealing(queues, client_ids, options, partial(_rooms, options, None))

    def _dealing(
        self,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
        options: Mapping[str, Any],
        find_rooms: Callable[[], Rooms],
        request: AllocationRequest | None = None,
    ) -> Dealing:
        inner, inner_options = self._chosen(options, request)
        rooms = find_rooms()
        # RocketMQ creates the inner strategy first, so its constructor's errors come first.
        inner((), (), inner_options)
        known = frozenset(client_ids)

        @cache
        def divided() -> _Divided:
            return _divide(queues, client_ids, rooms)

        @cache
        def dealing_in(room: str) -> Dealing:
            parts = divided()
            if inner is configured and inner_options.get("queues") is None:
                # RocketMQ adds up the shares of the rooms, and fails to add a missing list.
                raise _no_list()
            sharing = parts.client_ids.get(room, client_ids)
            return inner(parts.queues[room], sharing, inner_options)

        def share(client_id: str) -> tuple[MessageQueue, ...]:
            if not check(client_id, queues, known):
                return ()
            parts = divided()
            own = rooms.of_client(client_id)
            asked = [room for room in parts.queues if room == own]
            asked += [room for room in parts.queues if room not in parts.client_ids]
            return tuple(queue for room in asked for queue in dealing_in(room)(client_id))

        return share

    def _deal_within(
        self,
        request: AllocationRequest,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
        options: Mapping[str, Any],
    ) -> Dealing:
        return self._dealing(
            queues, client_ids, options, partial(_rooms, options, request), request
        )

    def _chosen(
        self, options: Mapping[str, Any], request: AllocationRequest | None
    ) -> tuple[Deal, Mapping[str, Any]]:
        name = options.get("inner", "AVG")
        if not isinstance(name, str) or name not in {**self._inner, **self._others}:
            known = sorted({*self._inner, *self._others})
            raise bad_option("inner", f"one of {', '.join(known)}")
        inner_options = options.get("inner_options", {})
        if not isinstance(inner_options, Mapping):
            raise bad_option("inner_options", "an object")
        if name == NAME and request is not None:
            # Rooms within rooms know the request's owners and zones as well.
            return partial(self._deal_within, request), inner_options
        deal = self._inner.get(name) or deal_of(self._others[name], request)
        return deal, inner_options


def _no_list() -> AllocationError:
    return bad_option("inner_options.queues", "a list of queues under CONFIG")


def _divide(queues: Sequence[MessageQueue], client_ids: Sequence[str], rooms: Rooms) -> _Divided:
    """Sort queues and clients into rooms, in the order of Java's TreeMap.

    Raises:
        AllocationError: ``room_unknown``, for the first queue, or else client, without a room.
    """
    by_room: dict[str, list[MessageQueue]] = {}
    for queue in queues:
        room = rooms.of_queue(queue)
        if not room:
            raise AllocationError("room_unknown", f"Machine room is null for mq {queue}")
        by_room.setdefault(room, []).append(queue)
    clients: dict[str, list[str]] = {}
    for client_id in client_ids:
        room = rooms.of_client(client_id)
        if not room:
            text = f"Machine room is null for consumer id {client_id}"
            raise AllocationError("room_unknown", text)
        clients.setdefault(room, []).append(client_id)
    return _Divided({room: by_room[room] for room in sorted(by_room, key=java_order)}, clients)


def _rooms(options: Mapping[str, Any], request: AllocationRequest | None) -> Rooms:
    by = options.get("room", PREFIX)
    if not isinstance(by, str) or by not in _OPTIONS:
        raise bad_option("room", f"one of {', '.join(_OPTIONS)}")
    refuse_unknown(options, "room", "inner", "inner_options", *_OPTIONS[by])
    if by == PREFIX:
        return Rooms(lambda queue: _prefix(queue.broker_name), _prefix)
    if by == MAP:
        brokers, clients = names_of(options, "broker_rooms"), names_of(options, "client_rooms")
        return Rooms(lambda queue: brokers.get(queue.broker_name), clients.get)
    zones = read_zones(options)
    zones = zones if request is None else zones.with_reported(request)
    return Rooms(zones.of_queue, zones.of_client)


def _prefix(name: str) -> str:
    return name.partition("-")[0]
