"""The simulator can fail: bugs that are planted in the engine and the client are found by it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fairlead_client.session import claims, life_steps, queue_steps, session, transitions
from fairlead_client.session.events import LeaseEnded
from fairlead_client.session.states import SessionState

from fairlead.core import barrier, handover, membership
from fairlead.core.draft import Draft
from fairlead.sim.schedule import run_schedule

SCHEDULES_MAX = 60

TWO_OWNERS = {"DOUBLE", "GRANT", "GONE", "EPOCH", "DUP"}
"""What two owners may be found by first: which of them it is hangs on the seed."""

Plant = Callable[[pytest.MonkeyPatch], None]


def listed(patch: pytest.MonkeyPatch, old: Any, new: Any) -> None:
    """Put another handler in the client's table wherever the old one stands."""
    new.__name__ = old.__name__
    for key, (handler, leads_to) in list(transitions.TRANSITIONS.items()):
        if handler is old:
            patch.setitem(transitions.TRANSITIONS, key, (new, leads_to))


def gates_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A successor is not told who worked before."""
    add_of = Draft.add_of

    def forgetful(queue: Any, grant: Any, value: Any) -> Any:
        return replace(add_of(queue, grant, value), after=())

    patch.setattr(Draft, "add_of", staticmethod(forgetful))


def lease_ignored(patch: pytest.MonkeyPatch) -> None:
    """A client believes in its lease for five times as long."""
    extend = life_steps.extend_lease

    def forever(memory: Any, event: Any) -> Any:
        state = extend(memory, event)
        memory.lease_until_ms += 4 * memory.settings.lease_ms
        return state

    listed(patch, extend, forever)


def lapse_early(patch: pytest.MonkeyPatch) -> None:
    """The engine takes a member for dead after a third of its lease."""

    def hasty(draft: Any, key: Any) -> bool:
        silent_ms = draft.moment.clock_ms - draft.state.liveness[key].seen_ms
        return bool(silent_ms > draft.rules.lease_ms // 3)

    patch.setattr(membership, "_lapsed", hasty)


def epochs_reused(patch: pytest.MonkeyPatch) -> None:
    """Each decision has the epoch of the one before."""
    patch.setattr(Draft, "new_epoch", lambda self: self.state.epoch)
    patch.setattr(Draft, "next_epoch", lambda self: self.state.epoch)


def release_before_stop(patch: pytest.MonkeyPatch) -> None:
    """A client releases as soon as it reads the drop, and goes on working."""
    drain = queue_steps._drain  # noqa: SLF001 - where the bug is planted

    def at_once(memory: Any, queue: Any) -> Any:
        state = drain(memory, queue)
        memory.release(queue, queue.started, queue.position)
        return state

    patch.setattr(queue_steps, "_drain", at_once)


def release_offset_ignored(patch: pytest.MonkeyPatch) -> None:
    """A successor starts where its add says, whatever the release says."""
    start = queue_steps._start  # noqa: SLF001 - where the bug is planted

    def at_base(memory: Any, queue: Any, epoch: Any, _position: Any) -> Any:
        return start(memory, queue, epoch, queue.gate.base)

    patch.setattr(queue_steps, "_start", at_base)


def drop_repeated_answered(patch: pytest.MonkeyPatch) -> None:
    """A drop that is repeated while the work stops is answered: never started."""
    drop = queue_steps.drop

    def answered(memory: Any, queue: Any, detail: Any) -> Any:
        if detail.epoch == queue.started and queue.works:
            memory.release(queue, detail.epoch, None)
        return drop(memory, queue, detail)

    listed(patch, drop, answered)


def never_resolves_all(patch: pytest.MonkeyPatch) -> None:
    """That a member never started is taken for a release: it resolves all older grants too."""

    def all_older(queue: Any, member: Any, epoch: Any) -> Any:
        return handover.release(queue, member, epoch, queue.base)

    patch.setattr("fairlead.core.apply.answer_never", all_older)


def acks_not_awaited(patch: pytest.MonkeyPatch) -> None:
    """A new driver grants without waiting for what its members work on."""
    patch.setattr(barrier, "_waited_for", lambda *_: [])


def claims_not_sent(patch: pytest.MonkeyPatch) -> None:
    """A client acknowledges a generation without saying what it works on."""
    send = claims.send_claims

    def empty(memory: Any) -> None:
        send(memory)
        memory.actions[-1] = replace(memory.actions[-1], claims=())

    patch.setattr(claims, "send_claims", empty)


def gates_survive_lease(patch: pytest.MonkeyPatch) -> None:
    """A new incarnation takes what was meant for the old one."""

    def any_incarnation(self: Any, event: Any, now_ms: int) -> Any:
        record = getattr(event, "record", None)
        if record is not None and hasattr(record, "incarnation") and hasattr(record, "add"):
            event = replace(event, record=replace(record, incarnation=self._memory.incarnation))
        return handle(self, event, now_ms)

    handle = session.Session.handle
    patch.setattr(session.Session, "handle", any_incarnation)


def late_answer_revives(patch: pytest.MonkeyPatch) -> None:
    """The end of the lease is noticed after an answer has moved it, not before."""

    def handle(self: Any, event: Any, now_ms: int) -> Any:
        memory = self._memory
        memory.now_ms = max(memory.now_ms, now_ms)
        self._take(event)
        if memory.state in session.LEASED and memory.now_ms >= memory.lease_until_ms:
            self._take(LeaseEnded("late"))
        self._settle()
        actions, memory.actions = memory.actions, []
        return actions

    patch.setattr(session.Session, "handle", handle)
    extend = life_steps.extend_lease

    def from_now(memory: Any, event: Any) -> Any:
        state = extend(memory, event)
        if state is SessionState.RUNNING:
            memory.lease_until_ms = memory.now_ms + memory.settings.lease_ms
        return state

    listed(patch, extend, from_now)


def never_grants_again(patch: pytest.MonkeyPatch) -> None:
    """A member whose record was lost is never told again, and no gate is shortened."""
    patch.setattr("fairlead.core.step.heal_members", lambda *_: None)
    patch.setattr("fairlead.core.step.note_digests", lambda *_: [])
    patch.setattr("fairlead.core.step.grant_again", lambda *_: None)


def start_at_the_end(patch: pytest.MonkeyPatch) -> None:
    """A queue starts a little beyond what was processed."""
    aim = handover.aim

    def beyond(value: Any, *rest: Any) -> Any:
        if value.base is not None and value.why == "progress":
            value = replace(value, base=value.base._replace(offset=value.base.offset + 5))
        return aim(value, *rest)

    patch.setattr("fairlead.core.decide.aim", beyond)


@pytest.mark.parametrize(
    "plant, rules",
    [
        (gates_forgotten, TWO_OWNERS),
        (lease_ignored, TWO_OWNERS),
        (lapse_early, TWO_OWNERS),
        (epochs_reused, {"EPOCH", "DEFECT", "STEP"}),
        (release_before_stop, TWO_OWNERS),
        (release_offset_ignored, {"DUP"}),
        (drop_repeated_answered, TWO_OWNERS),
        (never_resolves_all, TWO_OWNERS),
        (acks_not_awaited, TWO_OWNERS),
        (claims_not_sent, TWO_OWNERS),
        (gates_survive_lease, TWO_OWNERS),
        (late_answer_revives, TWO_OWNERS),
        (never_grants_again, {"STUCK"}),
        (start_at_the_end, {"HOLE"}),
    ],
)
def test_a_planted_bug_is_found(
    plant: Plant, rules: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few schedules are enough to find it."""
    plant(monkeypatch)
    for seed in range(SCHEDULES_MAX):
        breach = run_schedule(seed).breach
        if breach is not None:
            assert breach[0] in rules, breach
            return
    pytest.fail(f"not found in {SCHEDULES_MAX} schedules")
