"""Fairlead's client: consumers that join a group, and a producer that goes around broken brokers.

Each name is imported when it is first used, so a consumer does not load the producer's modules.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fairlead_client.async_consumer import AsyncConsumer
    from fairlead_client.broadcast_consumer import BroadcastConsumer
    from fairlead_client.broadcast_push_consumer import BroadcastPushConsumer
    from fairlead_client.client import Client
    from fairlead_client.consume.pull.failed_messages import FailedMessages
    from fairlead_client.consume.pull.flow_control import FlowLimits
    from fairlead_client.consume.pull.listener import ConsumeContext, ConsumeResult
    from fairlead_client.consume.pull.message_source import MessageSource, PullResult, PullStatus
    from fairlead_client.consumer import Consumer
    from fairlead_client.errors import (
        BrokerConnectionError,
        CallbackError,
        ClientClosedError,
        ClientStartedError,
        DuplicateClientIdError,
        FairleadClientError,
        ForkedClientError,
        GatewayError,
        LifecycleError,
        MalformedRecordError,
        NotAllowedError,
        NoticeError,
        OffsetFileError,
        OffsetStoreError,
        PositionalArgumentError,
        RouteError,
        SendBackError,
        SettingsError,
        StartFailedError,
        UnlistedTransitionError,
    )
    from fairlead_client.message import Message
    from fairlead_client.model import Epoch, Position, Progress, Queue, Subscription
    from fairlead_client.produce.outgoing import MessageError, OutgoingMessage, SendResult
    from fairlead_client.produce.queue_choice import by_hash
    from fairlead_client.produce.queue_selection import NoQueueError
    from fairlead_client.produce.send_error import NoRouteError, SendFailedError, SendingError
    from fairlead_client.producer import Producer
    from fairlead_client.pull_consumer import PullConsumer
    from fairlead_client.push_consumer import PushConsumer
    from fairlead_client.session.observer import Observer, ProducerObserver
    from fairlead_client.session.version import __version__
    from fairlead_client.session.waiting import WaitingKind
    from fairlead_client.session.waiting_log import Waiting
    from fairlead_client.transport.offset_store import OffsetStore

__all__ = [
    "AsyncConsumer",
    "BroadcastConsumer",
    "BroadcastPushConsumer",
    "BrokerConnectionError",
    "CallbackError",
    "Client",
    "ClientClosedError",
    "ClientStartedError",
    "ConsumeContext",
    "ConsumeResult",
    "Consumer",
    "DuplicateClientIdError",
    "Epoch",
    "FailedMessages",
    "FairleadClientError",
    "FlowLimits",
    "ForkedClientError",
    "GatewayError",
    "LifecycleError",
    "MalformedRecordError",
    "Message",
    "MessageError",
    "MessageSource",
    "NoQueueError",
    "NoRouteError",
    "NotAllowedError",
    "NoticeError",
    "Observer",
    "OffsetFileError",
    "OffsetStore",
    "OffsetStoreError",
    "OutgoingMessage",
    "Position",
    "PositionalArgumentError",
    "Producer",
    "ProducerObserver",
    "Progress",
    "PullConsumer",
    "PullResult",
    "PullStatus",
    "PushConsumer",
    "Queue",
    "RouteError",
    "SendBackError",
    "SendFailedError",
    "SendResult",
    "SendingError",
    "SettingsError",
    "StartFailedError",
    "Subscription",
    "UnlistedTransitionError",
    "Waiting",
    "WaitingKind",
    "__version__",
    "by_hash",
]

_NAMES: Final = {
    "async_consumer": "AsyncConsumer",
    "broadcast_consumer": "BroadcastConsumer",
    "broadcast_push_consumer": "BroadcastPushConsumer",
    "client": "Client",
    "consume.pull.failed_messages": "FailedMessages",
    "consume.pull.flow_control": "FlowLimits",
    "consume.pull.listener": "ConsumeContext ConsumeResult",
    "consume.pull.message_source": "MessageSource PullResult PullStatus",
    "consumer": "Consumer",
    "errors": (
        "BrokerConnectionError CallbackError ClientClosedError ClientStartedError "
        "DuplicateClientIdError FairleadClientError ForkedClientError GatewayError LifecycleError "
        "MalformedRecordError NotAllowedError NoticeError OffsetFileError "
        "OffsetStoreError PositionalArgumentError RouteError SendBackError SettingsError "
        "StartFailedError UnlistedTransitionError"
    ),
    "message": "Message",
    "model": "Epoch Position Progress Queue Subscription",
    "produce.outgoing": "MessageError OutgoingMessage SendResult",
    "produce.queue_choice": "by_hash",
    "produce.queue_selection": "NoQueueError",
    "produce.send_error": "NoRouteError SendFailedError SendingError",
    "producer": "Producer",
    "pull_consumer": "PullConsumer",
    "push_consumer": "PushConsumer",
    "session.observer": "Observer ProducerObserver",
    "session.version": "__version__",
    "session.waiting": "WaitingKind",
    "session.waiting_log": "Waiting",
    "transport.offset_store": "OffsetStore",
}
"""Each module below this package -> its public names."""
_MODULES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}


if not TYPE_CHECKING:
    # Type checkers read the imports above, and report a name that does not exist.

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used (PEP 562)."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return all public names, imported or not."""
    return sorted({*globals(), *__all__})
