"""The liveness of a group as packed numbers: a heartbeat costs a few bytes, no JSON.

Payload: the clock of the last recomputation, then five numbers for each member in the order of
the sorted member keys, all of 64 bits, little-endian. -1 stands for None.
"""

from dataclasses import replace
from struct import Struct, error, pack

from fairlead.codec.envelope import seal, unseal
from fairlead.codec.errors import CodecError, UnwritableError
from fairlead.core.state import GroupState, Liveness

__all__ = ["decode_liveness", "encode_liveness"]

_FIRST = Struct("<q")
_MEMBER = Struct("<5q")
_NONE = -1


def encode_liveness(state: GroupState) -> bytes:
    """Return the liveness of a state; UnwritableError if it does not match the members."""
    what = f"the liveness of group {state.group}"
    if state.liveness.keys() != state.members.keys():
        raise UnwritableError(what, "it names other members than the group has")
    numbers = [state.recomputed_ms]
    for key in sorted(state.members):
        alive = state.liveness[key]
        since = alive.disagrees_since_ms
        numbers += (alive.seen_ms, alive.sequence)
        numbers += (_NONE if since is None else since, alive.heals, alive.healed_ms)
    try:
        return seal(pack(f"<{len(numbers)}q", *numbers))
    except error as problem:
        raise UnwritableError(what, f"a number does not fit 64 bits ({problem})") from problem


def decode_liveness(liveness: bytes, state: GroupState) -> GroupState:
    """Return the state of a body with its liveness; CodecError if they do not fit each other."""
    what = f"the liveness of group {state.group}"
    payload = unseal(liveness, what)
    if len(payload) != _FIRST.size + _MEMBER.size * len(state.members):
        raise CodecError(what, f"it is not that of {len(state.members)} members")
    (recomputed_ms,) = _FIRST.unpack_from(payload)
    rows = _MEMBER.iter_unpack(payload[_FIRST.size :])
    return replace(
        state,
        recomputed_ms=recomputed_ms,
        liveness={
            key: Liveness(seen_ms, sequence, None if since == _NONE else since, heals, healed_ms)
            for key, (seen_ms, sequence, since, heals, healed_ms) in zip(
                sorted(state.members), rows, strict=True
            )
        },
    )
