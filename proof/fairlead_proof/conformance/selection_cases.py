"""Answers cases of a producer's choice: `select_queue` and `not_available_ms`."""

from collections.abc import Mapping
from typing import Any, cast

from fairlead_client.model import Queue
from fairlead_client.produce.latency_table import not_available_ms
from fairlead_client.produce.queue_selection import VERSIONS, NoQueueError, Version, select_queue

from fairlead_proof.conformance.fields import (
    INT_BITS,
    BadCaseError,
    CaseError,
    flag_of,
    list_of,
    number_of,
    queues_of,
    word_of,
)

__all__ = ["answer_not_available_ms", "answer_select_queue"]


def answer_select_queue(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the queue of each call and the index as the call leaves it: what the thread keeps.

    Raises:
        BadCaseError: a field has not its form.
        CaseError: there are no queues, by which RocketMQ divides.
    """
    version = _version(case)
    queues = [Queue(*queue) for queue in queues_of(case)]
    index = number_of(case, "start_index", INT_BITS)
    result = []
    for at, last_broker in enumerate(list_of(case, "last_brokers")):
        if not isinstance(last_broker, str | None):
            raise BadCaseError(f"last_brokers[{at}]: it must be a text or null")
        try:
            queue, index = select_queue(version, queues, index, last_broker)
        except NoQueueError as error:
            raise CaseError("queues_empty", str(error)) from error
        result.append([list(queue), index])
    return {"result": result}


def answer_not_available_ms(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return for how long a broker is avoided after a sending.

    Raises:
        BadCaseError: a field has not its form.
    """
    version, latency_ms = _version(case), number_of(case, "latency_ms")
    return {"result": not_available_ms(version, latency_ms, isolation=flag_of(case, "isolation"))}


def _version(case: Mapping[str, Any]) -> Version:
    return cast("Version", word_of(case, "version", VERSIONS))
