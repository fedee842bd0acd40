"""Tells the engine what a real RocketMQ has: routes and offsets of the topics that it asks for."""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import orjson
from fairlead_client.model import Queue
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.rocketmq.queue_offsets import QueueOffsets
from fairlead_client.settings.rocketmq_settings import rocketmq_settings

from tests.kit.awaiting import ended
from tests.kit.kafka_log import Log

__all__ = ["route_writer"]

PAUSE_SECONDS: Final = 0.5


class RouteWriter:
    """Answers what the engine asks, and looks at each topic again and again."""

    def __init__(self, namesrv: str, log: Log) -> None:
        self._brokers = Brokers(rocketmq_settings(namesrv, {}))
        self._log = log
        self._written: dict[str, Any] = {}
        self._identities: dict[str, str] = {}
        self._answered = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._stop.set()
        ended(self._thread)
        self._brokers.close()

    def _run(self) -> None:
        next_look = 0.0
        while not self._stop.wait(0.05):
            asked = self._log.bodies("requests")[self._answered :]
            self._answered += len(asked)
            for request in asked:
                if request["what"] == "route":
                    self._written.setdefault(request["topic"], None)
                    self._look(request["topic"], again=True)
                elif request["what"] == "offsets":
                    self._answer(request)
            if time.monotonic() > next_look:
                next_look = time.monotonic() + PAUSE_SECONDS
                for topic in list(self._written):
                    self._look(topic, again=False)

    def _look(self, topic: str, *, again: bool) -> None:
        route = self._brokers.route(topic)
        if route is None:
            return
        addresses = {data.broker_name: data for data in route.broker_datas}
        brokers = [
            {
                "broker_name": share.broker_name,
                "cluster": addresses[share.broker_name].cluster,
                "perm": share.perm,
                "read_queue_nums": share.read_queue_nums,
                "write_queue_nums": share.write_queue_nums,
                "addresses": {
                    str(number): address
                    for number, address in addresses[share.broker_name].addresses.items()
                },
                "leaders": None,
                "zones": None,
            }
            for share in sorted(route.queue_datas, key=lambda share: share.broker_name)
        ]
        if again or self._written[topic] != brokers:
            self._written[topic] = brokers
            body = {"topic": topic, "order_topic_conf": None, "brokers": brokers}
            self._write("routes", topic.encode(), kind="route", **body, identity=self._id(topic))

    def _answer(self, request: Any) -> None:
        offsets = QueueOffsets(self._brokers, request["group"])
        names = request["queues"] or [
            [request["topic"], broker["broker_name"], number]
            for broker in self._written.get(request["topic"]) or ()
            for number in range(broker["read_queue_nums"])
        ]
        queues = []
        for name in names:
            queue = Queue(*name)
            committed = offsets.committed(queue)
            bounds = {"min": offsets.begin(queue), "max": offsets.end(queue), "for_time": None}
            # 4.9 says 0 where there is no commit.
            known = None if committed in (None, 0) else [0, committed]
            queues.append({"queue": name, **bounds, "committed": known})
        topic = request["topic"]
        body = {"group": request["group"], "topic": topic, "queues": queues}
        key = orjson.dumps([topic, request["group"]])
        self._write("offsets", key, kind="offsets", **body, identity=self._id(topic))

    def _id(self, topic: str) -> str:
        return self._identities.setdefault(topic, uuid.uuid4().hex)

    def _write(self, suffix: str, key: bytes, **body: Any) -> None:
        self._log.append(suffix, orjson.dumps({"v": 1, **body}), key)


@contextmanager
def route_writer(namesrv: str, log: Log) -> Iterator[None]:
    """Have it until the block ends; ``log`` is for it alone."""
    writer = RouteWriter(namesrv, log)
    try:
        yield
    finally:
        writer.close()
