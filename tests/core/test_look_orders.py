"""Every order of looks, answers, reads and writes that fail: no look from before an answer counts.

One member is frozen and has not answered yet. A native consumer comes and goes. Each bridge looks,
appends, and looks again only when Kafka has confirmed that; its clock is an hour wrong. The engine
reads its topics together or one by one, and may read each late. It takes the group over only if a
look that was begun after the answer has not found the native consumer (rule H32, ADR 0245).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import pytest

from fairlead.codec.group import encode_group
from fairlead.core.standby_records import BrokerMembers, MembersLook
from fairlead.core.standing import Footing
from tests.kit.group_world import GROUP
from tests.kit.standby_group import BRIDGE, StandbyGroup, attached

HOUR_MS: Final = 3_600_000
OTHER: Final = "9c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d22"
LISTED: Final = "10.0.0.a@1"
NATIVE: Final = "10.0.0.n@1"


@dataclass(frozen=True, slots=True)
class Bridge:
    """A bridge: the look that it has begun and not appended, and what it must append again.

    ``late``: a copy of it that Kafka has taken, and did not confirm in time.
    """

    name: str
    ahead_ms: int
    number: int
    begun: tuple[str, ...] | None = None
    unsure: MembersLook | None = None
    late: MembersLook | None = None


@dataclass(slots=True)
class Scene:
    """A group, its bridges, and whether the native consumer is there."""

    group: StandbyGroup
    bridges: list[Bridge]
    native: bool = False
    answered: bool = False
    unseen: bool = True
    """No look that was begun after the answer has found the native consumer gone."""
    appended: list[MembersLook] = field(default_factory=list)

    def copy(self) -> "Scene":
        """Return a scene that can go on by itself."""
        world = self.group.world
        own = replace(
            world,
            waiting=[*world.waiting],
            offsets={**world.offsets},
            sequences={**world.sequences},
        )
        group = replace(self.group, world=own, states={**self.group.states})
        return replace(self, group=group, bridges=[*self.bridges], appended=[*self.appended])

    def image(self) -> object:
        """Return what distinguishes this scene from others."""
        world = self.group.world
        assert world.state is not None
        body, _ = encode_group(world.state)
        waiting = [(repr(each.record), each.source.append_ms) for each in world.waiting]
        seen = (self.native, self.answered, self.unseen, self.appended[-1:])
        return (body, repr(waiting), repr(self.bridges), repr(seen), world.clock_ms)

    def append(self, look: MembersLook) -> None:
        """Kafka takes a look."""
        self.appended.append(look)
        self.group.world.add("offsets", look)

    def answer(self) -> None:
        """The member tells what it holds."""
        self.answered = True
        self.group.former("a", {0: 10})

    def run(self, unread: str) -> None:
        """The engine reads, and may take the group over."""
        self.group.world.run(unread=unread)
        if self.group.on() is Footing.CONFIRMING:
            assert self.answered
            assert not self.unseen, "a native consumer read all the time"

    def pass_silence(self) -> None:
        """So much time passes that another bridge may count; the member lives."""
        self.group.world.clock_ms += 15_000
        self.group.beat("a", "freeze")
        self.group.world.run(unread="offsets")

    def begin(self, at: int) -> None:
        """A bridge asks the brokers."""
        self.unseen = self.unseen and (self.native or not self.answered)
        ids = (LISTED, NATIVE) if self.native else (LISTED,)
        self.bridges[at] = replace(self.bridges[at], begun=ids)

    def write(self, at: int, *, confirmed: bool) -> None:
        """A bridge writes its look; Kafka confirms it, or the bridge hears of nothing."""
        bridge = self.bridges[at]
        assert bridge.begun is not None
        brokers = (BrokerMembers("broker-a", bridge.begun),)
        at_ms = self.group.world.clock_ms + bridge.ahead_ms
        look = MembersLook(GROUP, "main", bridge.name, bridge.number, True, brokers, at_ms)  # noqa: FBT003
        bridge = replace(bridge, begun=None, number=bridge.number + 1)
        if confirmed:
            self.append(look)
        else:
            bridge = replace(bridge, unsure=look, late=look)
        self.bridges[at] = bridge

    def write_again(self, at: int) -> None:
        """A bridge writes again what was not confirmed, and hears that it is appended."""
        unsure = self.bridges[at].unsure
        assert unsure is not None
        self.append(unsure)
        self.bridges[at] = replace(self.bridges[at], unsure=None)

    def arrive_late(self, at: int) -> None:
        """Kafka appends what it did not confirm."""
        late = self.bridges[at].late
        assert late is not None
        self.append(late)
        self.bridges[at] = replace(self.bridges[at], late=None)


def _events(scene: Scene, left: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Yield what may happen next: (what, to which bridge)."""
    waits = {each.source.topic for each in scene.group.world.waiting}
    if waits:
        yield "run", 0
    if "heartbeats" in waits and "offsets" in waits:
        yield "run without looks", 0
        yield "run without answers", 0
    if not scene.answered:
        yield "answer", 0
    for what in ("native", "tick", "silence"):
        if left[what]:
            yield what, 0
    if left["again"] and scene.appended:
        yield "again", 0
    yield from _events_of_bridges(scene, left)


def _events_of_bridges(scene: Scene, left: dict[str, int]) -> Iterator[tuple[str, int]]:
    for at, bridge in enumerate(scene.bridges):
        if bridge.begun is not None:
            yield "append", at
            if left["fail"]:
                yield "fail", at
        elif bridge.unsure is not None:
            yield "write again", at
        elif left["look"]:
            yield "look", at
        if bridge.late is not None:
            yield "late", at


def _happen(scene: Scene, what: str, at: int) -> None:
    match what:
        case "run" | "run without looks" | "run without answers":
            unread = {"run without looks": "offsets", "run without answers": "heartbeats"}
            scene.run(unread.get(what, ""))
        case "answer":
            scene.answer()
        case "native":
            scene.native = not scene.native
        case "tick":
            scene.group.world.clock_ms += 1
        case "silence":
            scene.pass_silence()
        case "again":
            scene.append(scene.appended[-1])
        case "look":
            scene.begin(at)
        case "append" | "fail":
            scene.write(at, confirmed=what == "append")
        case "write again":
            scene.write_again(at)
        case "late":
            scene.arrive_late(at)


def _explore(scene: Scene, left: dict[str, int], depth: int) -> tuple[int, bool]:
    """Try every order up to a depth; return how many scenes there were, and if one took over."""
    seen: dict[object, int] = {}
    taken = False
    stack = [(scene, left, depth)]
    while stack:
        here, budget, deep = stack.pop()
        mark = (here.image(), tuple(sorted(budget.items())))
        if seen.get(mark, -1) >= deep:
            continue
        seen[mark] = deep
        taken = taken or here.group.on() is Footing.CONFIRMING
        if not deep or here.group.on() is not Footing.FREEZING:
            continue
        for what, at in _events(here, budget):
            after = here.copy()
            _happen(after, what, at)
            less = {**budget, what: budget[what] - 1} if what in budget else budget
            stack.append((after, less, deep - 1))
    return len(seen), taken


def _frozen(*ahead_ms: int) -> Scene:
    """Return a group of one member that is frozen, with a bridge for each of these clocks."""
    group = attached("a")
    group.freeze("a")
    names = (BRIDGE, OTHER)
    bridges = [Bridge(names[at], each, group.look + 1) for at, each in enumerate(ahead_ms)]
    return Scene(group, bridges)


NONE: Final = {"look": 2, "native": 1, "tick": 1, "fail": 0, "again": 0, "silence": 0}

WORLDS: Final[dict[str, tuple[tuple[int, ...], dict[str, int]]]] = {
    "ahead": ((HOUR_MS,), {}),
    "behind": ((-HOUR_MS,), {}),
    "a write fails": ((HOUR_MS,), {"fail": 1}),
    "a record comes twice": ((HOUR_MS,), {"again": 1}),
    "two bridges": ((HOUR_MS, -HOUR_MS), {"silence": 1}),
}

worlds = pytest.mark.parametrize("ahead_ms, more", WORLDS.values(), ids=WORLDS)


@worlds
def test_no_look_from_before_the_answer_counts(
    ahead_ms: tuple[int, ...], more: dict[str, int]
) -> None:
    """Looks, their writes, the answer and the engine's reads come in every order (rule H32)."""
    _, taken = _explore(_frozen(*ahead_ms), {**NONE, **more}, 10)
    assert taken


@pytest.mark.slow
@worlds
def test_no_look_counts_in_deeper_orders(ahead_ms: tuple[int, ...], more: dict[str, int]) -> None:
    """The same with one look more (rule H32)."""
    number, taken = _explore(_frozen(*ahead_ms), {**NONE, **more, "look": 3}, 10)
    assert taken
    assert number > 1_000
