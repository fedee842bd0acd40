"""Pulls from RocketMQ's brokers: one long poll for each queue, all of them at once (ADR 0231)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import Final

from fairlead_client.consume.pull.message_source import PullResult, PullStatus
from fairlead_client.errors import FairleadClientError, SettingsError
from fairlead_client.model import Queue, Subscription
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import NoResponseError, RemotingError
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.rocketmq.pull_request import Pulled, pull_command, pulled
from fairlead_client.routes.topic_route import MASTER
from fairlead_client.session.clock import now_ms
from fairlead_client.session.session import Granted
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.offset_correction import within
from fairlead_client.transport.tags import TAG_HEADER, TagFilter

__all__ = ["RocketMQSource"]

MARGIN_MS: Final = 10_000
"""How much longer than its hold an answer may take."""


@dataclass(eq=False, slots=True)
class _Pull:
    """A pull under way, or its answer that nobody has asked for yet."""

    queue: Queue
    offset: int
    ends_ms: int
    most: int
    address: str = ""
    sent: "Future[Command]" = field(default_factory=Future)


class RocketMQSource:
    """A MessageSource of RocketMQ's queues. It joins nothing: brokers know no member.

    Each queue has one pull under way, or one answer that waits. When the answer is taken, the next
    pull leaves before the messages are handed on, so that the broker works meanwhile. A queue that
    nobody asks for keeps its one answer, and asks for no more.

    A pull goes to the master, or to the machine that the broker names; if it does not answer, to
    another machine of the broker.

    Args:
        settings: the client's settings.
        tag_header: the header that holds a message's tag: on RocketMQ, TAGS.
        granted: returns the grant of a queue.

    Raises:
        SettingsError: the source cannot evaluate a subscription, or tags by another header.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        tag_header: str = TAG_HEADER,
        granted: Callable[[Queue], Granted] = lambda _queue: Granted(),
    ) -> None:
        if tag_header != TAG_HEADER:
            problem = f"RocketMQ keeps a message's tag in the property {TAG_HEADER}"
            raise SettingsError("tag_header", problem, "leave it out")
        self._group = settings.group
        self._to = settings.rocketmq_settings
        self._brokers = Brokers(self._to)
        self._granted = granted
        self._changed = Condition()
        self._pulls: dict[Queue, _Pull] = {}
        self._answered: set[Queue] = set()
        self._broker_ids: dict[Queue, int] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._topics = [each.topic for each in settings.subscriptions(0)]
        self.subscribe(settings.subscriptions(0))

    def connect(self) -> None:
        """Ask a name server for the topics, before the engine grants the first queue.

        Raises:
            RemotingError: no name server answers.
        """
        for topic in self._topics:
            self._brokers.route(topic)

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Refuse an expression that is no list of tags."""
        TagFilter(subscriptions)

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Use these filters from now on; what was pulled by others is forgotten."""
        wanted = tuple(subscriptions)
        self._filter = TagFilter(wanted)
        self._subscriptions = {each.topic: each for each in wanted}
        for queue in list(self._pulls):
            self._forget(queue)

    def follow(self, queues: Collection[Queue]) -> None:
        """Forget what was pulled of other queues."""
        held = set(queues)
        for queue in self._pulls.keys() - held:
            self._forget(queue)
        self._broker_ids = {
            queue: number for queue, number in self._broker_ids.items() if queue in held
        }

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Return what has come for these queues; wait for the first of it."""
        results: dict[Queue, PullResult] = {}
        for queue, offset in offsets.items():
            try:
                self._ask(queue, offset, most)
            except FairleadClientError as error:
                results[queue] = PullResult(PullStatus.NO_NEW_MSG, offset, error=error)
        with self._changed:
            self._changed.wait_for(
                lambda: bool(results) or not self._answered.isdisjoint(offsets), wait_ms / 1_000
            )
            come = self._answered & offsets.keys()
            self._answered -= come
        for queue in come:
            results[queue] = self._result(self._pulls.pop(queue), most)
        return results

    def close(self) -> None:
        """Close the connections."""
        self._brokers.close()

    def _ask(self, queue: Queue, offset: int, most: int | None) -> None:
        """Have one pull from this offset under way, or its answer."""
        known = self._pulls.get(queue)
        if known is not None:
            if known.offset == offset and (known.sent.done() or now_ms() < known.ends_ms):
                return
            late = known.offset == offset
            self._forget(queue)
            if late:
                self._brokers.failed(known.address, queue.topic)
                raise NoResponseError(known.address, f"no answer to a pull of {queue}")
        self._begin(queue, offset, most)

    def _begin(self, queue: Queue, offset: int, most: int | None = None) -> None:
        limit = self._to.pull_batch_size
        subscription = self._subscriptions.get(queue.topic) or Subscription(queue.topic)
        pull = _Pull(
            queue,
            offset,
            now_ms() + self._to.suspend_ms + MARGIN_MS,
            limit if most is None else min(most, limit),
        )
        broker_id = self._broker_ids.get(queue, MASTER)
        pull.address = self._brokers.readable(queue.broker_name, queue.topic, broker_id)
        command = pull_command(
            self._group,
            queue,
            offset,
            subscription,
            most=pull.most,
            suspend_ms=self._to.suspend_ms,
        )
        self._pulls[queue] = pull
        pull.sent = self._brokers.send(pull.address, command)
        pull.sent.add_done_callback(partial(self._come, pull))

    def _come(self, pull: _Pull, _answer: "Future[Command]") -> None:
        with self._changed:
            if self._pulls.get(pull.queue) is pull:
                self._answered.add(pull.queue)
                self._changed.notify()

    def _forget(self, queue: Queue) -> None:
        with self._changed:
            pull = self._pulls.pop(queue, None)
            self._answered.discard(queue)
        if pull is not None:
            pull.sent.cancel()

    def _result(self, pull: _Pull, most: int | None) -> PullResult:
        queue, offset = pull.queue, pull.offset
        try:
            answer = pulled(pull.address, pull.sent.result())
        except (FairleadClientError, CancelledError) as error:
            if isinstance(error, RemotingError):
                self._brokers.failed(pull.address, queue.topic)
            problem = error if isinstance(error, FairleadClientError) else None
            return PullResult(PullStatus.NO_NEW_MSG, offset, error=problem)
        self._brokers.worked(pull.address)
        self._broker_ids[queue] = answer.broker_id
        if answer.status is PullStatus.OFFSET_ILLEGAL:
            return self._corrected(pull, answer)
        messages, after = answer.messages, answer.next_offset
        if most is not None and len(messages) > most:
            messages, after = messages[:most], messages[most].offset
        if most is None:
            self._pull_ahead(queue, after)
        wanted = self._filter.wanted(queue.topic, messages)
        status = answer.status
        if messages and not wanted:
            status = PullStatus.NO_MATCHED_MSG
        return PullResult(status, after, wanted, answer.end)

    def _pull_ahead(self, queue: Queue, offset: int) -> None:
        try:
            self._begin(queue, offset)
        except FairleadClientError:
            # The next pull of this queue meets the same error, and reports it.
            self._forget(queue)

    def _corrected(self, pull: _Pull, answer: Pulled) -> PullResult:
        """Return the queue's own bound for an offset outside of it.

        A slave that has less than its master names the offset that it was asked for.
        """
        offset = pull.offset
        if answer.next_offset == offset:
            return PullResult(PullStatus.NO_NEW_MSG, offset)
        granted = self._granted(pull.queue)
        corrected = within(offset, granted, answer.begin, answer.end)
        if corrected == offset:
            return PullResult(PullStatus.NO_NEW_MSG, offset, end=answer.end)
        return PullResult(PullStatus.OFFSET_ILLEGAL, corrected, end=answer.end)
