"""Fairlead's client: consumers that join a group, and a producer that goes around broken brokers.

Each name is imported when it is first used, so a consumer does not load the producer's modules.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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

_MODULES: Final = {
    "BroadcastConsumer": "fairlead_client.broadcast_consumer",
    "BroadcastPushConsumer": "fairlead_client.broadcast_push_consumer",
    "BrokerConnectionError": "fairlead_client.errors",
    "CallbackError": "fairlead_client.errors",
    "Client": "fairlead_client.client",
    "ClientClosedError": "fairlead_client.errors",
    "ClientStartedError": "fairlead_client.errors",
    "ConsumeContext": "fairlead_client.consume.pull.listener",
    "ConsumeResult": "fairlead_client.consume.pull.listener",
    "Consumer": "fairlead_client.consumer",
    "DuplicateClientIdError": "fairlead_client.errors",
    "Epoch": "fairlead_client.model",
    "FailedMessages": "fairlead_client.consume.pull.failed_messages",
    "FairleadClientError": "fairlead_client.errors",
    "FlowLimits": "fairlead_client.consume.pull.flow_control",
    "ForkedClientError": "fairlead_client.errors",
    "LifecycleError": "fairlead_client.errors",
    "MalformedRecordError": "fairlead_client.errors",
    "Message": "fairlead_client.message",
    "MessageError": "fairlead_client.produce.outgoing",
    "MessageSource": "fairlead_client.consume.pull.message_source",
    "NoQueueError": "fairlead_client.produce.queue_selection",
    "NoRouteError": "fairlead_client.produce.send_error",
    "NotAllowedError": "fairlead_client.errors",
    "NoticeError": "fairlead_client.errors",
    "Observer": "fairlead_client.session.observer",
    "OffsetFileError": "fairlead_client.errors",
    "OffsetStore": "fairlead_client.transport.offset_store",
    "OffsetStoreError": "fairlead_client.errors",
    "OutgoingMessage": "fairlead_client.produce.outgoing",
    "Position": "fairlead_client.model",
    "PositionalArgumentError": "fairlead_client.errors",
    "Producer": "fairlead_client.producer",
    "ProducerObserver": "fairlead_client.session.observer",
    "Progress": "fairlead_client.model",
    "PullConsumer": "fairlead_client.pull_consumer",
    "PullResult": "fairlead_client.consume.pull.message_source",
    "PullStatus": "fairlead_client.consume.pull.message_source",
    "PushConsumer": "fairlead_client.push_consumer",
    "Queue": "fairlead_client.model",
    "RouteError": "fairlead_client.errors",
    "SendBackError": "fairlead_client.errors",
    "SendFailedError": "fairlead_client.produce.send_error",
    "SendResult": "fairlead_client.produce.outgoing",
    "SendingError": "fairlead_client.produce.send_error",
    "SettingsError": "fairlead_client.errors",
    "StartFailedError": "fairlead_client.errors",
    "Subscription": "fairlead_client.model",
    "UnlistedTransitionError": "fairlead_client.errors",
    "Waiting": "fairlead_client.session.waiting_log",
    "WaitingKind": "fairlead_client.session.waiting",
    "__version__": "fairlead_client.session.version",
    "by_hash": "fairlead_client.produce.queue_choice",
}


if not TYPE_CHECKING:
    # Type checkers read the imports above, and report a name that does not exist.

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used (PEP 562)."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return all public names, imported or not."""
    return sorted({*globals(), *__all__})
