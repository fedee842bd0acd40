"""Answers cases about a topic's route: `publish_info`, `subscribe_info` and `route_changed`.

A route is TopicRouteData as RocketMQ writes it: an object, or a text that holds one.
"""

from collections.abc import Mapping
from typing import Any

from fairlead_client.errors import RouteError
from fairlead_client.rocketmq.route_change import route_changed
from fairlead_client.rocketmq.route_reading import decode_topic_route, read_topic_route
from fairlead_client.routes.publish_info import publish_info
from fairlead_client.routes.subscribe_info import subscribe_info
from fairlead_client.routes.topic_route import TopicRoute

from fairlead_proof.conformance.fields import BadCaseError, CaseError, text_of

__all__ = ["answer_publish_info", "answer_route_changed", "answer_subscribe_info"]


def answer_publish_info(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the queues that producers write to, and whether the topic is an ordered one.

    Raises:
        BadCaseError: a field has not its form.
        CaseError: RocketMQ throws at this route, or it has too many queues.
    """
    topic, route = text_of(case, "topic"), _route(case, "route")
    try:
        info = publish_info(topic, route)
    except RouteError as error:
        raise CaseError(error.code, str(error)) from error
    queues = [list(queue) for queue in info.queues]
    return {"result": {"ordered": info.ordered, "queues": queues}}


def answer_subscribe_info(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the queues that consumers read, sorted.

    Raises:
        BadCaseError: a field has not its form.
        CaseError: RocketMQ throws at this route, or it has too many queues.
    """
    topic, route = text_of(case, "topic"), _route(case, "route")
    try:
        queues = subscribe_info(topic, route)
    except RouteError as error:
        raise CaseError(error.code, str(error)) from error
    return {"result": [list(queue) for queue in queues]}


def answer_route_changed(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether the new route is another one; without an old or a new one it is.

    Raises:
        BadCaseError: a field has not its form.
    """
    routes = [
        None if name in case and case[name] is None else _route(case, name)
        for name in ("old", "new")
    ]
    return {"result": route_changed(*routes)}


def _route(case: Mapping[str, Any], name: str) -> TopicRoute:
    if name not in case:
        raise BadCaseError(f"{name}: it is missing")
    given = case[name]
    try:
        if isinstance(given, str):
            return decode_topic_route(given)
        return read_topic_route(given, name)
    except RouteError as error:
        raise BadCaseError(str(error)) from error
