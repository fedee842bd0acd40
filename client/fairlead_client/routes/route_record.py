"""Reads Fairlead's own `route` record (protocol §3.7) as a topic's route."""

from typing import Any, NamedTuple

from fairlead_client.errors import MalformedRecordError
from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute
from fairlead_client.session.record_object import (
    optional_text_field,
    record_object,
    text_field,
    whole_number_field,
)


class TopicRouteRecord(NamedTuple):
    """A topic and its whole route."""

    topic: str
    route: TopicRoute


def decode_route_record(value: bytes) -> TopicRouteRecord | None:
    """Return a topic and its route from a record of the routes topic; None for an unknown kind.

    Raises:
        MalformedRecordError: a field is missing or has a wrong type.
    """
    record = record_object(value)
    if text_field(record, "kind") != "route":
        return None
    brokers = record.get("brokers")
    if not isinstance(brokers, list):
        raise MalformedRecordError("brokers", "is missing or no list")
    queue_datas, broker_datas = [], []
    for at, broker in enumerate(brokers):
        path = f"brokers[{at}]"
        if not isinstance(broker, dict):
            raise MalformedRecordError(path, "is no object")
        queue_datas.append(_queue_data(broker, f"{path}."))
        broker_datas.append(_broker_data(broker, f"{path}."))
    route = TopicRoute(
        queue_datas=tuple(queue_datas),
        broker_datas=tuple(broker_datas),
        order_topic_conf=optional_text_field(record, "order_topic_conf"),
        identity=text_field(record, "identity"),
    )
    return TopicRouteRecord(text_field(record, "topic"), route)


def _queue_data(broker: dict[str, Any], path: str) -> QueueData:
    return QueueData(
        broker_name=text_field(broker, "broker_name", path),
        read_queue_nums=whole_number_field(broker, "read_queue_nums", path),
        write_queue_nums=whole_number_field(broker, "write_queue_nums", path),
        perm=whole_number_field(broker, "perm", path),
        leaders=_labels(broker, "leaders", path),
        zones=_labels(broker, "zones", path),
    )


def _broker_data(broker: dict[str, Any], path: str) -> BrokerData:
    addresses = broker.get("addresses")
    if not isinstance(addresses, dict):
        raise MalformedRecordError(f"{path}addresses", "is missing or no object")
    for name, address in addresses.items():
        if not (name.isascii() and name.isdigit()) or not isinstance(address, str):
            raise MalformedRecordError(f"{path}addresses.{name}", "is no broker id with a text")
    return BrokerData(
        broker_name=text_field(broker, "broker_name", path),
        cluster=text_field(broker, "cluster", path),
        addresses={int(name): address for name, address in addresses.items()},
    )


def _labels(broker: dict[str, Any], name: str, path: str) -> tuple[str | None, ...] | None:
    labels = broker.get(name)
    if labels is None:
        return None
    if not isinstance(labels, list) or not all(isinstance(label, str | None) for label in labels):
        raise MalformedRecordError(path + name, "is no list of texts and nulls")
    return tuple(labels)
