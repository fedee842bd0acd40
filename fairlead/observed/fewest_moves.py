"""The least number of queues that must change their owner for an even share.

It needs no strategy: it counts queues alone, among those who own any afterwards.
"""

from collections import Counter
from collections.abc import Mapping

from fairlead.core.model import MessageQueue

__all__ = ["fewest_moves"]


def fewest_moves(
    before: Mapping[MessageQueue, str | None], after: Mapping[MessageQueue, str]
) -> int:
    """Return how many queues had to move so that owners' numbers of queues differ by one at most.

    A queue must move if nobody had it, or somebody who owns nothing afterwards. Every other owner
    keeps its queues up to an even share; the remainder goes to those who had most. A group may need
    more moves: subscriptions, zones, pins and weights do not count here.

    Args:
        before: queue -> its former owner; None, or missing: nobody.
        after: queue -> its owner.
    """
    consumers = set(after.values())
    if not consumers:
        return 0
    kept = Counter(owner for queue in after if (owner := before.get(queue)) in consumers)
    share, more = divmod(len(after), len(consumers))
    staying = 0
    for place, (_, owned) in enumerate(kept.most_common()):
        staying += min(owned, share + (place < more))
    return len(after) - staying
