"""How long members that are gone are remembered, and what that takes."""

from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.state import Tombstone

__all__ = ["forget_the_gone", "gone_bytes"]

_GONE_BYTES: Final = 110
"""What is remembered of a member that is gone, beside its client id, about."""


def forget_the_gone(draft: Draft) -> None:
    """Forget the members that were gone for so long that their late records are news again.

    At each multiple of the trigger period, at which every group is stepped, so that it does not
    depend on how batches are cut. In a full shard it is a decision: only then is it looked at
    whether there is room.
    """
    state, since_ms = draft.state, _since_ms(draft, draft.moment.clock_ms)
    kept = {key: stone for key, stone in state.tombstones.items() if _is_kept(stone, since_ms)}
    if len(kept) == len(state.tombstones):
        return
    state.tombstones = kept
    if draft.engine.group_bytes:
        draft.because("trigger")


def gone_bytes(draft: Draft, clock_ms: int) -> int:
    """Return about how many bytes are stored of the members that are remembered at a clock.

    Whether those of before are forgotten by now depends on where a batch was cut.
    """
    since_ms = _since_ms(draft, clock_ms)
    found = draft.gone_bytes.get(since_ms)
    if found is None:
        found = draft.gone_bytes[since_ms] = sum(
            _GONE_BYTES + len(key.client_id)
            for key, stone in draft.state.tombstones.items()
            if _is_kept(stone, since_ms)
        )
    return found


def _since_ms(draft: Draft, clock_ms: int) -> int:
    return clock_ms // draft.rules.trigger_ms * draft.rules.trigger_ms


def _is_kept(stone: Tombstone, since_ms: int) -> bool:
    return stone.until_ms >= since_ms
