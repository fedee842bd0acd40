"""`fairlead serve` without a broker: a scene tells its view its records, and goes on.

Questions that are answered from the topics themselves are answered from those of the scene.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from fairlead.access.guard import guarded
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import start_server
from fairlead.kafka.topic_follower import Following
from fairlead.serve.api import application
from fairlead.serve.refused_paths import CONSOLE_PATHS
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import Settings, load_settings
from strategies.registry import STRATEGIES
from tests.browser.native_scene import native_view
from tests.browser.scene import TICK_MS, Scene
from tests.kit.awaiting import ended
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.observed_world import Reader

__all__ = ["Told", "told"]

_READERS: Final = ("fairlead.console.topic_questions", "fairlead.console.plan_operations")
"""The modules that read topics for an answer."""
_PULSE_S: Final = 1.0
_TELLS: Final = 4
"""Clients tell their progress at each pulse of this number."""


class _SceneSource(MemorySource):
    """The scene's topics, in place of those of a cluster."""

    reader: Final = contextlib.nullcontext()


class Told:
    """A scene that goes on, and the view of it; several servers may answer from it.

    Attributes:
        scene: what is shown. Change it by `change` alone: another thread lets time pass in it.
    """

    def __init__(self) -> None:
        self.scene = Scene()
        self._view = SharedView(_settings().serve, TICK_MS, STRATEGIES)
        self._view.begin(NAMES, PARTITIONS)
        self._reader = Reader(self.scene.world)
        self._view.apply(self._reader.rows())
        self._view.follow()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def change(self, act: Callable[[Scene], object]) -> None:
        """Let something happen in the scene, and tell the view of all that follows from it."""
        with self._lock:
            self.scene.catch_up()
            act(self.scene)
            self.scene.settle()
            self._view.apply(self._reader.rows())

    def decisions(self, group: str) -> list[int]:
        """Return the offsets of a group's decisions, oldest first."""
        return [each["at"][2] for each in self._view.decisions(group) or ()]

    def stop(self) -> None:
        """Let the scene stand still."""
        self._stopped.set()
        ended(self._thread)

    @contextlib.contextmanager
    def serving(self, **overrides: Any) -> Iterator[str]:
        """Answer over HTTP while the context is open; yield the address.

        Args:
            overrides: settings, such as ``access__file``.
        """
        settings = _settings(**overrides)
        metrics = ServeMetrics(_following)
        streams = EventStreams(settings.http.connections, metrics.streams)
        view = application(self._view, _following, metrics, streams, settings, native=native_view())
        refusals = {"told_file": metrics.file_refused, "told_refusal": metrics.caller_refused}
        guard = guarded(view, settings, **refusals)
        bodies = [CONSOLE_PATHS]
        server = start_server(guard, settings.serve, "serve", settings.http, bodies_under=bodies)
        try:
            yield server.url
        finally:
            streams.close()
            server.stop()

    def _run(self) -> None:
        number = 0
        while not self._stopped.wait(_PULSE_S):
            number += 1
            with self._lock:
                self.scene.catch_up(tells=number % _TELLS == 0)
                self._view.apply(self._reader.rows())


@contextlib.contextmanager
def told() -> Iterator[Told]:
    """Let a scene go on while the context is open."""
    shown = Told()
    with pytest.MonkeyPatch.context() as patch:
        for reader in _READERS:
            patch.setattr(f"{reader}.KafkaSource", lambda _: _SceneSource(shown.scene.topics))
        try:
            yield shown
        finally:
            shown.stop()


def _settings(**overrides: Any) -> Settings:
    named = {key.replace("__", "."): value for key, value in overrides.items()}
    nowhere = {"kafka.bootstrap": "127.0.0.1:1", "kafka.topic_prefix": NAMES.prefix}
    return load_settings(overrides={**nowhere, "serve.port": 0, **named})


def _following() -> Following:
    return Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)
