"""The least number of queues that must change their owner for an even share.

Known without asking a strategy: by numbers of queues alone, among those who own any afterwards.
"""

from collections import Counter
from collections.abc import Mapping

from fairlead.core.model import MessageQueue

__all__ = ["fewest_moves"]


def fewest_moves(
    before: Mapping[MessageQueue, str | None], after: Mapping[MessageQueue, str]
) -> int:
    """Return how many queues had to move so that all who own any have as many, or one more.

    What nobody had, or somebody who owns nothing afterwards, must move. Of the others each keeps
    what he had, up to an even share; the remainder goes to who had most. What a topic's
    subscriptions, zones, pins or weights ask for is left aside, so a group may need more.

    Args:
        before: queue -> who owned it; None, or missing: nobody.
        after: queue -> who owns it.
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
