"""The parts of a consumer that depend on its data plane: RocketMQ's, or None for Kafka's own."""

from collections.abc import Callable

from fairlead_client.consume.pull.message_source import MessageSource
from fairlead_client.model import Queue
from fairlead_client.rocketmq.queue_offsets import RocketMQOffsetStore
from fairlead_client.rocketmq.rocketmq_source import RocketMQSource
from fairlead_client.session.session import Granted
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.offset_store import OffsetStore

__all__ = ["source_of", "store_of"]


def source_of(
    settings: Settings,
    given: MessageSource | None,
    tag_header: str,
    granted: Callable[[Queue], Granted],
) -> MessageSource | None:
    """Return the application's own source, else the data plane's; None: Kafka's.

    Raises:
        SettingsError: the source cannot evaluate a subscription.
    """
    if given is not None or not settings.reads_rocketmq:
        return given
    return RocketMQSource(settings, tag_header=tag_header, granted=granted)


def store_of(settings: Settings, given: OffsetStore | None) -> OffsetStore | None:
    """Return the application's own store, else the data plane's; None: Kafka's, or none."""
    if given is not None or not (settings.reads_rocketmq and settings.commit_offsets):
        return given
    return RocketMQOffsetStore(settings.rocketmq_settings, settings.group)
