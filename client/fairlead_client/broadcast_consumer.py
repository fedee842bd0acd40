"""The consumer of a broadcasting group: every member reads all messages."""

from pathlib import Path
from typing import Unpack

from kafka import KafkaConsumer

from fairlead_client.consume.broadcast.broadcast_member import BroadcastMember
from fairlead_client.consume.broadcast.broadcast_runner import BroadcastRunner
from fairlead_client.consume.broadcast.offset_file import DEFAULT_FOLDER
from fairlead_client.consumer import Consumer
from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import SettingsArguments
from fairlead_client.settings.keywords import by_keyword
from fairlead_client.transport.tags import TAG_HEADER


class BroadcastConsumer(BroadcastMember, Consumer):
    """Hands out the messages of every queue of its topics, each queue in order.

    It is used as `Consumer` is. It heartbeats, so that the group's members are known, and shares
    nothing with them: each reads every readable queue that the routes tell, whether or not the
    engine runs, and keeps its offsets in a file of its own. So `epoch` fences nothing here.

    Args:
        offsets_folder: where the file is, as `<folder>/<client id>/<group>.json`.
        explicit_done: whether only `done` finishes a message.
        tag_header: the Kafka header that holds a message's tag.
        observer: told what happens, such as a ClientMetrics.
        settings: see `Settings`; `client_id` must be given, and stay over restarts.

    Raises:
        SettingsError: a setting that cannot work.
    """

    @by_keyword("topics", "group", "bootstrap", "client_id")
    def __init__(
        self,
        *,
        offsets_folder: str | Path = DEFAULT_FOLDER,
        explicit_done: bool = False,
        tag_header: str = TAG_HEADER,
        observer: Observer | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        settings.setdefault("commit_offsets", False)
        Consumer.__init__(
            self,
            explicit_done=explicit_done,
            tag_header=tag_header,
            observer=observer,
            **settings,
        )
        self._keep_offsets_in(offsets_folder)

    def _reader(self) -> Application:
        return self._in_flight

    def _connect_reader(self, runner: BroadcastRunner) -> None:
        self._in_flight.connect(runner.report)

    def _watch_assignments(self, kafka: KafkaConsumer) -> None:
        """Nothing is assigned: routes are followed elsewhere."""
