"""Streams of decisions while nothing is decided in their group."""

import contextlib
import http.client
import json
import time
from collections.abc import Sequence
from typing import Any

from fairlead.access.guard import guarded
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import start_server
from fairlead.kafka.topic_follower import Following
from fairlead.serve.api import application
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import load_settings
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.kit.awaiting import await_seen
from tests.kit.decision_bodies import encoded_decision
from tests.kit.memory_topics import NAMES, PARTITIONS

STREAMS = 10
REST_S = 1.0


class CountedView(SharedView):
    """Counts how often somebody looks for decisions."""

    looks = 0

    def decisions(
        self, name: str, since_ms: int = 0, after: int = -1
    ) -> list[dict[str, Any]] | None:
        """Count it, and look."""
        self.looks += 1
        return super().decisions(name, since_ms, after)


def _rows(*names: str, offset: int) -> Sequence[RawRecord]:
    made = json.loads(encoded_decision(offset + 1, []))
    return [
        RawRecord(
            *(NAMES.name("decisions"), 0, offset + number, time.time_ns() // 1_000_000),
            append_time_is_log=True,
            key=name.encode(),
            value=json.dumps({**made, "group": name}).encode(),
        )
        for number, name in enumerate(names)
    ]


def _following() -> Following:
    return Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)


def test_a_stream_looks_when_its_group_decides() -> None:
    """Ten streams look at nothing while time passes and others decide; one decision wakes all."""
    settings = load_settings(overrides={"serve.port": "0"})
    held = CountedView(settings.serve, 1_000, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    held.apply(_rows("orders", "billing", offset=0))
    metrics = ServeMetrics(_following)
    streams = EventStreams(settings.http.connections, metrics.streams)
    view = application(held, _following, metrics, streams, settings)
    server = start_server(guarded(view, settings), settings.serve, "serve", settings.http)
    with contextlib.ExitStack() as ending:
        ending.callback(server.stop)
        ending.callback(streams.close)
        open_streams = []
        for _ in range(STREAMS):
            stream = http.client.HTTPConnection(server.url.partition("//")[2], timeout=20)
            ending.callback(stream.close)
            stream.request("GET", "/api/v1/groups/orders/events")
            open_streams.append(stream.getresponse())
            assert open_streams[-1].readline() == b": connected\n"
        await_seen(lambda: held.looks, lambda looks: looks == STREAMS, what="the first looks")
        held.apply(_rows("billing", offset=2))
        time.sleep(REST_S)
        assert held.looks == STREAMS
        held.apply(_rows("orders", offset=3))
        for each in open_streams:
            assert [each.readline() for _ in range(3)][1:] == [b"id: 3\n", b"event: decision\n"]
        assert held.looks == 2 * STREAMS
