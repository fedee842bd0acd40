"""The table of checks. To add one, add a line: docs/doctor.md is made of it."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from fairlead.doctor import (
    broker,
    checkpoint,
    endpoints,
    lease,
    liveness,
    machine,
    permissions,
    topics,
)
from fairlead.doctor.answer import Answer
from fairlead.doctor.surroundings import Surroundings

__all__ = ["CHECKS", "Check", "Place"]


class Place(StrEnum):
    """Where a check looks."""

    MACHINE = "this machine"
    CLUSTER = "the cluster"


class Check(NamedTuple):
    """One check.

    Attributes:
        name: what it is called in the table.
        place: where it looks; those that look at the cluster run one after another.
        seconds: how long it may take.
        ask: yields what it finds.
        about: what it looks at, for docs/doctor.md.
        fails: when it says FAIL, for docs/doctor.md.
    """

    name: str
    place: Place
    seconds: float
    ask: Callable[[Surroundings], Iterator[Answer]]
    about: str
    fails: str


CHECKS: Final = (
    Check("settings", Place.MACHINE, 2, machine.settings,
          "What `fairlead config check` warns of.", "never; a mistake ends the command with 2"),
    Check("java", Place.MACHINE, 6, machine.java,
          "The Java by `FAIRLEAD_JAVA`, `JAVA_HOME` or the `PATH`, and its version.",
          "there is none, it does not run, or it is older than 17"),
    Check("heap", Place.MACHINE, 2, machine.heap,
          "`engine.java_heap` beside the memory of the machine or the container.",
          "heap and 512 MiB for the rest do not fit"),
    Check("jars", Place.MACHINE, 10, machine.jars,
          "Every pinned jar in the cache, by its SHA-256.",
          "one of the connector is missing, or any file is another"),
    Check("archive", Place.MACHINE, 8, machine.archive,
          "The class-data archive for this Java and these jars.", "never"),
    Check("packages", Place.MACHINE, 5, machine.packages,
          "Whether every Python package that Fairlead needs is there, in a version that fits.",
          "one is missing or does not fit"),
    Check("checkpoint", Place.MACHINE, 3, checkpoint.checkpoint,
          "Who has the folder of `engine.checkpoint`, by the kernel's list of locks, and whether "
          "it may be written. A warning, if it is not there and an engine answers: that one has "
          "another.", "this user may not write or make it"),
    Check("engine port", Place.MACHINE, 5, endpoints.engine_port,
          "`metrics.port` on this machine, and the engine's `/readyz` if it answers there.",
          "something else has the port, or the engine is not ready a minute after its start"),
    Check("serve port", Place.MACHINE, 5, endpoints.serve_port,
          "`serve.port` on this machine, and the view's `/readyz` if it answers there.",
          "something else has the port, or the view is not ready"),
    Check("serve", Place.MACHINE, 5, endpoints.serve,
          "The view of all groups at `serve.url`, where commands look for it.",
          "it answers, and is not ready"),
    Check("broker", Place.CLUSTER, 8, broker.broker,
          "Whether the brokers answer and take the login, which version they are, how many; "
          "which of them are gone or silent; and whether `kafka.bootstrap` names several.",
          "none answers in time, or the login is refused: exit code 3"),
    Check("topics", Place.CLUSTER, 5, topics.topics,
          "Each topic of [protocol.md](protocol.md) §1: there, partitions, LogAppendTime, cleanup, "
          "compaction lag, retention, size and codec of messages, unclean elections.",
          "one is missing, or differs so that an engine refuses to start"),
    Check("copies", Place.CLUSTER, 5, topics.copies,
          "Leaders, copies in sync and `min.insync.replicas` of each partition; and whose copies "
          "are not in sync.",
          "a partition cannot be written to"),
    Check("lease", Place.CLUSTER, 5, lease.lease,
          "Each lease in conf/ beside what the brokers need to replace one of them, by their own "
          "settings: [running.md](running.md#when-a-broker-falls-silent).",
          "it is not even longer than `broker.session.timeout.ms`"),
    Check("permissions", Place.CLUSTER, 5, permissions.permissions,
          "What this user may do with each topic, and with each group of `--group`, as the brokers "
          "tell it (authorized operations). What others may do cannot be asked.",
          "who `--role` names may not do what it must; without it, the engine"),
    Check("engine", Place.CLUSTER, 7, liveness.engine,
          "The age and generation of the newest tick in the log, wherever the engine runs.",
          "an engine ran, and has been silent for ten ticks"),
    Check("clock", Place.CLUSTER, 7, liveness.clock,
          "This machine's clock beside the brokers', by records that arrive while it looks, and "
          "the brokers' clocks beside each other, by the ticks of one moment. Nothing is written.",
          "a minute apart; or brokers further apart than `group_defaults.margin_ms`"),
    Check("bridge", Place.CLUSTER, 6, liveness.bridge,
          "What each cluster's bridge last said of itself, and whether what was asked of bridges "
          "has an answer, as `fairlead group check --all` finds it; and whether topics have more "
          "queues than their routes tell.",
          "one is dead or cannot see its cluster, a request has waited for ten seconds, or a "
          "topic has grown and no bridge has told it"),
    Check("state", Place.CLUSTER, 7, checkpoint.checkpoint_topics,
          "Whether the checkpoint is whole, and made for this cluster, topics and partitions, "
          "and the log still holds what it reads next. A warning, if an engine ticks and there is "
          "no state here.", "a start would be refused"),
)  # fmt: skip
