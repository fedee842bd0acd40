"""What `fairlead serve` answers for the part that it runs without: the groups, or the gateway."""

from typing import Any, Final

from fairlead.http.problems import Problem
from fairlead.kafka.topic_follower import Following

__all__ = [
    "CONSOLE_PATHS",
    "GATEWAY_PATHS",
    "NOTHING_TO_FOLLOW",
    "RefusedPaths",
    "gateway_alone",
    "without_gateway",
]

NOTHING_TO_FOLLOW: Final = Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)
"""A gateway alone has read all that it has to read."""
GATEWAY_PATHS: Final = "/v1/"
"""The start of the paths that only a gateway has."""
CONSOLE_PATHS: Final = "/api/v1/"
"""The start of the paths that only a process has that follows the groups."""

_NOT_OBSERVED: Final = Problem(
    503,
    "not_observed",
    "This process is a gateway alone: it does not follow the groups.",
    "Ask a fairlead serve with serve.observe = true.",
)
_NO_GATEWAY: Final = Problem(
    404,
    "no_gateway",
    "This process is no gateway: gateway.enabled is false.",
    "Start fairlead serve with FAIRLEAD__GATEWAY__ENABLED=true, or ask one that runs so.",
)


class RefusedPaths:
    """Refuses the paths with one start, and passes on everything else.

    Args:
        application: answers the rest.
        start: how the refused paths begin.
        problem: the refusal.
    """

    def __init__(self, application: Any, start: str, problem: Problem) -> None:
        self._application, self._start, self._problem = application, start, problem

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        asks = scope["type"] == "http" and scope["path"].startswith(self._start)
        await (self._problem.answer() if asks else self._application)(scope, receive, send)


def gateway_alone(application: Any) -> RefusedPaths:
    """Refuse questions about groups: nobody follows them here."""
    return RefusedPaths(application, CONSOLE_PATHS, _NOT_OBSERVED)


def without_gateway(application: Any) -> RefusedPaths:
    """Refuse what only a gateway answers."""
    return RefusedPaths(application, GATEWAY_PATHS, _NO_GATEWAY)
