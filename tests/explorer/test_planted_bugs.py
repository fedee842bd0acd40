"""The explorer can fail: of each rule that is dropped it tells the shortest run that breaks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from fairlead_client.session import claims, life_steps, queue_steps, transitions, work_steps
from fairlead_client.session.actions import SendRelease, StopWork
from fairlead_client.session.memory import Gate
from fairlead_client.session.seen_releases import SeenReleases
from fairlead_client.session.states import QueueState, SessionState, Signal

from fairlead.core import apply, barrier, handover, membership
from fairlead.core.draft import Draft
from fairlead.sim.explorer.retelling import retell
from fairlead.sim.explorer.search import search
from fairlead.sim.explorer.world import Restart, World

Patch = pytest.MonkeyPatch
STATES_MAX = 40_000


def listed(patch: Patch, old: Any, new: Any) -> None:
    """Put another handler wherever the client's table has the old one; any state may follow."""
    assert any(handler is old for handler, _ in transitions.TRANSITIONS.values())
    for key, (handler, _) in list(transitions.TRANSITIONS.items()):
        if handler is old:
            anywhere: Any = tuple(QueueState if isinstance(key[1], Signal) else SessionState)
            patch.setitem(transitions.TRANSITIONS, key, (new, anywhere))


def m2_no_epoch_test(patch: Patch) -> None:
    """A client takes an add whose epoch it started or dropped before."""

    def add(memory: Any, queue: Any, detail: Any) -> Any:
        if not queue.works:
            queue.top = queue.started = queue.top._replace(generation=0, number=0)
        return queue_steps.add(memory, queue, detail)

    listed(patch, queue_steps.add, add)


def m3_drop_not_recorded(patch: Patch) -> None:
    """The drop of an unknown epoch is answered, and forgotten."""

    def drop(memory: Any, queue: Any, detail: Any) -> Any:
        top, gate = queue.top, queue.gate
        state = queue_steps.drop(memory, queue, detail)
        queue.top, queue.gate = top, gate
        return state if gate is None else queue.state

    listed(patch, queue_steps.drop, drop)


def m4_released_before_it_stopped(patch: Patch) -> None:
    """The release is written as soon as the drop is read."""

    def drop(memory: Any, queue: Any, detail: Any) -> Any:
        state = queue_steps.drop_working(memory, queue, detail)
        if isinstance(memory.actions[-1], StopWork):
            memory.release(queue, queue.started, queue.position)
        return state

    listed(patch, queue_steps.drop_working, drop)


def m5_gate_ignored(patch: Patch) -> None:
    """A client starts whoever may be working."""

    def scan(memory: Any, queue: Any, detail: Any) -> Any:
        if queue.gate is not None:
            queue.gate = replace(queue.gate, after=())
        return queue_steps.scan(memory, queue, detail)

    listed(patch, queue_steps.scan, scan)


def m6_incarnation_not_tested(patch: Patch) -> None:
    """A client takes what is for any of its incarnations."""

    def read(memory: Any, event: Any) -> Any:
        if event.record.client_id != memory.settings.client_id:
            return memory.state
        record = replace(event.record, incarnation=memory.incarnation)
        return work_steps.read_assignment(memory, replace(event, record=record))

    listed(patch, work_steps.read_assignment, read)


def m7_engine_matches_by_queue(patch: Patch) -> None:
    """The engine takes any release of a queue for the oldest grant's."""
    patch.setattr(handover, "_index", lambda queue, *_: 0 if queue.chain else None)


def m7_client_matches_by_queue(patch: Patch) -> None:
    """Any release of the queue opens a gate."""

    def find(self: Any, queue: Any, _holder: Any) -> Any:
        known = self._queues.get(queue, {})
        return (bool(known), next(iter(known.values()), None))

    patch.setattr(SeenReleases, "find", find)


def m8_null_resolves_all(patch: Patch) -> None:
    """The answer "never started" counts like a release, for all older grants."""

    def answered(queue: Any, member: Any, epoch: Any) -> Any:
        return handover.release(queue, member, epoch, queue.base)

    patch.setattr(apply, "answer_never", answered)


def m9_null_opens_the_gate(patch: Patch) -> None:
    """A client starts when the newest before it never did, whoever is older."""

    def scan(memory: Any, queue: Any, detail: Any) -> Any:
        gate = queue.gate
        if gate is not None and gate.after:
            newest = max(gate.after, key=lambda holder: holder.epoch)
            if memory.seen.find(queue.queue, newest) == (True, None):
                queue.gate = Gate(gate.epoch, gate.base, ())
        return queue_steps.scan(memory, queue, detail)

    listed(patch, queue_steps.scan, scan)


def _gates(patch: Patch, keep: Callable[[Any], Any]) -> None:
    add_of = Draft.add_of

    def cut(queue: Any, grant: Any, value: Any) -> Any:
        add = add_of(queue, grant, value)
        return replace(add, after=keep(add.after))

    patch.setattr(Draft, "add_of", staticmethod(cut))


def m10_gated_on_the_oldest(patch: Patch) -> None:
    """A third client waits for the first alone."""
    _gates(patch, lambda after: after[-1:])


def m10c_gated_on_the_newest(patch: Patch) -> None:
    """A third client waits for the second alone."""
    _gates(patch, lambda after: after[:1])


def m26_not_gated(patch: Patch) -> None:
    """A successor waits for nobody."""
    _gates(patch, lambda _after: ())


def m11_lapse_frees_all(patch: Patch) -> None:
    """The lapse of one resolves the grants of all."""

    def lapse(queue: Any, member: Any) -> Any:
        ended = handover.lapse(queue, member)
        if ended is None:
            return None
        return ended._replace(queue=replace(ended.queue, chain=()), granted=None)

    patch.setattr(membership, "lapse", lapse)


def m12_epoch_not_increased(patch: Patch) -> None:
    """Every decision after the first has the same epoch."""
    new_epoch, next_epoch = Draft.new_epoch, Draft.next_epoch

    def stays(self: Any) -> Any:
        new_epoch(self)
        self.state.number = min(self.state.number, 2)
        return self.state.epoch

    def would_stay(self: Any) -> Any:
        epoch = next_epoch(self)
        return epoch._replace(number=min(epoch.number, 2))

    patch.setattr(Draft, "new_epoch", stays)
    patch.setattr(Draft, "next_epoch", would_stay)


def m13_gates_outlive_the_lease(patch: Patch) -> None:
    """What was granted to the old incarnation stands in the new one."""

    def fence(_memory: Any, queue: Any, _detail: Any) -> Any:
        return queue.state

    def start(memory: Any, event: Any) -> Any:
        kept = {name: held for name, held in memory.queues.items() if held.gate is not None}
        state = life_steps.start(memory, event)
        memory.queues.update(kept)
        return state

    listed(patch, queue_steps.fence, fence)
    listed(patch, life_steps.start, start)


def m14_no_grant(patch: Patch) -> None:
    """Nobody is told that what he waits for is resolved."""
    resolved = vars(handover)["_resolved"]

    def silent(*arguments: Any) -> Any:
        return resolved(*arguments)._replace(granted=None)

    patch.setattr(handover, "_resolved", silent)


def m15_release_position_ignored(patch: Patch) -> None:
    """A gate that opens starts at the add's position."""
    find = SeenReleases.find

    def behind(self: Any, queue: Any, holder: Any) -> Any:
        seen, position = find(self, queue, holder)
        return (seen, None if position is None else position._replace(offset=0))

    patch.setattr(SeenReleases, "find", behind)


def m16_no_wait(patch: Patch) -> None:
    """A recovery passes before whoever is alive was heard."""
    marked = vars(barrier)["_marked"]

    def hasty(draft: Any) -> Any:
        found = marked(draft)
        return None if found is None else replace(found, waited=True)

    patch.setattr(barrier, "_marked", hasty)


def m17_acks_not_awaited(patch: Patch) -> None:
    """The barrier passes whoever has acknowledged."""
    patch.setattr(barrier, "_waited_for", lambda *_: [])


def m17b_gates_outlive_the_generation(patch: Patch) -> None:
    """A generation is acknowledged, and the adds of the old one still count."""
    listed(patch, queue_steps.void, queue_steps.stay)


def m19_claims_not_adopted(patch: Patch) -> None:
    """What members claim to work on is not taken over."""
    adopt = vars(barrier)["_adopt_queue"]

    def deaf(*arguments: Any) -> Any:
        return replace(adopt(*arguments), chain=())

    patch.setattr(barrier, "_adopt_queue", deaf)


def m20_lower_claim_wins(patch: Patch) -> None:
    """Of two running claims the one of the lower epoch is adopted."""
    adopt = vars(barrier)["_adopt_queue"]

    def lower(value: Any, claimed: Any, *rest: Any) -> Any:
        running = sorted(each for each in claimed if each[1].running)
        least = min(running, key=lambda each: each[1].epoch, default=None)
        kept = [each for each in claimed if not each[1].running or each is least]
        return adopt(value, kept, *rest)

    patch.setattr(barrier, "_adopt_queue", lower)


def finals_not_claimed(patch: Patch) -> None:
    """An acknowledgement names only what still runs."""
    send = claims.send_claims

    def short(memory: Any) -> None:
        send(memory)
        if memory.actions and hasattr(memory.actions[-1], "claims"):
            running = tuple(c for c in memory.actions[-1].claims if c.state == "running")
            memory.actions[-1] = replace(memory.actions[-1], claims=running)

    for module in (claims, work_steps, life_steps):
        patch.setattr(module, "send_claims", short)


def m23_drop_while_draining_answered(patch: Patch) -> None:
    """A drop that is read again while the work stops is answered."""
    _answer_always(patch, while_working=True)


def m24_drop_after_the_release_answered(patch: Patch) -> None:
    """A drop that is read again after the release is answered."""
    _answer_always(patch, while_working=False)


def _answer_always(patch: Patch, *, while_working: bool) -> None:
    def drop(memory: Any, queue: Any, detail: Any) -> Any:
        if queue.works == while_working and detail.epoch == queue.started:
            answer = SendRelease(memory.incarnation, queue.queue, detail.epoch, None)
            memory.actions.append(answer)
        return queue_steps.drop(memory, queue, detail)

    listed(patch, queue_steps.drop, drop)


def m25_leave_resolves(patch: Patch) -> None:
    """Whoever says that he leaves has stopped."""
    leave = membership.apply_leave

    def trusting(draft: Any, arrival: Any, record: Any) -> None:
        leave(draft, arrival, record)
        for queue, value in list(draft.state.queues.items()):
            ended = handover.lapse(value, record.member)
            if ended is not None:
                draft.set_queue(queue, ended.queue)

    patch.setattr(apply, "apply_leave", trusting)


def m30_drop_not_answered(patch: Patch) -> None:
    """The drop of what was never started is recorded, and not answered."""

    def drop(memory: Any, queue: Any, detail: Any) -> Any:
        state = queue_steps.drop(memory, queue, detail)
        memory.actions = [
            action
            for action in memory.actions
            if not (isinstance(action, SendRelease) and action.position is None)
        ]
        return state

    listed(patch, queue_steps.drop, drop)


class Bug(NamedTuple):
    """A bug, a world that is large enough for it, what it breaks, in how many steps."""

    plant: Callable[[Patch], None]
    world: World
    breaks: str
    steps: int


TWO = World(clients=2, moves=2)
DYING = World(clients=2, moves=1, deaths=1)
THREE = World(clients=3, moves=2, prune=False)
ANEW = World(clients=2, moves=1, deaths=1, comebacks=1, prune=False)
INTACT = World(clients=2, moves=1, losses=1, restart=Restart.INTACT)
OLD = World(clients=2, moves=1, losses=1, restart=Restart.OLD)
LOST = World(clients=2, moves=1, losses=1)

BUGS = (
    Bug(m2_no_epoch_test, TWO, "UNTRACKED", 4),
    Bug(m3_drop_not_recorded, TWO, "UNTRACKED", 4),
    Bug(m4_released_before_it_stopped, TWO, "UNTRACKED", 4),
    Bug(m5_gate_ignored, TWO, "DOUBLE", 3),
    Bug(m6_incarnation_not_tested, ANEW, "UNTRACKED", 3),
    Bug(m7_engine_matches_by_queue, replace(TWO, prune=False), "UNTRACKED", 5),
    Bug(m7_client_matches_by_queue, THREE, "DOUBLE", 7),
    Bug(m8_null_resolves_all, THREE, "UNTRACKED", 5),
    Bug(m9_null_opens_the_gate, replace(THREE, cap=3), "DOUBLE", 6),
    Bug(m10_gated_on_the_oldest, replace(THREE, cap=3), "EPOCH", 5),
    Bug(m10c_gated_on_the_newest, replace(THREE, cap=3), "DOUBLE", 6),
    Bug(m11_lapse_frees_all, DYING, "UNTRACKED", 4),
    Bug(m12_epoch_not_increased, TWO, "DEFECT", 2),
    Bug(m13_gates_outlive_the_lease, ANEW, "UNTRACKED", 6),
    Bug(m14_no_grant, TWO, "STUCK", 4),
    Bug(m15_release_position_ignored, TWO, "DUP", 7),
    Bug(m16_no_wait, LOST, "UNTRACKED", 3),
    Bug(m17_acks_not_awaited, INTACT, "UNTRACKED", 3),
    Bug(m17b_gates_outlive_the_generation, INTACT, "UNTRACKED", 8),
    Bug(m19_claims_not_adopted, INTACT, "UNTRACKED", 5),
    Bug(m20_lower_claim_wins, LOST, "UNTRACKED", 10),
    Bug(finals_not_claimed, OLD, "DUP", 11),
    Bug(m23_drop_while_draining_answered, TWO, "UNTRACKED", 4),
    Bug(m24_drop_after_the_release_answered, TWO, "DUP", 8),
    Bug(m25_leave_resolves, DYING, "UNTRACKED", 3),
    Bug(m26_not_gated, TWO, "DOUBLE", 3),
    Bug(m30_drop_not_answered, TWO, "STUCK", 3),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.plant.__name__)
def test_found(monkeypatch: Patch, bug: Bug) -> None:
    """A planted bug is found, by a shortest run that leads to it again."""
    bug.plant(monkeypatch)
    found = search(bug.world, states_max=STATES_MAX).found
    assert found is not None
    assert (found.violation.partition(":")[0], len(found.run)) == (bug.breaks, bug.steps)
    assert len(list(retell(bug.world, found.run))) == bug.steps
