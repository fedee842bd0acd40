"""Topics deleted, and gone for whoever asks."""

from collections.abc import Collection

from kafka import KafkaAdminClient

from tests.kit.awaiting import await_seen

__all__ = ["delete_topics"]


def delete_topics(admin: KafkaAdminClient, names: Collection[str]) -> None:
    """Delete topics and return when no broker names them any more."""
    admin.delete_topics(sorted(names))
    # Each look asks a broker, which goes on deleting for a while after its answer.
    await_seen(
        lambda: {*names} & {*admin.list_topics()},
        lambda left: not left,
        what="end of the topics",
    )
