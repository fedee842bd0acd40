"""Every order of a small group's take-over and way back: no queue has two owners once one owns.

Two members, two queues, and what may happen to them a few times each: looks, heartbeats, reads of
assignments, answers, a lease that ends, a third member, a process without Fairlead, another driver.
The core is the real one. The members are a few lines that do what docs/protocol.md §3.16 says.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import pytest

from fairlead.codec.group import encode_group
from fairlead.core.model import DataPlane, Epoch, MemberProfile, Position
from fairlead.core.outputs import Assignment
from fairlead.core.publishing.digest import digest
from fairlead.core.standby_records import (
    BrokerMembers,
    Former,
    FormerQueue,
    MembersLook,
    StandbyState,
)
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of

BRIDGE: Final = "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"
QUEUES: Final = 2
NATIVE: Final = "10.0.0.n@1"


@dataclass(slots=True)
class Member:
    """One member: what it works on by itself or frozen, and under which grants."""

    name: str
    state: StandbyState = "wait"
    works: set[int] = field(default_factory=set)
    stopping: set[int] = field(default_factory=set)
    """What it held frozen, got no grant of, and has not stopped yet."""
    held: dict[int, tuple[Epoch, bool]] = field(default_factory=dict)
    """Queue -> its epoch, and whether a gate is open."""
    inbox: list[Assignment] = field(default_factory=list)
    applied: Epoch | None = None
    generation: int = 1
    dead: bool = False

    @property
    def consumer(self) -> str:
        """The id under which brokers list it."""
        return f"10.0.0.{self.name}@1"

    def at_work(self) -> set[int]:
        """Return the queues that it works on."""
        return (
            self.works
            | self.stopping
            | {number for number, (_, is_open) in self.held.items() if is_open}
        )


@dataclass(slots=True)
class Scene:
    """The engine, the members, and whom the brokers list."""

    world: GroupWorld = field(default_factory=GroupWorld)
    members: dict[str, Member] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    look: int = 0
    knows: bool = True
    """Members know how far they are in the queues that they hold frozen."""

    def copy(self) -> "Scene":
        """Return a scene that can go on by itself; what never changes is shared."""
        world = self.world
        own = replace(
            world,
            waiting=[*world.waiting],
            offsets={**world.offsets},
            sequences={**world.sequences},
        )
        members = {
            name: replace(
                each,
                works={*each.works},
                stopping={*each.stopping},
                held={**each.held},
                inbox=[*each.inbox],
            )
            for name, each in self.members.items()
        }
        return Scene(own, members, {*self.listed}, self.look, self.knows)

    def image(self) -> object:
        """Return what distinguishes this scene from others, but for numbers of records."""
        assert self.world.state is not None
        members = [
            (
                *(each.name, each.state, sorted(each.works), sorted(each.stopping)),
                sorted(each.held.items()),
                *(each.applied, len(each.inbox), each.generation, each.dead),
            )
            for each in self.members.values()
        ]
        body, _ = encode_group(self.world.state)
        waiting = [repr(each.record) for each in self.world.waiting]
        return (body, repr(members), repr(waiting), frozenset(self.listed))

    def follow(self) -> None:
        """Members that follow work on what AVG gives them among all that the brokers list."""
        everybody = sorted(self.listed)
        for each in self.members.values():
            if each.state == "follow" and not each.dead and each.consumer in self.listed:
                index, number = everybody.index(each.consumer), len(everybody)
                each.works = {
                    queue
                    for queue in range(QUEUES)
                    if min(queue * number // QUEUES, number - 1) == index
                    or (number > QUEUES and queue == index)
                }

    def run(self) -> None:
        """The engine reads everything; members get what it wrote into their inboxes."""
        self.world.run()
        for output in self.world.outputs:
            if isinstance(output, Assignment):
                member = self.members.get(output.member.client_id)
                if member is not None and not member.dead:
                    member.inbox.append(output)

    def beat(self, name: str) -> None:
        """A member heartbeats."""
        each = self.members[name]
        plane = DataPlane("rocketmq", each.consumer)
        profile = MemberProfile(consume_from="first_offset", data_plane=plane, follows="AVG")
        entries = [
            (queue_of(number), epoch, "held" if is_open else "gated")
            for number, (epoch, is_open) in each.held.items()
        ]
        applied = each.applied or Epoch(0, 0)
        self.world.beat(
            name, profile=profile, standby=each.state, held=digest(entries), applied=applied
        )

    def start(self, name: str) -> None:
        """A member starts: the brokers list it, and it heartbeats."""
        self.members[name] = Member(name, generation=self.world.generation)
        self.listed.add(self.members[name].consumer)
        self.beat(name)
        self.world.claims(name)

    def tell(self) -> None:
        """The bridge tells whom the brokers list."""
        self.look += 1
        self.world.clock_ms += 1
        ids = tuple(sorted(self.listed))
        brokers = (BrokerMembers("broker-a", ids), BrokerMembers("broker-b", ids))
        seen = MembersLook(GROUP, "main", BRIDGE, self.look, True, brokers, self.world.clock_ms)  # noqa: FBT003
        self.world.add("offsets", seen)

    def read(self, name: str) -> None:
        """A member reads its next assignment, and does what it says."""
        each = self.members[name]
        told = each.inbox.pop(0)
        if told.generation < each.generation:
            return
        each.applied = max(each.applied or told.epoch, told.epoch)
        if told.standby is not None:
            if each.state == "own":
                each.works, each.held = each.at_work(), {}
            each.state = told.standby
            if told.standby == "freeze":
                at = Position(0, 5) if self.knows else None
                queues = tuple(FormerQueue(queue_of(one), at) for one in each.works)
                answer = Former(GROUP, key_of(name), told.epoch, 0, 1, queues)
                self.world.add("heartbeats", answer)
            return
        adds = {add.queue.queue_id: add for add in told.add}
        if each.state in ("follow", "freeze"):
            if each.state == "freeze":
                for number in each.works & adds.keys():
                    each.held[number] = (adds[number].epoch, True)
            each.stopping |= each.works - each.held.keys()
            each.works = set()
        if not each.stopping:
            each.state = "own"
        for drop in told.drop:
            number = drop.queue.queue_id
            epoch, is_open = each.held.get(number, (Epoch(0, 0), False))
            if epoch == drop.epoch:
                del each.held[number]
            ran = epoch == drop.epoch and is_open
            self.world.release(name, number, drop.epoch, 6 if ran else None)
        self._take(each, told)

    def _take(self, each: Member, told: Assignment) -> None:
        for add in told.add:
            epoch, is_open = each.held.get(add.queue.queue_id, (Epoch(0, 0), False))
            if epoch <= add.epoch:
                is_open = not add.after or (is_open and epoch == add.epoch)
                each.held[add.queue.queue_id] = (add.epoch, is_open)

    def stop(self, name: str) -> None:
        """A member has stopped what it was not granted; only then it says that it owns."""
        each = self.members[name]
        each.stopping, each.state = set(), "own"

    def end(self, name: str) -> None:
        """A member's lease ends: it stops everything, and later the engine takes it for dead."""
        each = self.members[name]
        each.dead, each.works, each.stopping, each.held, each.inbox = True, set(), set(), {}, []
        self.listed.discard(each.consumer)
        self.world.clock_ms += 14_000
        for other in self.members.values():
            if not other.dead:
                self.beat(other.name)

    def restart(self) -> None:
        """Another driver begins; members acknowledge it, and say what they do."""
        self.world.driver(self.world.generation + 1)
        self.run()
        for each in self.members.values():
            if each.dead:
                continue
            each.generation = self.world.generation
            each.held = {number: held for number, held in each.held.items() if held[1]}
            claims = [(number, epoch, 5, True) for number, (epoch, _) in sorted(each.held.items())]
            self.world.claims(each.name, *claims)
            self.beat(each.name)

    def check(self) -> None:
        """No two members work on one queue, unless both follow or are frozen."""
        working: dict[int, Member] = {}
        for each in self.members.values():
            for number in each.at_work():
                other = working.setdefault(number, each)
                by_themselves = {"follow", "freeze"}
                owns = number in each.held or number in other.held
                owns = owns or not {each.state, other.state} <= by_themselves
                assert other is each or not owns, (number, each, other)


def _events(scene: Scene, left: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield what may happen next: (what, to whom)."""
    if scene.world.waiting:
        yield "run", ""
    for name, each in scene.members.items():
        if not each.dead:
            if each.inbox:
                yield "read", name
            if each.stopping:
                yield "stop", name
            if left["beat"]:
                yield "beat", name
            if left["end"]:
                yield "end", name
    if left["tell"]:
        yield "tell", ""
    if left["start"] and "c" not in scene.members:
        yield "start", "c"
    if left["native"]:
        yield "native", ""
    if left["restart"] and not scene.world.waiting:
        yield "restart", ""


def _happen(scene: Scene, what: str, name: str) -> None:
    match what:
        case "run":
            scene.run()
        case "native":
            scene.listed ^= {NATIVE}
        case "tell" | "restart":
            getattr(scene, what)()
        case _:
            getattr(scene, what)(name)
    scene.follow()
    scene.check()


def _begun() -> Scene:
    """Return two members that follow and were looked at once: the next look may freeze them."""
    scene = Scene()
    for name in "ab":
        scene.start(name)
    scene.run()
    scene.world.route(QUEUES)
    scene.run()
    for name in "ab":
        while scene.members[name].inbox:
            scene.read(name)
        scene.beat(name)
    scene.run()
    scene.tell()
    scene.run()
    scene.follow()
    return scene


def _explore(scene: Scene, left: dict[str, int], depth: int) -> tuple[int, set[str]]:
    """Try every order up to a depth; return how many scenes there were, and all footings met."""
    seen: dict[object, int] = {}
    footings: set[str] = set()
    stack = [(scene, left, depth)]
    while stack:
        here, budget, deep = stack.pop()
        mark = (here.image(), tuple(sorted(budget.items())))
        if seen.get(mark, -1) >= deep:
            continue
        seen[mark] = deep
        state = here.world.state
        assert state is not None
        standing = state.standing
        footings.add(str(standing and standing.footing))
        if not deep:
            continue
        for what, name in _events(here, budget):
            after = here.copy()
            _happen(after, what, name)
            less = budget if what in ("run", "read", "stop") else {**budget, what: budget[what] - 1}
            stack.append((after, less, deep - 1))
    return len(seen), footings


NONE: Final = dict.fromkeys(("beat", "end", "tell", "start", "native", "restart"), 0)


def _frozen() -> Scene:
    """Return the moment in which the engine has frozen the group, and nobody has read it."""
    scene = _begun()
    scene.tell()
    scene.run()
    return scene


def _taken_over() -> Scene:
    """Return the moment in which the engine has taken the group over, and nobody has read it."""
    scene = _frozen()
    for name in "ab":
        scene.read(name)
    scene.run()
    for _ in range(2):
        scene.tell()
        scene.run()
    return scene


FAULTS: Final[dict[str, dict[str, int]]] = {
    "none": {},
    "a lease ends": {"end": 1},
    "a member joins": {"start": 1},
    "a native process comes": {"native": 1},
    "a driver starts": {"restart": 1},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_freeze_in_every_order(fault: dict[str, int]) -> None:
    """From the freeze on looks, answers, reads and a fault come in every order."""
    _, footings = _explore(_frozen(), {**NONE, "tell": 2, **fault}, 7)
    assert {"freezing", "confirming"} <= footings


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_first_moves_in_every_order(fault: dict[str, int]) -> None:
    """From the take-over on members confirm, and a fault comes, in every order."""
    _, footings = _explore(_taken_over(), {**NONE, "beat": 2, **fault}, 7)
    assert {"confirming", "own"} <= footings


def test_a_queue_without_a_position_in_every_order() -> None:
    """Who holds a queue and does not know how far it is stops it slowly: nobody gets it before."""
    scene = _begun()
    scene.knows = False
    scene.world.rule("strategy", {"name": "STICKY"})
    subject = ("orders", "main", "0")
    scene.world.rule("pin", {"queue": [*queue_of(0)], "client_id": "b"}, *subject)
    scene.run()
    scene.tell()
    scene.run()
    for name in "ab":
        scene.read(name)
    scene.run()
    for _ in range(2):
        scene.tell()
        scene.run()
    for name in "ab":
        scene.read(name)
    scene.world.bounds(QUEUES)
    _, footings = _explore(scene, {**NONE, "beat": 3}, 9)
    assert {"confirming", "own"} <= footings


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_both_in_deeper_orders(fault: dict[str, int]) -> None:
    """The same with more of each, and further."""
    for scene in (_frozen(), _taken_over()):
        number, _ = _explore(scene, {**NONE, "tell": 2, "beat": 1, **fault}, 10)
        assert number > (500 if fault else 200)
