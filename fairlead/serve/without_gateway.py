"""A `fairlead serve` without the gateway: what it answers to whoever takes it for one."""

from typing import Any, Final

from fairlead.http.problems import Problem

__all__ = ["GATEWAY_PATHS", "WithoutGateway"]

GATEWAY_PATHS: Final = "/v1/"
"""The start of the paths that only a gateway has."""

_NO_GATEWAY: Final = Problem(
    404,
    "no_gateway",
    "This process is no gateway: gateway.enabled is false.",
    "Start fairlead serve with FAIRLEAD__GATEWAY__ENABLED=true, or ask one that runs so.",
)


class WithoutGateway:
    """Refuses the paths of the gateway, and passes on everything else.

    Args:
        application: answers the rest.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        asks = scope["type"] == "http" and scope["path"].startswith(GATEWAY_PATHS)
        await (_NO_GATEWAY.answer() if asks else self._application)(scope, receive, send)
