"""What must hold of a group after every step; a violation is a bug, never a matter of input."""

from fairlead.core.handover.chain import Phase, phase_of
from fairlead.core.model import MessageQueue
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState, QueueState

__all__ = ["InvariantBrokenError", "check"]


class InvariantBrokenError(AssertionError):
    """No sequence of records may lead to this state of a group."""


def check(state: GroupState, engine: EngineRules) -> None:
    """Raise unless every invariant holds.

    Raises:
        InvariantBrokenError: names the invariant and the queue or member that breaks it.
    """
    if set(state.members) != set(state.liveness):
        _broken(state, "every member has exactly one liveness", "members")
    if state.generation > engine.generation:
        _broken(state, "no group is ahead of its driver", str(state.generation))
    for queue, value in state.queues.items():
        _check_queue(state, queue, value, engine.chain_cap)
    _check_footing(state)
    for queue, client_id in state.targets.items():
        if not client_id:
            _broken(state, "a target names a client", str(queue))


def _check_footing(state: GroupState) -> None:
    standing = state.standing
    footing = None if standing is None else standing.footing
    if standing is None or footing is None or state.barrier is not None:
        return
    for queue, value in state.queues.items():
        if standing.is_theirs and value.grants:
            _broken(state, f"a group that is {footing} has no grants", str(queue))
        if footing is Footing.CONFIRMING and len(value.chain) > 1:
            _broken(state, "a group that is confirming moves nothing", str(queue))
    if standing.is_theirs and state.targets:
        _broken(state, f"a group that is {footing} has no targets", "targets")
    if standing.formers and footing not in (Footing.FREEZING, Footing.CONFIRMING):
        _broken(state, "only a freeze has answers", "formers")
    if footing is Footing.CONFIRMING and state.barrier is None:
        granted = {queue for queue, value in state.queues.items() if value.chain}
        for key, held in standing.formers.items():
            others = {
                entry.queue
                for entry in held.queues
                if entry.queue in granted and state.queues[entry.queue].chain[-1].member != key
            }
            if others:
                _broken(state, "who held a queue when it froze has its grant", str(min(others)))


def _check_queue(state: GroupState, queue: MessageQueue, value: QueueState, chain_cap: int) -> None:
    if len(value.chain) > chain_cap:
        _broken(state, f"no chain is longer than {chain_cap}", str(queue))
    for older, newer in zip(value.chain, value.chain[1:], strict=False):
        if older.epoch >= newer.epoch:
            _broken(state, "epochs of a chain increase", str(queue))
        if not older.dropped:
            _broken(state, "every grant but the newest is dropped", str(queue))
    _check_overtaken(state, queue, value)
    for grant in value.chain:
        if grant.member not in state.members:
            _broken(state, "every grant's member may still be working", str(queue))
        if grant.epoch > state.epoch and state.barrier is None:
            _broken(state, "no grant is newer than the newest decision", str(queue))
    wanted = phase_of(value) in (Phase.OWNED, Phase.HANDOVER)
    # A topic that is created again in a barrier keeps its owners until the barrier's end.
    if wanted and value.base is None and state.barrier is None:
        _broken(state, "a wanted grant has a known start", str(queue))


def _check_overtaken(state: GroupState, queue: MessageQueue, value: QueueState) -> None:
    if value.overtaken:
        listed = {(grant.member, grant.epoch) for grant in value.chain}
        for grant in value.overtaken:
            if not grant.dropped:
                _broken(state, "every overtaken grant is dropped", str(queue))
            if (grant.member, grant.epoch) in listed:
                _broken(state, "no grant is both waited for and overtaken", str(queue))
            if grant.member not in state.members:
                _broken(state, "every grant's member may still be working", str(queue))
    if value.asked is not None and value.base is not None and state.barrier is None:
        _broken(state, "a reset is kept beside no known start", str(queue))


def _broken(state: GroupState, rule: str, where: str) -> None:
    message = f"group {state.group}: {rule}; broken by {where}"
    raise InvariantBrokenError(message)
