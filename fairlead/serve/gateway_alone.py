"""A `fairlead serve` that is a gateway and follows no groups: what it answers about them."""

from typing import Any, Final

from fairlead.http.problems import Problem
from fairlead.kafka.topic_follower import Following

__all__ = ["NOTHING_TO_FOLLOW", "GatewayAlone"]

NOTHING_TO_FOLLOW: Final = Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)
"""It has read all that it has to read."""

_GROUPS: Final = "/api/v1/groups"
_NOT_OBSERVED: Final = Problem(
    503,
    "not_observed",
    "This process is a gateway alone: it does not follow the groups.",
    "Ask a fairlead serve with serve.observe = true.",
)


class GatewayAlone:
    """Refuses questions about groups, and passes on everything else.

    Args:
        application: answers the rest.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        asks = scope["type"] == "http" and scope["path"].startswith(_GROUPS)
        answer = _NOT_OBSERVED.answer() if asks else self._application
        await answer(scope, receive, send)
