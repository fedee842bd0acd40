"""Which corners a set of cases reaches: counted per strategy, from cases and RocketMQ's answers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from tests.judge.cases import ON_A_NODE, QUEUE_ID_MAX, SAME_PLACE

Case = Mapping[str, Any]
Counts = Mapping[tuple[str, str], int]
"""(strategy or kind, branch) -> cases."""

ALL: Final = "cases"
_BMP_LAST: Final = 0xFFFF


def count(cases: Iterable[Case], answers: Iterable[Case]) -> Counts:
    """Count the branches of cases and of what RocketMQ answered them."""
    counts: Counter[tuple[str, str]] = Counter()
    for case, answer in zip(cases, answers, strict=True):
        kind = case.get("strategy", case["kind"])
        counts.update((kind, branch) for branch in {ALL, *_of_case(case), *_of_answer(answer)})
        if case["kind"] == "allocate":
            counts.update((kind, branch) for branch in set(_of_allocation(case, answer)))
    return counts


def table(counts: Counts) -> str:
    """Return the counts as a table: a line for each branch, a column for each strategy."""
    kinds = list(dict.fromkeys(kind for kind, _ in counts))
    branches = sorted({branch for _, branch in counts} - {ALL})
    width = max(map(len, branches), default=0)
    lines = [f"{'':{width}}  {'  '.join(kinds)}"]
    for branch in (ALL, *branches):
        cells = (f"{counts.get((kind, branch), 0):{len(kind)}}" for kind in kinds)
        lines.append(f"{branch:{width}}  {'  '.join(cells)}")
    return "\n".join(lines)


def _of_case(case: Case) -> Iterator[str]:
    """What any case may have: odd names, and names twice."""
    names = [*case.get("clients", ())]
    names += [name for queue in case.get("queues", ()) for name in queue[:2]]
    if not all(name.isascii() for name in names):
        yield "names: not ASCII"
    if any(ord(letter) > _BMP_LAST for name in names for letter in name):
        yield "names: a supplementary character"
    if any("\ud800" <= letter <= "\udfff" for name in names for letter in name):
        yield "names: half a surrogate pair"
    clients, queues = case.get("clients", []), [tuple(queue) for queue in case.get("queues", [])]
    if len(set(clients)) < len(clients):
        yield "clients: an id twice"
    if len(set(queues)) < len(queues):
        yield "queues: one twice"
    if any(queue[2] == QUEUE_ID_MAX for queue in queues):
        yield "queues: the greatest id"


def _of_answer(answer: Case) -> Iterator[str]:
    if "error" in answer:
        yield "error: any"
        yield f"error: {answer['error']['code']}"


def _of_allocation(case: Case, answer: Case) -> Iterator[str]:
    clients = case["clients"]
    if len(clients) > len(case["queues"]):
        yield "clients: more than queues"
    if "for" in case:
        yield "asked: some"
        if not set(case["for"]) <= set(clients):
            yield "asked: a stranger"
        if not case["for"]:
            yield "asked: nobody"
    if "result" in answer:
        shares = answer["result"].values()
        if any(shares) and not all(shares):
            yield "share: none beside some"
        if shares and not any(shares):
            yield "share: none for all"
    if case["strategy"] in _OWN:
        yield from _OWN[case["strategy"]](case, answer)


def _of_machine_room(case: Case, answer: Case) -> Iterator[str]:
    rooms = (case["options"] or {}).get("rooms")
    if rooms is None:
        yield "rooms: never configured"
        if "result" in answer and any(client in case["clients"] for client in answer["result"]):
            yield "rooms: never configured, never missed"
    elif not rooms:
        yield "rooms: none"
    names = [queue[1] for queue in case["queues"]]
    if any(name.startswith("@") and name.strip("@") for name in names):
        yield "broker names: '@' first"
    if any(name.endswith("@") and name.strip("@") for name in names):
        yield "broker names: '@' last"
    if any("@" not in name for name in names):
        yield "broker names: no '@'"
    if any(name.strip("@").count("@") > 1 or "@@" in name.strip("@") for name in names):
        yield "broker names: more than two parts"
    if "result" in answer and "for" not in case and case["clients"]:
        dealt = sum(len(share) for share in answer["result"].values())
        if dealt % len(case["clients"]):
            yield "share: with what is left over"


def _of_nearby(case: Case, _answer: Case) -> Iterator[str]:
    yield f"inside: {case['options']['inner']}"
    queues = {queue[1].partition("-")[0] for queue in case["queues"]}
    clients = {client.partition("-")[0] for client in case["clients"]}
    if queues & clients:
        yield "rooms: private"
    if len(queues - clients) > 1:
        yield "rooms: two without clients"
    if queues - clients:
        yield "rooms: without clients"
    if clients - queues:
        yield "rooms: without queues"


def _of_consistent_hash(case: Case, _answer: Case) -> Iterator[str]:
    nodes = case["options"].get("virtual_nodes")
    yield f"virtual nodes: {'not given' if nodes is None else 'negative' if nodes < 0 else nodes}"
    clients = set(case["clients"])
    if nodes != 0 and any(clients >= set(pair) for pair in SAME_PLACE):
        yield "ring: two nodes on one place"
    numbers = {queue[2] for queue in case["queues"] if queue[:2] == ["orders", "broker-a"]}
    if any(number in numbers and client in clients for number, client in ON_A_NODE):
        yield "ring: a queue on a node"


_OWN: Final[Mapping[str, Callable[[Case, Case], Iterator[str]]]] = {
    "MACHINE_ROOM": _of_machine_room,
    "MACHINE_ROOM_NEARBY": _of_nearby,
    "CONSISTENT_HASH": _of_consistent_hash,
}
