"""A steady load on one Producer: numbered messages, none waiting for another."""

import threading
import time
from concurrent.futures import Future
from functools import partial
from typing import Final

from fairlead_client.produce.outgoing import OutgoingMessage, SendResult
from fairlead_client.producer import Producer

from fairlead_proof.demo.sent_messages import Ledger, Sent

_TICK_SECONDS: Final = 0.01


class SendingLoad(threading.Thread):
    """Sends so many messages a second until told to finish.

    Args:
        producer: what is watched.
        topic: where the messages go.
        rate: messages a second.
        ledger: notes what became of each.
    """

    def __init__(self, producer: Producer, topic: str, rate: int, ledger: Ledger) -> None:
        super().__init__(name="load", daemon=True)
        self._producer = producer
        self._topic = topic
        self._rate = rate
        self._ledger = ledger
        self._finish = threading.Event()
        self.begun = 0

    def finish(self) -> None:
        """Begin no further message; return when none will be begun."""
        self._finish.set()
        self.join()

    def run(self) -> None:
        """Send."""
        started = time.monotonic()
        while not self._finish.wait(_TICK_SECONDS):
            for number in range(self.begun, int((time.monotonic() - started) * self._rate)):
                message = OutgoingMessage(self._topic, b"%d" % number)
                sent = self._producer.send_async(message)
                sent.add_done_callback(partial(self._ended, number, time.monotonic()))
                self.begun += 1

    def _ended(self, number: int, begun: float, sent: Future[SendResult]) -> None:
        now = time.monotonic()
        error = sent.exception()
        with self._ledger.lock:
            if error is not None:
                self._ledger.failures.append((number, f"{type(error).__name__}: {error}"))
            else:
                result = sent.result()
                took_ms = (now - begun) * 1_000
                self._ledger.sent.append(Sent(number, result, now, took_ms))
