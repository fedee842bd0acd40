"""Topics deleted, and gone for whoever asks."""

import time
from collections.abc import Collection

from kafka import KafkaAdminClient

__all__ = ["delete_topics"]


def delete_topics(admin: KafkaAdminClient, names: Collection[str]) -> None:
    """Delete topics and return when no broker names them any more."""
    admin.delete_topics(sorted(names))
    deadline = time.monotonic() + 30
    # Each look asks a broker, which goes on deleting for a while after its answer.
    while {*names} & {*admin.list_topics()}:
        assert time.monotonic() < deadline, names
