"""The producer of the demo on RocketMQ, a process of its own: messages to all queues, steadily.

The judge knows a message by its queue and offset: one that was sent again because no answer came
may stand in a queue twice, and both must be processed. One line of JSON on the standard input,
``{"do": "finish"}`` (or its end), makes it wait for all answers, tell how many messages were
acknowledged, and end.
"""

import argparse
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import Final

from fairlead_client import OutgoingMessage, Producer, SendResult

from fairlead_proof.demo.producer_process import emit

_TICK_SECONDS: Final = 0.02
_TELL_SECONDS: Final = 0.5
_GIVEN_UP_SECONDS: Final = 60.0


class Sending:
    """Sends numbered messages, each until it is acknowledged."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer, self._topic = producer, topic
        self._under_way: deque[tuple[int, Future[SendResult]]] = deque()
        self.acknowledged = 0
        self.heard_at = time.monotonic()

    @property
    def waits(self) -> int:
        """How many messages are not acknowledged yet."""
        return len(self._under_way)

    def send(self, number: int) -> None:
        """Send a message."""
        message = OutgoingMessage(self._topic, b"%d" % number)
        self._under_way.append((number, self._producer.send_async(message)))

    def collect(self) -> None:
        """Count what was acknowledged, and send again what failed."""
        for _ in range(self.waits):
            number, ended = self._under_way.popleft()
            if not ended.done():
                self._under_way.append((number, ended))
            elif ended.exception() is None:
                self.acknowledged += 1
                self.heard_at = time.monotonic()
            else:
                self.send(number)


def produce(sending: Sending, rate: int, finish: threading.Event) -> None:
    """Send ``rate`` messages a second until told to finish; return when all are acknowledged.

    Raises:
        TimeoutError: nothing was acknowledged for a minute.
    """
    sent, started, reported = 0, time.monotonic(), 0.0
    while not finish.wait(_TICK_SECONDS):
        for number in range(sent, int((time.monotonic() - started) * rate)):
            sending.send(number)
            sent += 1
        sending.collect()
        if time.monotonic() >= reported + _TELL_SECONDS:
            reported = time.monotonic()
            emit(event="produced", count=sending.acknowledged)
    while sending.waits:
        if time.monotonic() > sending.heard_at + _GIVEN_UP_SECONDS:
            raise TimeoutError(f"{sending.waits} messages were not acknowledged in time")
        time.sleep(_TICK_SECONDS)
        sending.collect()


def main() -> None:
    """Read the arguments, produce, and tell how many messages were stored."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--namesrv", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--rate", type=int, required=True, help="messages a second")
    arguments = parser.parse_args()
    finish = threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        finish.set()

    threading.Thread(target=listen, daemon=True).start()
    # All queues get messages at one pace: a pause is then whoever shares the queues.
    with Producer(data_plane="rocketmq", namesrv=arguments.namesrv, avoid_slow=False) as producer:
        sending = Sending(producer, arguments.topic)
        produce(sending, arguments.rate, finish)
    emit(event="finished", count=sending.acknowledged)


if __name__ == "__main__":
    main()
