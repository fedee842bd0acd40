"""Every kind of case, and who answers it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fairlead_proof.conformance.allocation_case import answer_allocate
from fairlead_proof.conformance.route_cases import (
    answer_publish_info,
    answer_route_changed,
    answer_subscribe_info,
)
from fairlead_proof.conformance.selection_cases import answer_not_available_ms, answer_select_queue
from fairlead_proof.conformance.sorting_cases import answer_sort_clients, answer_sort_queues
from fairlead_proof.conformance.start_offset_case import answer_start_offset

__all__ = ["KINDS"]

KINDS: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "allocate": answer_allocate,
    "sort_queues": answer_sort_queues,
    "sort_clients": answer_sort_clients,
    "publish_info": answer_publish_info,
    "subscribe_info": answer_subscribe_info,
    "route_changed": answer_route_changed,
    "select_queue": answer_select_queue,
    "not_available_ms": answer_not_available_ms,
    "start_offset": answer_start_offset,
}
"""Kind to the function that answers it; those of routes and selections are the client's."""
