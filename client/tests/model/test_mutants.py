"""The world notices when a rule of the client's table is dropped: each test breaks one rule."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client.model import Epoch
from fairlead_client.session import life_steps, queue_steps, work_steps
from fairlead_client.session.actions import SendRelease, StopWork
from fairlead_client.session.memory import Gate
from fairlead_client.session.seen_releases import SeenReleases
from fairlead_client.session.states import QueueState as Q
from fairlead_client.session.states import SessionState as S
from fairlead_client.session.states import Signal as On
from fairlead_client.session.transitions import TRANSITIONS

if TYPE_CHECKING:
    from tests.model.conftest import World

Patch = pytest.MonkeyPatch
WALKS_MAX = 3_000

STEPS: tuple[tuple[int, Callable[["World", Random], None]], ...] = (
    (6, lambda world, chance: world.aim(chance.choice(world.members))),
    (
        12,
        lambda world, chance: world.read_assignment(
            chance.choice(world.members), chance.choice(world.engine.records)
        ),
    ),
    (
        12,
        lambda world, chance: world.read_assignment(
            chance.choice(world.members), chance.choice(world.engine.records[-3:])
        ),
    ),
    (
        10,
        lambda world, chance: world.read_release(
            chance.choice(world.members), chance.choice(world.releases)
        ),
    ),
    (6, lambda world, chance: world.work(chance.choice(world.members))),
    (8, lambda world, chance: world.stop(chance.choice(world.members))),
    (4, lambda world, chance: world.acknowledge(chance.choice(world.members))),
    (8, lambda world, chance: world.hear(chance.choice(world.releases))),
    (2, lambda world, chance: world.fence(chance.choice(world.members))),
    (2, lambda world, chance: world.lapse(chance.choice(sorted(world.engine.lapsed)))),
    (1, lambda world, _: world.restart()),
    (4, lambda world, chance: world.learn_generation(chance.choice(world.members))),
    (2, lambda world, _: world.heal()),
)


def walk(make: Callable[..., "World"], seed: int, steps: int = 50) -> None:
    """Take random steps, then let everything be read."""
    chance = Random(seed)
    world = make(members=chance.choice((2, 3)), cap=chance.choice((1, 2, 2, 3)))
    world.aim(world.members[0])
    # Half of the walks are of members that never die: only they can show a duplicate.
    weights = [0 if seed % 2 and number in (8, 9) else weight for number, (weight, _)
               in enumerate(STEPS)]  # fmt: skip
    for _, step in chance.choices(STEPS, weights, k=steps):
        # A step that needs a record which does not exist yet is no step.
        with contextlib.suppress(IndexError):
            step(world, chance)
        world.decide()
    world.settle()


def rewire(patch: Patch, old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Put another handler wherever the table names one; any state may follow."""
    assert any(handler is old for handler, _ in TRANSITIONS.values())
    for key, (handler, _) in list(TRANSITIONS.items()):
        if handler is old:
            anywhere: tuple[Any, ...] = tuple(Q) if isinstance(key[1], On) else tuple(S)
            patch.setitem(TRANSITIONS, key, (new, anywhere))


def m2_no_epoch_test(patch: Patch) -> None:
    """An add counts although its epoch was started or dropped before."""

    def add(memory: Any, queue: Any, detail: Any) -> Q:
        queue.top = queue.started = Epoch(0, 0) if not queue.works else queue.started
        return queue_steps.add(memory, queue, detail)

    rewire(patch, queue_steps.add, add)


def m3_drop_is_not_recorded(patch: Patch) -> None:
    """A drop of something unknown is answered, and forgotten."""

    def drop(memory: Any, queue: Any, detail: Any) -> Q:
        top, gate = queue.top, queue.gate
        state = queue_steps.drop(memory, queue, detail)
        queue.top, queue.gate = top, gate
        return state if gate is None else queue.state

    rewire(patch, queue_steps.drop, drop)


def m4_release_before_the_work_stopped(patch: Patch) -> None:
    """The release is written on the drop."""

    def drop(memory: Any, queue: Any, detail: Any) -> Q:
        state = queue_steps.drop_working(memory, queue, detail)
        if isinstance(memory.actions[-1], StopWork):
            memory.release(queue, queue.started, queue.position)
        return state

    rewire(patch, queue_steps.drop_working, drop)


def m5_gate_is_ignored(patch: Patch) -> None:
    """An add starts at once, whoever works."""

    def scan(memory: Any, queue: Any, detail: Any) -> Q:
        if queue.gate is not None:
            queue.gate = replace(queue.gate, after=())
        return queue_steps.scan(memory, queue, detail)

    rewire(patch, queue_steps.scan, scan)


def m6_incarnation_is_not_tested(patch: Patch) -> None:
    """A record to any incarnation of the client counts."""

    def read(memory: Any, event: Any) -> S:
        record = replace(event.record, incarnation=memory.incarnation)
        return work_steps.read_assignment(memory, replace(event, record=record))

    rewire(patch, work_steps.read_assignment, read)


def m7_release_matched_by_queue(patch: Patch) -> None:
    """Any release of the queue opens the gate."""

    def find(self: Any, queue: Any, holder: Any) -> tuple[bool, Any]:
        del holder
        known = self._queues.get(queue, {})
        return (bool(known), next(iter(known.values()), None))

    patch.setattr(SeenReleases, "find", find)


def m8_null_opens_the_gate(patch: Patch) -> None:
    """None from the newest holder counts as a release by all."""

    def scan(memory: Any, queue: Any, detail: Any) -> Q:
        gate = queue.gate
        if gate is not None and gate.after:
            newest = max(gate.after, key=lambda holder: holder.epoch)
            if memory.seen.find(queue.queue, newest) == (True, None):
                queue.gate = Gate(gate.epoch, gate.base, ())
        return queue_steps.scan(memory, queue, detail)

    rewire(patch, queue_steps.scan, scan)


def m13_gates_outlive_the_lease(patch: Patch) -> None:
    """Adds of the old incarnation stand in the new one."""
    kept: dict[int, dict[Any, Gate]] = {}

    def fence(memory: Any, queue: Any, detail: Any) -> Q:
        if queue.gate is not None:
            kept.setdefault(id(memory), {})[queue.queue] = queue.gate
        return queue_steps.fence(memory, queue, detail)

    def start(memory: Any, event: Any) -> S:
        state = life_steps.start(memory, event)
        for name, gate in kept.pop(id(memory), {}).items():
            known = memory.queue(name)
            known.gate, known.state = gate, Q.GATED
        return state

    rewire(patch, queue_steps.fence, fence)
    rewire(patch, life_steps.start, start)


def m15_release_position_is_ignored(patch: Patch) -> None:
    """Work starts at the base of the add, whatever the release says."""

    def find(self: Any, queue: Any, holder: Any) -> tuple[bool, Any]:
        seen, position = real(self, queue, holder)
        return (seen, None if position is None else position._replace(offset=0))

    real = SeenReleases.find
    patch.setattr(SeenReleases, "find", find)


def m17b_gates_outlive_the_generation(patch: Patch) -> None:
    """A new generation is acknowledged, but old gates and adds still count."""
    rewire(patch, queue_steps.void, queue_steps.stay)


def m23_drop_while_draining_is_answered(patch: Patch) -> None:
    """A drop read again while the work stops is answered None."""
    _answer_always(patch, while_working=True)


def m24_drop_after_the_release_is_answered(patch: Patch) -> None:
    """A drop read again after the release is answered None."""
    _answer_always(patch, while_working=False)


def _answer_always(patch: Patch, *, while_working: bool) -> None:
    def drop(memory: Any, queue: Any, detail: Any) -> Q:
        if queue.works == while_working and detail.epoch == queue.started:
            memory.actions.append(SendRelease(memory.incarnation, queue.queue, detail.epoch, None))
        return queue_steps.drop(memory, queue, detail)

    rewire(patch, queue_steps.drop, drop)


def m30_drop_is_not_answered(patch: Patch) -> None:
    """A drop of what was never started is recorded, and not answered."""

    def drop(memory: Any, queue: Any, detail: Any) -> Q:
        state = queue_steps.drop(memory, queue, detail)
        memory.actions = [
            action
            for action in memory.actions
            if not (isinstance(action, SendRelease) and action.position is None)
        ]
        return state

    rewire(patch, queue_steps.drop, drop)


MUTANTS = [
    m2_no_epoch_test,
    m3_drop_is_not_recorded,
    m4_release_before_the_work_stopped,
    m5_gate_is_ignored,
    m6_incarnation_is_not_tested,
    m7_release_matched_by_queue,
    m8_null_opens_the_gate,
    m13_gates_outlive_the_lease,
    m15_release_position_is_ignored,
    m17b_gates_outlive_the_generation,
    m23_drop_while_draining_is_answered,
    m24_drop_after_the_release_is_answered,
    m30_drop_is_not_answered,
]


def test_the_session_itself(world: type["World"]) -> None:
    """Without a mutant the same walks break nothing."""
    for seed in range(500):
        walk(world, seed)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_caught(monkeypatch: Patch, world: type["World"], mutant: Callable[[Patch], None]) -> None:
    """Some walk shows that the rule is needed."""
    mutant(monkeypatch)
    for seed in range(WALKS_MAX):
        try:
            walk(world, seed)
        except AssertionError:
            return
    pytest.fail(f"{mutant.__name__} survived {WALKS_MAX} walks")
