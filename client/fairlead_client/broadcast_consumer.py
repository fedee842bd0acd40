"""The consumer of a broadcasting group: every member reads all messages."""

from pathlib import Path
from typing import Unpack

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

    Use it like `Consumer`. It sends heartbeats, so the engine shows it among the group's members,
    but it shares no queue with them. It reads every readable queue of its topics, whether or not
    the engine runs, and keeps its offsets in its own file. An `epoch` fences nothing here.

    Args:
        offsets_folder: the folder of the offsets; the file is `<folder>/<client id>/<group>.json`.
        explicit_done: whether only `done` finishes a message.
        tag_header: the Kafka header that holds a message's tag.
        observer: receives events, such as a ClientMetrics.
        settings: see `Settings`; `client_id` is required and must stay the same after a restart.

    Raises:
        SettingsError: a setting cannot work.
    """

    # The engine assigns no queues here, and the runner follows the routes.
    WATCHES_ASSIGNMENTS = False

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
