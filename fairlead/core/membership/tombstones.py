"""How long the engine remembers members that are gone, and how many bytes that takes (rule H13)."""

from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.state import Tombstone

__all__ = ["expire_tombstones", "gone_bytes"]

_GONE_BYTES: Final = 110
"""About how many bytes a tombstone takes, beside its client id."""


def expire_tombstones(draft: Draft) -> None:
    """Forget the members that are gone for so long that their late records count as new ones.

    This happens at multiples of the trigger period, at which every group is stepped, so that the
    cut of batches does not matter. In a full shard it is a decision, since room depends on it.
    """
    state, since_ms = draft.state, _since_ms(draft, draft.moment.clock_ms)
    kept = {key: stone for key, stone in state.tombstones.items() if _is_kept(stone, since_ms)}
    if len(kept) == len(state.tombstones):
        return
    state.tombstones = kept
    if draft.engine.group_bytes:
        draft.because("trigger")


def gone_bytes(draft: Draft, clock_ms: int) -> int:
    """Return about how many bytes the tombstones take that count at a clock.

    The state may still hold older ones: that depends on where a batch was cut.
    """
    since_ms = _since_ms(draft, clock_ms)
    size = draft.gone_bytes.get(since_ms)
    if size is None:
        size = draft.gone_bytes[since_ms] = sum(
            _GONE_BYTES + len(key.client_id)
            for key, stone in draft.state.tombstones.items()
            if _is_kept(stone, since_ms)
        )
    return size


def _since_ms(draft: Draft, clock_ms: int) -> int:
    return clock_ms // draft.rules.trigger_ms * draft.rules.trigger_ms


def _is_kept(stone: Tombstone, since_ms: int) -> bool:
    return stone.until_ms >= since_ms
