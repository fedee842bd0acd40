"""The clusters whose native groups the settings name, and how to look at each."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from fairlead_client.remoting.connections import Connections

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.kafka.connection import library_options
from fairlead.native.cluster_look import NativeReader
from fairlead.native.group_look import Kind
from fairlead.native.kafka_groups import KafkaGroups
from fairlead.native.rocketmq_groups import RocketmqGroups
from fairlead.rocketmq.name_servers import NameServers, addresses_of
from fairlead.rocketmq.server_access import ServerAccess
from fairlead.settings import Settings

__all__ = ["NativeSource", "is_wanted", "native_sources"]

_ANSWER_MS: Final = 10_000


@dataclass(frozen=True, slots=True)
class NativeSource:
    """A cluster to look at.

    Attributes:
        kind: its data plane.
        address: where it is, as the settings say.
        reading: connects a reader, as long as the context is open.
    """

    kind: Kind
    address: str
    reading: Callable[[], AbstractContextManager[NativeReader]]


def native_sources(settings: Settings, *, sparing: bool = False) -> tuple[NativeSource, ...]:
    """Return the clusters that `[observe]` names; empty: nobody wants to see native groups.

    ``sparing``: looks follow each other, so consumers of RocketMQ are asked less often.
    """
    observe = settings.observe
    sources = []
    if observe.kafka_bootstrap:
        sources.append(NativeSource("kafka", observe.kafka_bootstrap, lambda: _kafka(settings)))
    if observe.namesrv:
        sources.append(
            NativeSource("rocketmq", observe.namesrv, lambda: _rocketmq(settings, sparing=sparing))
        )
    return tuple(sources)


def is_wanted(settings: Settings, group: str) -> bool:
    """Return whether `observe.groups` names a group."""
    return any(fnmatchcase(group, each) for each in settings.observe.groups)


@contextlib.contextmanager
def _kafka(settings: Settings) -> Iterator[NativeReader]:
    options = library_options(settings.kafka)
    data = DataCluster(settings.observe.kafka_bootstrap, timeout_ms=_ANSWER_MS, options=options)
    with contextlib.closing(data):
        yield KafkaGroups(data)


@contextlib.contextmanager
def _rocketmq(settings: Settings, *, sparing: bool) -> Iterator[NativeReader]:
    observe = settings.observe
    access = ServerAccess(
        namesrv=observe.namesrv,
        acl_file=observe.acl_file,
        tls=observe.tls,
        tls_ca=observe.tls_ca,
        tls_cert=observe.tls_cert,
        tls_key=observe.tls_key,
        tls_any_host=observe.tls_any_host,
    )
    with Connections(access.connection()) as connections:
        yield RocketmqGroups(
            connections,
            NameServers(connections, addresses_of(observe.namesrv)),
            cluster=observe.cluster_name,
            sparing=sparing,
        )
