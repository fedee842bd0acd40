"""Reads a group from a JSON document, for a plan without a cluster."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fairlead.core.allocation import Candidate
from fairlead.core.model import MessageQueue
from fairlead.planning.picture import Picture, owners_of
from strategies.options import written_queue

__all__ = ["BadGroupError", "read_group"]


class BadGroupError(ValueError):
    """A document is no group; the message names the field and what it must be."""


def read_group(document: Mapping[str, Any]) -> Picture:
    """Return the group of a document.

    ``group``, ``strategy``, ``options`` and ``slots`` may be left out. ``members`` is a list of ids
    or of objects with ``client_id``, ``topics`` (all unless given), ``zone``, ``capacity``.
    ``topics`` is an object: topic to an object of broker names and numbers of queues. ``owned`` is
    an object of client ids and their queues, each [topic, broker_name, queue_id]; left out, the
    queues are where the group's strategy puts them.

    Raises:
        BadGroupError: a field is missing or wrong.
        UnknownStrategyError, AllocationError: the strategy of now cannot say who owns what.
    """
    queues = _queues(document.get("topics"))
    everything = frozenset(queue.topic for queue in queues)
    members = _list(document, "members")
    picture = Picture(
        group=str(document.get("group", "")),
        members={each.client_id: each for each in (_member(one, everything) for one in members)},
        queues=queues,
        strategy=str(document.get("strategy", "AVG")),
        options=_object(document, "options"),
        slots=str(document.get("slots", "subscribers")),
    )
    owned = document.get("owned")
    owners = owners_of(picture.allocation()) if owned is None else _owners(owned)
    return replace(picture, owners=owners)


def _queues(topics: object) -> frozenset[MessageQueue]:
    if not isinstance(topics, dict) or not topics:
        raise BadGroupError('topics: it must be an object, such as {"orders": {"main": 8}}')
    found = set()
    for topic, brokers in topics.items():
        if not isinstance(brokers, dict):
            raise BadGroupError(f"topics.{topic}: it must be an object of broker names and numbers")
        for broker_name, number in brokers.items():
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise BadGroupError(f"topics.{topic}.{broker_name}: it must be a number of queues")
            found |= {MessageQueue(topic, broker_name, queue_id) for queue_id in range(number)}
    return frozenset(found)


def _member(value: object, everything: frozenset[str]) -> Candidate:
    match value:
        case str(client_id):
            return Candidate(client_id, everything)
        case {"client_id": str(client_id), **more}:
            topics = more.get("topics")
            if topics is not None and not isinstance(topics, list):
                raise BadGroupError(f"members: the topics of {client_id} must be a list")
            zone, capacity = more.get("zone"), more.get("capacity", 1)
            if not isinstance(capacity, int) or capacity < 1:
                raise BadGroupError(f"members: the capacity of {client_id} must be 1 or more")
            subscribed = everything if topics is None else frozenset(map(str, topics))
            return Candidate(client_id, subscribed, None if zone is None else str(zone), capacity)
        case _:
            raise BadGroupError("members: each must be a client id, or an object with client_id")


def _owners(owned: object) -> dict[MessageQueue, str]:
    if not isinstance(owned, dict):
        raise BadGroupError("owned: it must be an object of client ids and their queues")
    found = {}
    for client_id, queues in owned.items():
        for written in queues if isinstance(queues, list) else [queues]:
            queue = written_queue(written)
            if queue is None:
                text = f"owned.{client_id}: a queue is [topic, broker_name, queue_id]"
                raise BadGroupError(text)
            found[queue] = str(client_id)
    return found


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    value = document.get(name)
    if not isinstance(value, list):
        raise BadGroupError(f"{name}: it must be a list")
    return value


def _object(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise BadGroupError(f"{name}: it must be an object")
    return value
