"""Cases for the judge, drawn from a seed: input of `fairlead proof conform`, odd corners included.

Sizes, names and options are drawn apart from each other, so that corners meet. What a random draw
would never hit (two nodes of a hash ring on one place, a queue exactly on a node) is drawn from
names that were searched for. Every case is one that RocketMQ itself can be asked.
"""

import json
import random
from collections.abc import Callable, Mapping
from typing import Any, Final

Case = dict[str, Any]
Queue = list[str | int]

PER_STRATEGY: Final = 1000
PER_SORT: Final = 300
QUEUES_MAX: Final = 40
CLIENTS_MAX: Final = 20
QUEUE_ID_MAX: Final = 2**31 - 1
"""Of Java's int. Lesser than 0 none is drawn: RocketMQ subtracts to compare, and would overflow."""

# U+E000 to U+FFFF sort above supplementary characters by code unit and below them by code point.
WIDE: Final = ("é", "ß", "ø", "中", "文", "ع", "\u0301", "\ue000", "\ufb01", "\ufffd", "\uffff")
SUPPLEMENTARY: Final = ("\U00010000", "\U0001f600", "\U0001f469", "\U0010ffff", "\U00020b9f")
HALVES: Final = ("\ud800", "\udbff", "\udc00", "\udfff")
ODD: Final = ("\x00", "\t", '"', "\\", "/", "\x7f", "\u2028", " ", "$ref", "@type", "'", "<")
PLAIN: Final = ("a", "b", "c", "Z", "0", "9", "10", "2", "#", ".", "_", "~")

# The first nodes of two ids of one line have one place on the ring.
SAME_PLACE: Final = (
    ("CID-10147", "CID-122836"),
    ("CID-160344", "CID-201278"),
    ("CID-109501", "CID-210557"),
    ("CID-38706", "CID-243943"),
)
# The queue of this number of topic "orders" on "broker-a" has the place of that id's first node.
ON_A_NODE: Final = ((7261, "CID-45156"), (7410, "CID-95562"), (13565, "CID-188917"))

ROOMS: Final = ("IDC1", "IDC2", "IDC10", "east", "\ue000", "\U0001f600", "\uffff", "中")
AT_NAMES: Final = (
    "{room}@b", "{room}@b@", "{room}@b@@", "@b", "{room}@", "{room}", "@", "@@", "", "{room}@b@c",
    "{room}@@b", "@@b", "{room}@ ", " @b",
)  # fmt: skip


def generate(seed: int) -> list[Case]:
    """Return the cases of a seed, each as it is after a way through JSON."""
    draw = Draw(random.Random(seed))
    cases = [
        {"id": f"{name}-{number}", "kind": "allocate", "strategy": name, **make(draw)}
        for name, make in STRATEGIES.items()
        for number in range(PER_STRATEGY)
    ]
    for number in range(PER_SORT):
        make = draw.near if draw.often(0.5) else draw.name
        queues, ids = draw.queues(make), draw.clients(make)
        cases.append({"id": f"queues-{number}", "kind": "sort_queues", "queues": queues})
        cases.append({"id": f"ids-{number}", "kind": "sort_clients", "clients": ids})
    # Two halves of a surrogate pair that a draw put side by side are one character to any reader.
    read: list[Case] = json.loads(json.dumps(cases))
    return read


class Draw:
    """The draws that all strategies share."""

    def __init__(self, chance: random.Random) -> None:
        """Draw from one generator, so that a seed says everything."""
        self.chance = chance

    def often(self, share: float) -> bool:
        """Return True in about this share of the calls."""
        return self.chance.random() < share

    def name(self) -> str:
        """Return a short text: half of them ASCII, the others with characters of all lengths."""
        kind = self.chance.random()
        letters: tuple[str, ...] = PLAIN
        if kind < 0.2:
            letters += WIDE * 2
        elif kind < 0.4:
            letters += WIDE + SUPPLEMENTARY * 3
        elif kind < 0.45:
            letters += ODD * 2
        elif kind < 0.5:
            letters += HALVES + SUPPLEMENTARY
        return "".join(self.chance.choices(letters, k=self.chance.randint(1, 6)))

    def near(self) -> str:
        """Return a text whose place among others its last character decides."""
        last = self.chance.choice((*WIDE, *SUPPLEMENTARY, *HALVES, *PLAIN, ""))
        return self.chance.choice(("", "a", "10.0.0.")) + last

    def size(self, most: int) -> int:
        """Return a size, small ones more often, since corners are there."""
        return self.chance.randint(1, self.chance.choice((2, 5, 10, most)))

    def room(self) -> str:
        """Return the name of a room."""
        return self.chance.choice(ROOMS)

    def clients(self, make: Callable[[], str] | None = None) -> list[str]:
        """Return client ids: sometimes none, some duplicated, now and then an empty one."""
        if self.often(0.03):
            return []
        make = make or self.client
        drawn = [make() for _ in range(self.size(CLIENTS_MAX))]
        if self.often(0.2):
            drawn = [*drawn, *self.chance.choices(drawn, k=self.size(3))][:CLIENTS_MAX]
        if self.often(0.03):
            drawn[self.chance.randrange(len(drawn))] = ""
        if self.often(0.5):
            self.chance.shuffle(drawn)
        return drawn

    def client(self) -> str:
        """Return a client id of one of the usual forms, or any text."""
        number = self.chance.randint(0, 99)
        forms = (f"CID-{number}", f"10.0.0.{number}@{number * 37}#8{number}", self.name())
        return self.chance.choice((*forms, f"{self.name()}@{number}"))

    def queues(self, make_broker: Callable[[], str] | None = None) -> list[Queue]:
        """Return queues of a topic or two: sometimes none, a few of them twice, in any order."""
        if self.often(0.04):
            return []
        topics = [self.chance.choice(("orders", "topic_test", self.name()))]
        if self.often(0.2):
            topics.append(self.name())
        make_broker = make_broker or (lambda: self.chance.choice(("broker-a", self.name())))
        brokers = [make_broker() for _ in range(self.chance.randint(1, 5))]
        numbers = (2, 12, 12, 1_000_000_000)
        drawn: list[Queue] = [
            [
                self.chance.choice(topics),
                self.chance.choice(brokers),
                self.chance.randint(0, self.chance.choice(numbers)),
            ]
            for _ in range(self.size(QUEUES_MAX))
        ]
        if self.often(0.1):
            drawn = [*drawn, *self.chance.choices(drawn, k=2)][:QUEUES_MAX]
        if self.often(0.03):
            drawn[0][2] = QUEUE_ID_MAX
        return drawn

    def asked(self, clients: list[str]) -> Case:
        """Return who is asked for: usually everybody, else some, with strangers among them."""
        if clients and self.often(0.75):
            return {}
        named = self.chance.sample(clients, self.chance.randint(0, len(clients)))
        if self.often(0.6):
            named.append("a stranger")
        if self.often(0.4):
            named.append("")
        if self.often(0.2):
            named *= 2
        self.chance.shuffle(named)
        return {"for": named}


def _plain(draw: Draw) -> Case:
    if draw.often(0.02):  # Which of several refusals comes first.
        return {"queues": [], "clients": [], **draw.asked([])}
    clients = draw.clients()
    return {"queues": draw.queues(), "clients": clients, **draw.asked(clients)}


def _without_options(draw: Draw) -> Case:
    return _plain(draw) | draw.chance.choice(({}, {"options": {}}, {"options": None}))


def _configured(draw: Draw) -> Case:
    return _plain(draw) | {"options": _config_options(draw)}


def _config_options(draw: Draw) -> Case:
    return draw.chance.choices(
        ({"queues": draw.queues()}, {"queues": None}, {}), weights=(8, 1, 1)
    )[0]


def _machine_room(draw: Draw) -> Case:
    """Half of the brokers have a plain name in a room, half an odd one; most rooms are wanted."""
    rooms = draw.chance.sample(ROOMS, 3)

    def broker() -> str:
        form = AT_NAMES[0] if draw.often(0.5) else draw.chance.choice(AT_NAMES)
        return form.format(room=draw.chance.choice(rooms))

    clients = draw.clients()
    options = _room_options(draw)
    if options.get("rooms") and draw.often(0.7):
        options["rooms"] += rooms[: draw.size(3)]
    queues = draw.queues(broker)
    return {"queues": queues, "clients": clients, "options": options, **draw.asked(clients)}


def _room_options(draw: Draw) -> Case:
    """Rooms that queues have, and some that none has; or none, or never configured."""
    kind = draw.chance.random()
    if kind < 0.1:
        return draw.chance.choice(({"rooms": None}, {}))
    if kind < 0.17:
        return {"rooms": []}
    return {"rooms": draw.chance.choices((*ROOMS, *ROOMS, "", "nowhere"), k=draw.size(8))}


def _consistent_hash(draw: Draw) -> Case:
    case = _plain(draw)
    if draw.often(0.25):
        pair = list(draw.chance.choice(SAME_PLACE))
        case["clients"] = draw.chance.sample([*case["clients"], *pair, *pair[:1]], k=3)
        case.pop("for", None)
    if draw.often(0.25):
        number, client = draw.chance.choice(ON_A_NODE)
        case["clients"] = [*case["clients"][: CLIENTS_MAX - 1], client]
        case["queues"] = [*case["queues"][: QUEUES_MAX - 1], ["orders", "broker-a", number]]
        case.pop("for", None)
    return case | {"options": _ring_options(draw)}


def _ring_options(draw: Draw) -> Case:
    if draw.often(0.07):
        return {"virtual_nodes": draw.chance.choice((-1, -10, -(2**31)))}
    nodes = draw.chance.choice((0, 1, 1, 2, 3, 3, 10, 10, 10, 64, None))
    return {} if nodes is None else {"virtual_nodes": nodes}


def _room_options_inside(draw: Draw) -> Case:
    options = _room_options(draw)
    if options.get("rooms") and draw.often(0.8):
        options["rooms"] += [f"{room}-r" for room in draw.chance.sample(ROOMS, 6)]
    return options


def _nearby(draw: Draw) -> Case:
    """Rooms on both sides, drawn apart: private ones, ones without queues, ones without clients."""
    broker_rooms = draw.chance.sample(ROOMS, draw.chance.randint(1, 4))
    client_rooms = draw.chance.sample(ROOMS, draw.chance.randint(1, 4))
    if draw.often(0.6):
        client_rooms += broker_rooms[: draw.size(4)]
    unknown = 0.004 if draw.often(0.7) else 0.08

    def room_of(rooms: list[str]) -> str:
        return "" if draw.often(unknown) else draw.chance.choice(rooms)

    def broker() -> str:
        ends = ("-broker-a", "-broker-b", "", f"-{draw.name()}", "@b-x", "-r@b")
        return room_of(broker_rooms) + draw.chance.choice(ends)

    clients = draw.clients(lambda: f"{room_of(client_rooms)}-{draw.client()}")
    if not draw.often(0.05):
        clients = [client or "IDC1" for client in clients]
    inner = draw.chance.choice(tuple(INNER))
    return {
        "queues": draw.queues(broker),
        "clients": clients,
        "options": {
            "room": "prefix-before-first-dash",
            "inner": inner,
            "inner_options": INNER[inner](draw),
        },
        **draw.asked(clients),
    }


INNER: Final[Mapping[str, Callable[[Draw], Case]]] = {
    "AVG": lambda _draw: {},
    "AVG_BY_CIRCLE": lambda _draw: {},
    "CONFIG": _config_options,
    "MACHINE_ROOM": _room_options_inside,
    "CONSISTENT_HASH": _ring_options,
}
"""What may stand inside MACHINE_ROOM_NEARBY, with its options."""

STRATEGIES: Final[Mapping[str, Callable[[Draw], Case]]] = {
    "AVG": _without_options,
    "AVG_BY_CIRCLE": _without_options,
    "CONFIG": _configured,
    "MACHINE_ROOM": _machine_room,
    "MACHINE_ROOM_NEARBY": _nearby,
    "CONSISTENT_HASH": _consistent_hash,
}
"""Every strategy of RocketMQ, with what draws its cases."""
