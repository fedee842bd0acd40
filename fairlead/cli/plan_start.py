"""The group that `fairlead plan` starts from: a live one, or a document."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from fairlead.cli.documents import read_document
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.core.allocation import Strategy
    from fairlead.planning.kafka_source import KafkaSource
    from fairlead.planning.live_group import LiveGroup
    from fairlead.planning.picture import Picture
    from fairlead.planning.plan import Passing
    from fairlead.settings import Settings

__all__ = ["Start", "live_group", "save", "start_of"]


class Start(NamedTuple):
    """The group, and what is to be said of it."""

    picture: "Picture"
    passing: "tuple[Passing, ...]" = ()
    remarks: tuple[str, ...] = ()


def start_of(
    group: str | None, file: Path | None, settings: "Settings", *, measured: bool
) -> Start:
    """Return the group that is named, or that of the file.

    ``measured``: what the queues of a live group weigh is found out in any case.

    Raises:
        UsageError: not one of the two is given, or there is no such group.
        EnvironmentMissingError: the topics of a live group cannot be read.
    """
    from streaming.own_strategies import all_strategies

    if (group is None) == (file is None):
        raise UsageError("plan: it is of one group.", remedy="Name a live group, or give --file.")
    if file is not None:
        return Start(_read(file, all_strategies(settings.engine.strategies)))
    assert group is not None, "one of the two is given"
    return _look_at(group, settings, measured=measured)


def _read(file: Path, strategies: "Mapping[str, Strategy]") -> "Picture":
    from fairlead.planning.group_file import BadGroupError, read_group

    try:
        return read_group(read_document(file, "--file"), strategies)
    except BadGroupError as error:
        raise UsageError(f"--file: {error}.", remedy="See docs/planning.md.") from error


def _look_at(group: str, settings: "Settings", *, measured: bool) -> Start:
    from fairlead.planning.remarks import remarks_on

    _, live = live_group(group, settings, measured=measured)
    now_ms = time.time_ns() // 1_000_000
    remarks = remarks_on(live, settings.engine.tick_ms, now_ms)
    return Start(live.picture, live.passing, remarks)


def live_group(
    group: str, settings: "Settings", *, measured: bool = False
) -> "tuple[KafkaSource, LiveGroup]":
    """Return a live group, and where it was read from.

    Raises:
        UsageError: there is no such group, or it needs a strategy that is not known here.
        EnvironmentMissingError: its topics cannot be read.
    """
    from fairlead.planning.kafka_source import KafkaSource
    from fairlead.planning.live_group import UnknownGroupError, read_live_group
    from fairlead.wire.texts import GROUP
    from streaming.own_strategies import all_strategies

    if not GROUP.allows(group):
        raise UsageError(f"GROUP: {group!r} is no group.", remedy=f"Give {GROUP.words}.")
    tick_ms, strategies = settings.engine.tick_ms, all_strategies(settings.engine.strategies)
    try:
        source = KafkaSource(settings.kafka)
        live = read_live_group(source, group, strategies, tick_ms, measured=measured)
    except UnknownGroupError as error:
        known = ", ".join(sorted(error.known)) or "none"
        raise UsageError(
            f"GROUP: there is no group {group} at {settings.kafka.bootstrap}, "
            f"topics {settings.kafka.topic_prefix}….",
            remedy=f"Check the name, kafka.bootstrap and kafka.topic_prefix. Groups: {known}.",
        ) from error
    for refused in live.in_force.refused.values():
        if refused.error.reason == "unknown_strategy":
            raise UsageError(
                f"engine.strategies: a rule of {group} names one that is not known here: "
                f"{refused.error.detail}.",
                remedy="Give --config as to `fairlead run`, so that its own strategies are known.",
            )
    return source, live


def save(picture: "Picture", path: Path) -> None:
    """Write a group as a document.

    Raises:
        UsageError: the file cannot be written.
    """
    from fairlead.planning.group_file import group_document

    try:
        path.write_bytes(orjson.dumps(group_document(picture), option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise UsageError(
            f"--save: {path} cannot be written ({error.strerror}).", remedy="Name another file."
        ) from error
