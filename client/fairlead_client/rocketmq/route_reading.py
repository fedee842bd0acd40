"""Reads TopicRouteData as any version of RocketMQ writes it.

Versions before 4.9 call a share's flag topicSynFlag, later ones topicSysFlag; the newer name comes
first. A missing number or null is 0, as in Java. Unknown fields are ignored.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from fairlead_client.errors import RouteError
from fairlead_client.rocketmq.route_json import load_route_json
from fairlead_client.routes.topic_route import (
    GLOBAL_SCOPE,
    BrokerData,
    QueueData,
    QueueMapping,
    TopicRoute,
)

_Value = TypeVar("_Value")

_INT: Final = 31
_LONG: Final = 63
_FLAGS: Final = ("topicSysFlag", "topicSynFlag")


def decode_topic_route(text: str | bytes) -> TopicRoute:
    """Return the route of a text, as a name server answers or `mqadmin topicRoute` prints it.

    Numbers as names of an object may lack quotes, as fastjson writes them.

    Raises:
        RouteError: it is no JSON, or does not have the form of a route.

    >>> text = '{"brokerDatas":[{"brokerName":"b","brokerAddrs":{0:"b:10911"}}],"queueDatas":[]}'
    >>> decode_topic_route(text).broker_datas[0].addresses
    {0: 'b:10911'}
    """
    try:
        document = load_route_json(text.decode("utf-8") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError) as error:
        raise RouteError("route", f"no JSON: {error}", "send TopicRouteData") from error
    return read_topic_route(document)


def read_topic_route(document: object, path: str = "") -> TopicRoute:
    """Return the route of a parsed JSON document.

    Args:
        document: the parsed document.
        path: the prefix of field names in errors.

    Raises:
        RouteError: it does not have the form of a route; the error names the field.
    """
    route = _object(document, path or "route")
    path = f"{path}." if path else ""
    lists = {name: route.get(name) for name in ("queueDatas", "brokerDatas")}
    return TopicRoute(
        queue_datas=_entries(lists["queueDatas"], f"{path}queueDatas", _queue_data),
        broker_datas=_entries(lists["brokerDatas"], f"{path}brokerDatas", _broker_data),
        order_topic_conf=_optional_text(route, "orderTopicConf", path),
        filter_servers=_filter_servers(route.get("filterServerTable"), f"{path}filterServerTable"),
        mappings=_mappings(
            route.get("topicQueueMappingByBroker"), f"{path}topicQueueMappingByBroker"
        ),
        absent=frozenset(name for name, value in lists.items() if value is None),
    )


def _queue_data(entry: Mapping[str, Any], path: str) -> QueueData:
    flag = next((name for name in _FLAGS if entry.get(name) is not None), _FLAGS[0])
    return QueueData(
        broker_name=_text(entry, "brokerName", path),
        read_queue_nums=_number(entry, "readQueueNums", path),
        write_queue_nums=_number(entry, "writeQueueNums", path),
        perm=_number(entry, "perm", path),
        sys_flag=_number(entry, flag, path),
    )


def _broker_data(entry: Mapping[str, Any], path: str) -> BrokerData:
    written = entry.get("brokerAddrs")
    addresses = _object({} if written is None else written, f"{path}brokerAddrs")
    return BrokerData(
        broker_name=_text(entry, "brokerName", path),
        cluster=_optional_text(entry, "cluster", path) or "",
        addresses={
            _named_number(name, f"{path}brokerAddrs", _LONG): _text(
                addresses, name, f"{path}brokerAddrs."
            )
            for name in addresses
        },
        addresses_told=written is not None,
    )


def _filter_servers(value: object, path: str) -> dict[str, tuple[str, ...]]:
    by_address = {}
    for address, servers in _object({} if value is None else value, path).items():
        if not isinstance(servers, list) or not all(isinstance(name, str) for name in servers):
            raise _wrong(f"{path}.{address}", "no list of texts")
        by_address[address] = tuple(servers)
    return by_address


def _mappings(value: object, path: str) -> dict[str, QueueMapping] | None:
    if value is None:
        return None
    return {
        broker: _mapping(_object(entry, f"{path}.{broker}"), f"{path}.{broker}.")
        for broker, entry in _object(value, path).items()
    }


def _mapping(entry: Mapping[str, Any], path: str) -> QueueMapping:
    ids = entry.get("currIdMap")
    current_ids = _object({} if ids is None else ids, f"{path}currIdMap")
    dirty = entry.get("dirty", False)
    if not isinstance(dirty, bool | None):
        raise _wrong(f"{path}dirty", "neither true nor false")
    return QueueMapping(
        broker_name=_optional_text(entry, "bname", path),
        topic=_optional_text(entry, "topic", path),
        scope=_optional_text(entry, "scope", path) if "scope" in entry else GLOBAL_SCOPE,
        total_queues=_number(entry, "totalQueues", path),
        epoch=_number(entry, "epoch", path, _LONG),
        dirty=bool(dirty),
        current_ids={
            _named_number(name, f"{path}currIdMap", _INT): _number(
                current_ids, name, f"{path}currIdMap."
            )
            for name in current_ids
        },
    )


def _object(value: object, path: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(path, "no object")
    return value


def _entries(
    value: object, path: str, read: Callable[[Mapping[str, Any], str], _Value]
) -> tuple[_Value, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _wrong(path, "no list")
    return tuple(
        read(_object(entry, f"{path}[{at}]"), f"{path}[{at}].") for at, entry in enumerate(value)
    )


def _text(entry: Mapping[str, Any], name: str, path: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str):
        raise _wrong(path + name, "missing or no text")
    return value


def _optional_text(entry: Mapping[str, Any], name: str, path: str) -> str | None:
    return None if entry.get(name) is None else _text(entry, name, path)


def _number(entry: Mapping[str, Any], name: str, path: str, bits: int = _INT) -> int:
    value = entry.get(name)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not _fits(value, bits):
        raise _wrong(path + name, f"no whole number of {bits + 1} bits")
    return value


def _named_number(name: str, path: str, bits: int) -> int:
    digits = name.removeprefix("-")
    # A longer text is not converted: that takes time in the square of its length.
    if not (
        digits.isascii() and digits.isdigit() and len(digits) < bits and _fits(int(name), bits)
    ):
        raise _wrong(f"{path}.{name}", "named by no whole number")
    return int(name)


def _fits(number: int, bits: int) -> bool:
    return -(1 << bits) <= number < 1 << bits


def _wrong(path: str, problem: str) -> RouteError:
    return RouteError(path, f"it is {problem}", "send TopicRouteData as RocketMQ writes it")
