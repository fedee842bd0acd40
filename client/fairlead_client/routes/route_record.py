"""Reads Fairlead's own `route` record (protocol §3.7) as a topic's route."""

from typing import Any, NamedTuple

from fairlead_client.errors import MalformedRecordError
from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute
from fairlead_client.session.record_object import record_object


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
    if _text(record, "kind", "") != "route":
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
    conf = record.get("order_topic_conf")
    route = TopicRoute(
        queue_datas=tuple(queue_datas),
        broker_datas=tuple(broker_datas),
        order_topic_conf=None if conf is None else _text(record, "order_topic_conf", ""),
        identity=_text(record, "identity", ""),
    )
    return TopicRouteRecord(_text(record, "topic", ""), route)


def _queue_data(broker: dict[str, Any], path: str) -> QueueData:
    return QueueData(
        broker_name=_text(broker, "broker_name", path),
        read_queue_nums=_number(broker, "read_queue_nums", path),
        write_queue_nums=_number(broker, "write_queue_nums", path),
        perm=_number(broker, "perm", path),
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
        broker_name=_text(broker, "broker_name", path),
        cluster=_text(broker, "cluster", path),
        addresses={int(name): address for name, address in addresses.items()},
    )


def _labels(broker: dict[str, Any], name: str, path: str) -> tuple[str | None, ...] | None:
    labels = broker.get(name)
    if labels is None:
        return None
    if not isinstance(labels, list) or not all(isinstance(label, str | None) for label in labels):
        raise MalformedRecordError(path + name, "is no list of texts and nulls")
    return tuple(labels)


def _text(entry: dict[str, Any], name: str, path: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str):
        raise MalformedRecordError(path + name, "is missing or no text")
    return value


def _number(entry: dict[str, Any], name: str, path: str) -> int:
    value = entry.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise MalformedRecordError(path + name, "is missing or no whole number from 0 on")
    return value
