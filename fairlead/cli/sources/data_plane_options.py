"""The options that say where a group's messages are: on Kafka, or on RocketMQ."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.options import DataBootstrapOption
from fairlead.cli.rocketmq_options import (
    AclFileOption,
    RocketMQOptions,
    TlsAnyHostOption,
    TlsCaOption,
    TlsCertOption,
    TlsKeyOption,
    TlsOption,
)
from fairlead.cli.sources.data_cluster import data_cluster
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.control.kafka_plane import KafkaPlane
    from fairlead.control.rocketmq_plane import RocketMQPlane
    from fairlead.settings import KafkaSettings

__all__ = ["DataPlaneOptions"]


@dataclass(frozen=True)
class DataPlaneOptions:
    """Where the messages are: on Kafka, or with --namesrv on RocketMQ."""

    data_bootstrap: DataBootstrapOption = None
    namesrv: Annotated[
        str | None,
        typer.Option(
            "--namesrv", help="The name servers of RocketMQ, if it is a group there: host:port[;…]."
        ),
    ] = None
    cluster_name: Annotated[
        str | None,
        typer.Option("--cluster-name", help="With --namesrv: the brokers' cluster."),
    ] = None
    acl_file: AclFileOption = None
    tls: TlsOption = False
    tls_ca: TlsCaOption = None
    tls_cert: TlsCertOption = None
    tls_key: TlsKeyOption = None
    tls_any_host: TlsAnyHostOption = False

    @contextlib.contextmanager
    def opened(self, kafka: "KafkaSettings") -> "Iterator[KafkaPlane | RocketMQPlane]":
        """Connect to the cluster with the messages.

        Raises:
            UsageError: both kinds of cluster are named, or an option cannot be.
        """
        servers = self._servers()
        if servers is None:
            from fairlead.control.kafka_plane import KafkaPlane

            with data_cluster(kafka, self.data_bootstrap) as data:
                yield KafkaPlane(data)
            return
        from fairlead_client.remoting.connections import Connections

        from fairlead.control.rocketmq_plane import RocketMQPlane
        from fairlead.rocketmq.name_servers import addresses_of

        with Connections(servers.connection()) as connections:
            yield RocketMQPlane(connections, addresses_of(servers.namesrv), self.cluster_name)

    def _servers(self) -> RocketMQOptions | None:
        """Return where RocketMQ is; None: the messages are on Kafka."""
        if self.namesrv is None:
            return None
        if self.data_bootstrap is not None:
            raise UsageError(
                "--namesrv: --data-bootstrap names a cluster of Kafka.",
                remedy="Give one of them: the group's messages are in one place.",
            )
        return RocketMQOptions(
            self.namesrv,
            self.acl_file,
            self.tls,
            self.tls_ca,
            self.tls_cert,
            self.tls_key,
            self.tls_any_host,
        )
