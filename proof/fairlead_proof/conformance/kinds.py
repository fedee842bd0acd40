"""Every kind of case, and who answers it; what is not asked for is not imported."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

from fairlead.errors import EnvironmentMissingError

__all__ = ["KINDS", "Answerer", "answerer"]

Answerer = Callable[[Mapping[str, Any]], dict[str, Any]]

KINDS: Final[Mapping[str, str]] = {
    "allocate": "allocation_case:answer_allocate",
    "sort_queues": "sorting_cases:answer_sort_queues",
    "sort_clients": "sorting_cases:answer_sort_clients",
    "publish_info": "route_cases:answer_publish_info",
    "subscribe_info": "route_cases:answer_subscribe_info",
    "route_changed": "route_cases:answer_route_changed",
    "select_queue": "selection_cases:answer_select_queue",
    "not_available_ms": "selection_cases:answer_not_available_ms",
    "start_offset": "start_offset_case:answer_start_offset",
}
"""Kind to the function that answers it; those of routes and selections are the client's."""


@cache
def answerer(kind: str) -> Answerer:
    """Return the function that answers the cases of a kind.

    Raises:
        EnvironmentMissingError: it is the client's library, which is not installed.
    """
    module, _, name = KINDS[kind].partition(":")
    try:
        found: Answerer = getattr(import_module(f"fairlead_proof.conformance.{module}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "fairlead_client":
            raise
        raise EnvironmentMissingError(
            f"conform: cases of kind {kind!r} are answered by the client's library.",
            remedy="pip install 'fairlead[demo]', or fairlead-client",
        ) from error
    return found
