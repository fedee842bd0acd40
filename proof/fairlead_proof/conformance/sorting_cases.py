"""Answers cases of kinds `sort_queues` and `sort_clients`."""

from collections.abc import Mapping
from typing import Any

from fairlead.core.ordering import java_order, queue_order
from fairlead_proof.conformance.fields import client_ids_of, queues_of, written

__all__ = ["answer_sort_clients", "answer_sort_queues"]


def answer_sort_queues(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the queues in the order of MessageQueue#compareTo.

    Raises:
        BadCaseError: a field has not its form.
    """
    return {"result": written(tuple(sorted(queues_of(case), key=queue_order)))}


def answer_sort_clients(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ids in the order of String#compareTo.

    Raises:
        BadCaseError: a field has not its form.
    """
    return {"result": sorted(client_ids_of(case), key=java_order)}
