"""Fairlead's client: join a group and read the queues it is given; send around what is broken."""

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
