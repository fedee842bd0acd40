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
    from fairlead.planning.picture import Picture
    from fairlead.planning.plan import Passing
    from fairlead.settings import Settings

__all__ = ["Start", "save", "start_of"]


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
    strategies = all_strategies(settings.engine.strategies)
    if file is not None:
        return Start(_read(file, strategies))
    assert group is not None, "one of the two is given"
    return _look_at(group, settings, strategies, measured=measured)


def _read(file: Path, strategies: "Mapping[str, Strategy]") -> "Picture":
    from fairlead.planning.group_file import BadGroupError, read_group

    try:
        return read_group(read_document(file, "--file"), strategies)
    except BadGroupError as error:
        raise UsageError(f"--file: {error}.", remedy="See docs/planning.md.") from error


def _look_at(
    group: str, settings: "Settings", strategies: "Mapping[str, Strategy]", *, measured: bool
) -> Start:
    from fairlead.planning.kafka_source import KafkaSource
    from fairlead.planning.live_group import UnknownGroupError, read_live_group
    from fairlead.planning.remarks import remarks_on
    from fairlead.wire.texts import GROUP

    if not GROUP.allows(group):
        raise UsageError(f"GROUP: {group!r} is no group.", remedy=f"Give {GROUP.words}.")
    tick_ms = settings.engine.tick_ms
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
    now_ms = time.time_ns() // 1_000_000
    return Start(live.picture, live.passing, remarks_on(live, tick_ms, now_ms))


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
