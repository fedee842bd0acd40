"""Asks the bridges for a missing route, or for a group's own topics."""

from threading import Lock
from typing import Final, Literal

import orjson
from kafka import KafkaProducer
from kafka.errors import KafkaError, TopicAuthorizationFailedError

from fairlead_client.errors import NotAllowedError
from fairlead_client.session.clock import now_ms
from fairlead_client.transport.connection import (
    Cluster,
    close_in_background,
    connect,
    producer_options,
)
from fairlead_client.transport.missing_right import missing_right
from fairlead_client.transport.topics import Topics

ASK_AGAIN_MS: Final = 1_000
"""The least time between two requests for one topic."""


class Requester:
    """Asks the bridges in the name of a group; the first request connects.

    Attributes:
        lack: the missing right that prevents requests; None if none is known.
    """

    def __init__(self, settings: Cluster, client_id: str, group: str, who: str = "clients") -> None:
        self._settings = settings
        self._client_id = client_id
        self._group = group
        self._who = who
        self.lack: NotAllowedError | None = None
        self._producer: KafkaProducer | None = None
        self._asked_ms: dict[str, int] = {}
        self._lock = Lock()
        self._closed = False

    def ask(self, topic: str, what: Literal["route", "retry"] = "route") -> None:
        """Ask for a topic, unless a request was just written.

        Args:
            topic: the topic.
            what: `route`: publish the topic's route; `retry`: create the group's own retry topic
                and its dead-letter topic if they do not exist.

        Raises:
            KafkaError: no connection.
            NotAllowedError: this user may not write requests.
        """
        name = Topics(self._settings.prefix).requests
        with self._lock:
            now = now_ms()
            if self._closed or now < self._asked_ms.get(topic, now - ASK_AGAIN_MS) + ASK_AGAIN_MS:
                return
            self._asked_ms = {
                asked: at for asked, at in self._asked_ms.items() if now < at + ASK_AGAIN_MS
            }
            self._asked_ms[topic] = now
            try:
                if self._producer is None:
                    options = producer_options(self._settings, self._client_id)
                    self._producer = connect(KafkaProducer, options, [name])
                sent = self._producer.send(
                    name, self._request(topic, what), key=self._group.encode(), partition=0
                )
                if sent.failed():  # kafka-python does not raise an immediate refusal.
                    raise sent.exception
            except TopicAuthorizationFailedError as error:
                self._refused(error)
                raise self._missing(error) from error
            except KafkaError:
                del self._asked_ms[topic]  # Nothing was written: the caller may retry at once.
                raise
            sent.add_callback(self._accepted)
            sent.add_errback(self._refused)

    def _accepted(self, _metadata: object) -> None:
        self.lack = None

    def _refused(self, error: BaseException) -> None:
        if isinstance(error, TopicAuthorizationFailedError):
            self.lack = self._missing(error)

    def _missing(self, error: BaseException) -> NotAllowedError:
        topic = f"topic {Topics(self._settings.prefix).requests}"
        return missing_right(self._settings, "Write", topic, error, who=self._who)

    def close(self) -> None:
        """Close the connection in the background, so that unfinished requests may succeed."""
        with self._lock:
            self._closed = True
            producer, self._producer = self._producer, None
        close_in_background(producer, self._settings.lease_ms, "fairlead-requester-close")

    def _request(self, topic: str, what: str) -> bytes:
        return orjson.dumps(
            {
                "v": 1,
                "kind": "request",
                "group": self._group,
                "what": what,
                "topic": topic,
                "queues": None,
                "consume_timestamp_ms": None,
            }
        )
