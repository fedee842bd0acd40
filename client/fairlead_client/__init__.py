"""The consumer side of Fairlead: join a group, and read the queues it is given."""

from fairlead_client.client import Client
from fairlead_client.consumer import Consumer
from fairlead_client.errors import (
    CallbackError,
    ClientClosedError,
    ClientStartedError,
    DuplicateClientIdError,
    FairleadClientError,
    ForkedClientError,
    LifecycleError,
    MalformedRecordError,
    NoticeError,
    OffsetStoreError,
    SettingsError,
    StartFailedError,
    UnlistedTransitionError,
)
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Position, Progress, Queue, Subscription
from fairlead_client.observer import Observer
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.version import __version__

__all__ = [
    "CallbackError",
    "Client",
    "ClientClosedError",
    "ClientStartedError",
    "Consumer",
    "DuplicateClientIdError",
    "Epoch",
    "FairleadClientError",
    "ForkedClientError",
    "LifecycleError",
    "MalformedRecordError",
    "Message",
    "NoticeError",
    "Observer",
    "OffsetStore",
    "OffsetStoreError",
    "Position",
    "Progress",
    "Queue",
    "SettingsError",
    "StartFailedError",
    "Subscription",
    "UnlistedTransitionError",
    "__version__",
]
