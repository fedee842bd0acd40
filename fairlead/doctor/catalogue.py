"""The table of checks. To add a check, add a line; docs/doctor.md comes from this table."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from fairlead.doctor import (
    broker,
    checkpoint,
    endpoints,
    gateway,
    lease,
    liveness,
    machine,
    permissions,
    topics,
)
from fairlead.doctor.answer import Answer
from fairlead.doctor.context import CheckContext

__all__ = ["CHECKS", "Check", "Scope"]


class Scope(StrEnum):
    """What a check examines: this machine or the cluster."""

    MACHINE = "this machine"
    CLUSTER = "the cluster"


class Check(NamedTuple):
    """One check.

    Attributes:
        name: its name in the output.
        scope: what it examines; checks of the cluster run one after another.
        seconds: how long it may take.
        ask: runs it and yields its answers.
        about: what it checks, for docs/doctor.md.
        fails: when it says FAIL, for docs/doctor.md.
    """

    name: str
    scope: Scope
    seconds: float
    ask: Callable[[CheckContext], Iterator[Answer]]
    about: str
    fails: str


CHECKS: Final = (
    Check("settings", Scope.MACHINE, 2, machine.settings,
          "The warnings of `fairlead config check`.",
          "never; wrong settings end the command with exit code 2"),
    Check("java", Scope.MACHINE, 6, machine.java,
          "The Java that `FAIRLEAD_JAVA`, `JAVA_HOME` or the `PATH` names, and its version.",
          "there is none, it does not run, or it is older than 17"),
    Check("heap", Scope.MACHINE, 2, machine.heap,
          "`engine.java_heap` against the memory of the machine or the container.",
          "the heap and 512 MiB for the rest exceed the memory"),
    Check("jars", Scope.MACHINE, 10, machine.jars,
          "Every pinned jar in the cache, by its SHA-256.",
          "a jar of the connector is missing, or any jar has another checksum"),
    Check("archive", Scope.MACHINE, 8, machine.archive,
          "The class-data archive for this Java and these jars.", "never"),
    Check("packages", Scope.MACHINE, 5, machine.packages,
          "Every Python package that Fairlead needs, and its version.",
          "a package is missing or has a wrong version"),
    Check("checkpoint", Scope.MACHINE, 3, checkpoint.checkpoint,
          "Which process uses the folder of `engine.checkpoint`, by the kernel's list of locks, "
          "and whether this user may write to it. A warning if the folder is missing and an engine "
          "answers: that engine uses another folder.",
          "this user may not write to it or create it"),
    Check("engine port", Scope.MACHINE, 5, endpoints.engine_port,
          "`metrics.port` on this machine, and the engine's `/readyz` if it answers there.",
          "another program has the port, or the engine is not ready a minute after its start"),
    Check("serve port", Scope.MACHINE, 5, endpoints.serve_port,
          "`serve.port` on this machine, and the `/readyz` of `fairlead serve` if it answers "
          "there.",
          "another program has the port, or `fairlead serve` is not ready"),
    Check("serve", Scope.MACHINE, 5, endpoints.serve,
          "`fairlead serve` at `serve.url`, where commands ask it.",
          "it answers that it is not ready"),
    Check("gateway", Scope.MACHINE, 2, gateway.gateway,
          "What `[gateway]` needs of this machine: the file of `gateway.key_file`, its length and "
          "who may read it; how many polls fit into a lease; file descriptors for "
          "`gateway.sessions`.",
          "the key is missing, short or open to other users, descriptors do not suffice, or "
          "`--role gateway` and `gateway.enabled` is false"),
    Check("broker", Scope.CLUSTER, 8, broker.broker,
          "Whether the brokers answer and accept the login, their version and number; which are "
          "gone or silent; and whether `kafka.bootstrap` names several.",
          "no broker answers in time, or the brokers refuse the login: exit code 3"),
    Check("topics", Scope.CLUSTER, 5, topics.topics,
          "Each topic of [protocol.md](protocol.md) §1: present, partitions, LogAppendTime, "
          "cleanup, compaction lag, retention, size and codec of messages, unclean elections.",
          "a topic is missing, or differs so that an engine refuses to start"),
    Check("copies", Scope.CLUSTER, 5, topics.copies,
          "Leader, in-sync replicas and `min.insync.replicas` of each partition; and which brokers "
          "are out of sync.",
          "a partition accepts no writes"),
    Check("lease", Scope.CLUSTER, 5, lease.lease,
          "Each lease in the settings against the time that the brokers need to replace one of "
          "them, by their own settings: [running.md](running.md#when-a-broker-falls-silent).",
          "a lease is not longer than `broker.session.timeout.ms`"),
    Check("permissions", Scope.CLUSTER, 5, permissions.permissions,
          "What this user may do with each topic, and with each group of `--group`, as the brokers "
          "report it (authorized operations). The brokers do not report the rights of others.",
          "the role of `--role` (by default the engine) lacks a right"),
    Check("engine", Scope.CLUSTER, 7, liveness.engine,
          "The age and generation of the newest tick in the log, wherever the engine runs.",
          "an engine ran, and has written no tick for ten ticks"),
    Check("clock", Scope.CLUSTER, 7, liveness.clock,
          "This machine's clock against the brokers', by records that arrive during the check, and "
          "the brokers' clocks against each other, by ticks of one moment. It writes nothing.",
          "they are a minute apart, or brokers differ by more than `group_defaults.margin_ms`"),
    Check("bridge", Scope.CLUSTER, 6, liveness.bridge,
          "The last sign of life of each cluster's bridge, requests to bridges without an answer "
          "(as `fairlead group check --all`), and topics with more queues than their routes.",
          "a bridge is dead or cannot see its cluster, a request has waited for ten seconds, or no "
          "bridge has published a topic's new queues"),
    Check("state", Scope.CLUSTER, 7, checkpoint.checkpoint_topics,
          "Whether the checkpoint is whole and made for this cluster, its topics and partitions, "
          "and whether the log still holds what the engine reads next. A warning if an engine "
          "ticks and there is no state here.", "an engine would refuse to start"),
)  # fmt: skip
