"""AVG as it is usually rewritten in the client to let one machine alone consume."""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.model import MessageQueue
from strategies.averagely import averagely
from strategies.dealing import Dealing, PerTopic


def _rewritten(
    queues: Sequence[MessageQueue], client_ids: Sequence[str], options: Mapping[str, Any]
) -> Dealing:
    """Let each client work out its share among all, and keep it only if it is that machine."""
    dealing = averagely(queues, client_ids, {})
    return lambda client_id: dealing(client_id) if client_id.startswith(options["only"]) else ()


REWRITTEN = PerTopic("REWRITTEN", _rewritten)
