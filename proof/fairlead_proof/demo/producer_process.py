"""The producer of the demo, a process of its own: numbered messages to every partition, steadily.

Each message is a number. The judge knows a message by its queue and offset: one that was sent again
because no answer came may stand in the queue twice, and both must be processed. The partitions are
filled in turn; new ones join in as soon as the cluster shows them. One line of JSON on the standard
input, ``{"do": "finish"}`` (or its end), makes it flush, tell how many messages were acknowledged,
and end.
"""

import argparse
import json
import sys
import threading
import time
from typing import Final

from kafka import KafkaProducer

from fairlead.kafka.connection import library_options
from fairlead.settings import load_settings

_TICK_SECONDS: Final = 0.02
_TELL_SECONDS: Final = 0.5
_FLUSH_SECONDS: Final = 30
_METADATA_AGE_MS: Final = 1_000


class Counter:
    """What became of the messages; callbacks of the producer's thread write, the loop reads."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self.failure: BaseException | None = None

    def succeeded(self, _: object) -> None:
        """One more message is stored."""
        self.acknowledged += 1

    def failed(self, error: BaseException) -> None:
        """A message could not be stored: the run is worth nothing."""
        self.failure = error


def produce(producer: KafkaProducer, topic: str, rate: int, finish: threading.Event) -> Counter:
    """Send ``rate`` messages a second until told to finish; return when all are acknowledged.

    Raises:
        kafka.errors.KafkaError: a message could not be stored.
    """
    counter = Counter()
    sent, started, reported = 0, time.monotonic(), 0.0
    while not finish.wait(_TICK_SECONDS) and counter.failure is None:
        partitions = sorted(producer.partitions_for(topic))
        for number in range(sent, int((time.monotonic() - started) * rate)):
            partition = partitions[number % len(partitions)]
            future = producer.send(topic, value=b"%d" % number, partition=partition)
            future.add_callback(counter.succeeded)
            future.add_errback(counter.failed)
            sent += 1
        if time.monotonic() >= reported + _TELL_SECONDS:
            reported = time.monotonic()
            emit(event="produced", count=counter.acknowledged)
    producer.flush(timeout=_FLUSH_SECONDS)
    if counter.failure is not None:
        raise counter.failure
    return counter


def emit(**fields: object) -> None:
    """Write one line of JSON to the standard output."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read the arguments, produce, and tell how many messages were stored."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--rate", type=int, required=True, help="messages a second")
    arguments = parser.parse_args()
    finish = threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        finish.set()

    threading.Thread(target=listen, daemon=True).start()
    options = {
        **library_options(load_settings().kafka),
        "bootstrap_servers": arguments.bootstrap,
        "acks": "all",
        # As many requests as a producer that lingers makes, not one for each message: brokers and
        # clients share the cores of this machine.
        "linger_ms": 50,
        # The idempotent producer of kafka-python 3.0.12 takes one late answer to InitProducerId for
        # final: a broker under load would end the run. One request in flight keeps the order.
        "enable_idempotence": False,
        "max_in_flight_requests_per_connection": 1,
        "metadata_max_age_ms": _METADATA_AGE_MS,
    }
    producer = KafkaProducer(**options)
    try:
        counter = produce(producer, arguments.topic, arguments.rate, finish)
    finally:
        producer.close()
    emit(event="finished", count=counter.acknowledged)


if __name__ == "__main__":
    main()
