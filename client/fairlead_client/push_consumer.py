"""The client that calls a listener with the messages of its queues."""

from typing import ClassVar, Final, Unpack

from fairlead_client.consume.pull.consume_service import (
    ConcurrentConsumeService,
    ConsumeArguments,
    ConsumeService,
    OrderlyConsumeService,
    Workers,
)
from fairlead_client.consume.pull.failed_messages import FailedMessages
from fairlead_client.consume.pull.flow_control import FlowLimits
from fairlead_client.consume.pull.listener import (
    ConsumeContext,
    ConsumeResult,
    Listener,
    QueueListener,
)
from fairlead_client.consume.pull.message_source import MessageSource
from fairlead_client.consume.pull.messages import Messages
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.pull.pull_member import PullMember
from fairlead_client.consume.retry.redelivery import BY_DEFAULT, reconsume_limit
from fairlead_client.consume.retry.send_back import KafkaFailedMessages
from fairlead_client.errors import SettingsError
from fairlead_client.rocketmq.data_plane import source_of, store_of
from fairlead_client.rocketmq.sent_back import RocketMQFailedMessages
from fairlead_client.session.events import LeaveRequested
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword, check_function
from fairlead_client.settings.setting_types import check_type
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.tags import TAG_HEADER

CONSUME_THREADS: Final = 20


class PushConsumer(PullMember):
    """Joins a group, pulls its queues ahead, and calls a listener with batches of messages.

    With `ordered=True` one thread at a time runs a queue, and a failed batch comes again before
    any later one. Otherwise several threads consume batches of one queue at a time; the consumer
    sends a failed message back, or consumes it again after 5 s if it cannot be sent back.

    When a queue moves, the consumer waits for the batches in hand, then releases the queue at its
    lowest offset that is not consumed. It drops messages that it had only pulled.

    Args:
        listener: `f(messages, context)` returns a ConsumeResult.
        consume_message_batch_max_size: the most messages in one call, all of one queue.
        consume_threads: how many threads call the listener.
        max_reconsume_times: how often a message may come back before it goes to the dead-letter
            topic; -1: 16 times, and without limit in ordered groups.
        failed_messages: keeps failed messages instead of the group's retry topic. The consumer
            then reads the retry topic only with `retry_topic=True`.
        flow_limits: how much the consumer pulls ahead of one queue.
        message_queue_changed: `f(topic, all, mine)`, called once per topic whose queues changed.
        tag_header: the Kafka header that holds a message's tag.
        message_source: where messages come from instead of Kafka.
        offset_store: where to commit positions instead of Kafka's group offsets.
        observer: receives events, such as a ClientMetrics.
        settings: see `Settings`.

    Raises:
        SettingsError: a setting cannot work.
    """

    HANDS_OVER: ClassVar[bool] = True

    @by_keyword("topics", "group", "bootstrap", "listener")
    def __init__(
        self,
        *,
        listener: Listener,
        consume_message_batch_max_size: int = 1,
        consume_threads: int = CONSUME_THREADS,
        max_reconsume_times: int = BY_DEFAULT,
        failed_messages: FailedMessages | None = None,
        flow_limits: FlowLimits | None = None,
        message_queue_changed: QueueListener | None = None,
        tag_header: str = TAG_HEADER,
        message_source: MessageSource | None = None,
        offset_store: OffsetStore | None = None,
        observer: Observer | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        _check("consume_message_batch_max_size", consume_message_batch_max_size, 1)
        _check("consume_threads", consume_threads, 1)
        _check("max_reconsume_times", max_reconsume_times, BY_DEFAULT)
        # A broadcasting member shares nothing with its group, so it sends nothing back.
        sends_back = failed_messages is None and self.MESSAGE_MODEL == "clustering"
        settings.setdefault("retry_topic", sends_back)
        chosen = Settings.of(type(self), settings, message_model=self.MESSAGE_MODEL)
        check_function(type(self), "listener", listener, "f(messages, context)")
        super().__init__(
            chosen,
            ahead=True,
            flow_limits=flow_limits,
            message_source=source_of(chosen, message_source, tag_header, self._granted),
            tag_header=tag_header,
            message_queue_changed=message_queue_changed,
            offset_store=store_of(chosen, offset_store),
            observer=observer,
        )
        self._workers = Workers(consume_threads)
        self._kept: KafkaFailedMessages | RocketMQFailedMessages | None = None
        if sends_back and chosen.retry_topic:
            self._kept = _kept(chosen, self.client_id, max_reconsume_times)
            failed_messages = self._kept
        common = ConsumeArguments(
            batch_max_size=consume_message_batch_max_size,
            workers=self._workers,
            timer=self._timer,
            still_mine=self._epoch_of,
            batch_ended=self._queue_table.batch_ended,
            failed_messages=failed_messages,
            observer=self._observer,
        )

        def consume(messages: Messages, context: ConsumeContext) -> ConsumeResult | None:
            self._observer.polled()
            return listener(messages, context)

        limit = reconsume_limit(max_reconsume_times, ordered=True)
        self._consume_service: ConsumeService = (
            OrderlyConsumeService(consume, max_reconsume_times=limit, **common)
            if chosen.ordered
            else ConcurrentConsumeService(consume, **common)
        )

    @property
    def consume_counts(self) -> dict[str, int]:
        """Counts: messages `failed`, `sent_back`, `not_sent_back`; batches `suspended`.

        `listener_errors` counts calls in which the listener raised.
        """
        return dict(self._consume_service.counts)

    def close(self, timeout_ms: int | None = None) -> None:
        """Hand each queue over behind the batches in hand, and leave.

        A call from the listener does not wait, and hands nothing over: the listener is not called
        again.
        """
        self._check_fork()
        if self._workers.mine and self._thread is not None:
            self._closing = True
            # Whoever closes here expects no more calls.
            self._thread.report(LeaveRequested())
            return
        super().close(timeout_ms)

    def _on_messages(self, work: ProcessQueue, count: int) -> None:
        self._consume_service.deliver(work, count)

    def _new_thread(self) -> ControlThread:
        thread = super()._new_thread()
        self._workers.start()
        return thread

    def _ended(self) -> None:
        super()._ended()
        self._workers.stop()
        if self._kept is not None:
            self._kept.close()


def _kept(
    settings: Settings, client_id: str, max_reconsume_times: int
) -> KafkaFailedMessages | RocketMQFailedMessages:
    if settings.reads_rocketmq:
        return RocketMQFailedMessages(settings, max_reconsume_times)
    return KafkaFailedMessages(settings, client_id, max_reconsume_times)


def _check(name: str, value: int, least: int) -> None:
    check_type(name, value, int)
    if value < least:
        raise SettingsError(name, f"{value} is too few", f"give {least} or more")
