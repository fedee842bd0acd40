"""The cluster that carries the messages, open for a few questions."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.settings import KafkaSettings

__all__ = ["LOOK_UP_MS_MAX", "data_cluster", "library_log"]

LOOK_UP_MS_MAX: Final = 10_000


@contextlib.contextmanager
def data_cluster(kafka: "KafkaSettings", bootstrap: str | None = None) -> "Iterator[DataCluster]":
    """Connect to the cluster; ``bootstrap``: if it is not the one with Fairlead's topics."""
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.kafka.connection import library_options

    data = DataCluster(
        bootstrap or kafka.bootstrap, timeout_ms=LOOK_UP_MS_MAX, options=library_options(kafka)
    )
    with contextlib.closing(data), library_log(kafka):
        yield data


@contextlib.contextmanager
def library_log(kafka: "KafkaSettings") -> Iterator[None]:
    """Log failed look-ups to the standard error, without secrets: rows alone go to stdout."""
    from fairlead.cli.log_setup import secrets_of
    from fairlead.logs import logs_configured

    with logs_configured(secrets=secrets_of(kafka)):
        yield
