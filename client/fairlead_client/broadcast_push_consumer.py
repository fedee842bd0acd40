"""The push consumer of a broadcasting group: every member's listener gets all messages."""

from pathlib import Path
from typing import Unpack

from fairlead_client.consume.broadcast.broadcast_member import BroadcastMember
from fairlead_client.consume.broadcast.broadcast_runner import BroadcastRunner
from fairlead_client.consume.broadcast.offset_file import DEFAULT_FOLDER
from fairlead_client.consume.pull.flow_control import FlowLimits
from fairlead_client.consume.pull.listener import Listener, QueueListener
from fairlead_client.push_consumer import CONSUME_THREADS, PushConsumer
from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import SettingsArguments
from fairlead_client.settings.keywords import by_keyword
from fairlead_client.transport.tags import TAG_HEADER


class BroadcastPushConsumer(BroadcastMember, PushConsumer):
    """Calls a listener with batches of every queue of its topics.

    Use it like `PushConsumer`; it reads what `BroadcastConsumer` reads. It sends no message back:
    it consumes a failed message again after 5 s, where RocketMQ drops it.

    Args:
        listener: `f(messages, context)` returns a ConsumeResult.
        offsets_folder: the folder of the offsets; the file is `<folder>/<client id>/<group>.json`.
        consume_message_batch_max_size: the most messages in one call, all of one queue.
        consume_threads: how many threads call the listener.
        flow_limits: how much the consumer pulls ahead of one queue.
        message_queue_changed: `f(topic, all, mine)`, called once per topic whose queues changed.
        tag_header: the Kafka header that holds a message's tag.
        observer: receives events, such as a ClientMetrics.
        settings: see `Settings`; `client_id` is required and must stay the same after a restart.

    Raises:
        SettingsError: a setting cannot work.
    """

    @by_keyword("topics", "group", "bootstrap", "client_id", "listener")
    def __init__(
        self,
        *,
        listener: Listener,
        offsets_folder: str | Path = DEFAULT_FOLDER,
        consume_message_batch_max_size: int = 1,
        consume_threads: int = CONSUME_THREADS,
        flow_limits: FlowLimits | None = None,
        message_queue_changed: QueueListener | None = None,
        tag_header: str = TAG_HEADER,
        observer: Observer | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        settings.setdefault("commit_offsets", False)
        PushConsumer.__init__(
            self,
            listener=listener,
            consume_message_batch_max_size=consume_message_batch_max_size,
            consume_threads=consume_threads,
            flow_limits=flow_limits,
            message_queue_changed=message_queue_changed,
            tag_header=tag_header,
            observer=observer,
            **settings,
        )
        self._keep_offsets_in(offsets_folder)

    def _is_consuming_here(self) -> bool:
        return self._workers.mine

    def _reader(self) -> Application:
        return self._queue_table

    def _connect_reader(self, runner: BroadcastRunner) -> None:
        self._queue_table.connect(runner.report, self._ended)
