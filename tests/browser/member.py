"""A consumer as a process of its own, so that a test can kill it: reads until it is stopped."""

import sys

from fairlead_client import Consumer

LEASE_MS = 9_000
"""A client that is killed is missed after so long, and what the group waits besides."""


def main() -> None:
    """Consume; the arguments are bootstrap, prefix, group, topic and client id."""
    bootstrap, prefix, group, topic, client_id = sys.argv[1:]
    consumer = Consumer(
        bootstrap=bootstrap,
        prefix=prefix,
        group=group,
        topics=[topic],
        client_id=client_id,
        consume_from="first_offset",
        heartbeat_ms=1_000,
        lease_ms=LEASE_MS,
    )
    with consumer.signals(), consumer:
        for _ in consumer:
            pass


if __name__ == "__main__":
    main()
