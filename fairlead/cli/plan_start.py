"""The group that `fairlead plan` starts from: a live one, or a document."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from fairlead.cli.documents import read_document
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import UsageError, VerdictError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairlead.core.allocation import Strategy
    from fairlead.local.decisions import Epoch
    from fairlead.planning.changes import Changes
    from fairlead.planning.live_group import LiveGroup
    from fairlead.planning.picture import Picture
    from fairlead.planning.plan import Passing, Plan
    from fairlead.settings import Settings
    from fairlead.sources.topic_source import TopicSource

__all__ = ["Start", "live_group", "save", "start_of", "tick_ms_of", "unknown_group"]

_GROUPS_NAMED_MAX = 10
"""More would hide what the message says."""


_LOOKS_MAX = 5


class Start(NamedTuple):
    """The group, and what is to be said of it."""

    picture: "Picture"
    passing: "tuple[Passing, ...]" = ()
    remarks: tuple[str, ...] = ()
    epoch: "Epoch | None" = None
    """Of the group's newest decision, if it was asked for and the group is no document."""


def start_of(
    group: str | None, file: Path | None, shared: SourceOptions, *, measured: bool, dated: bool
) -> Start:
    """Return the group that is named, or that of the file.

    ``shared``: where the topics of a named group are.
    ``measured``: what the queues of a live group weigh is found out in any case. ``dated``: the
    epoch at which a group of topics is so is found out too.

    Raises:
        UsageError: not one of the two is given, or there is no such group.
        EnvironmentMissingError: the topics of a live group cannot be read.
    """
    from streaming.own_strategies import all_strategies

    if (group is None) == (file is None):
        raise UsageError("plan: it is of one group.", remedy="Name a live group, or give --file.")
    settings = shared.settings()
    if file is not None:
        if shared.dump is not None:
            raise UsageError(
                "--dump: the group is that of --file.", remedy="Leave --dump or --file out."
            )
        return Start(_read(file, all_strategies(settings.engine.strategies)))
    assert group is not None, "one of the two is given"
    source = shared.open(settings)
    if not dated:
        return _look_at(group, source, settings, measured=measured)
    return _look_dated(group, source, settings, measured=measured)


def _read(file: Path, strategies: "Mapping[str, Strategy]") -> "Picture":
    from fairlead.planning.group_file import BadGroupError, read_group

    try:
        return read_group(read_document(file, "--file"), strategies)
    except BadGroupError as error:
        raise UsageError(f"--file: {error}.", remedy="See docs/planning.md.") from error


def _look_at(group: str, source: "TopicSource", settings: "Settings", *, measured: bool) -> Start:
    from fairlead.planning.remarks import remarks_on

    live = live_group(group, source, settings, measured=measured)
    remarks = remarks_on(live, tick_ms_of(source, settings), source.now_ms())
    return Start(live.picture, live.passing, remarks)


def tick_ms_of(source: "TopicSource", settings: "Settings") -> int:
    """Return the period of the engine's ticks."""
    return source.tick_ms or settings.engine.tick_ms


def _look_dated(
    group: str, source: "TopicSource", settings: "Settings", *, measured: bool
) -> Start:
    """Look at a group until it decides nothing meanwhile: else it would be of two epochs.

    Raises:
        VerdictError: it has decided something at each look.
    """
    from fairlead.planning.decision_log import newest_epoch

    epoch = newest_epoch(source, group)
    for _ in range(_LOOKS_MAX):
        start, before = _look_at(group, source, settings, measured=measured), epoch
        epoch = newest_epoch(source, group)
        if epoch == before:
            return start._replace(epoch=epoch)
    raise VerdictError(
        f"GROUP: {group} decides again and again (epoch {epoch} now): a plan would be old at once.",
        remedy="Wait until it is calm (fairlead watch shows it), or plan without --save.",
    )


def live_group(
    group: str, source: "TopicSource", settings: "Settings", *, measured: bool = False
) -> "LiveGroup":
    """Return a group as its topics say it is at their end.

    Raises:
        UsageError: there is no such group, or it needs a strategy that is not known here.
        EnvironmentMissingError: its topics cannot be read.
    """
    from fairlead.planning.live_group import UnknownGroupError, read_live_group
    from fairlead.wire.texts import GROUP
    from streaming.own_strategies import all_strategies

    if not GROUP.allows(group):
        raise UsageError(f"GROUP: {group!r} is no group.", remedy=f"Give {GROUP.words}.")
    tick_ms, strategies = tick_ms_of(source, settings), all_strategies(settings.engine.strategies)
    try:
        live = read_live_group(source, group, strategies, tick_ms, measured=measured)
    except UnknownGroupError as error:
        raise unknown_group(group, error.known, source) from error
    for refused in live.in_force.refused.values():
        if refused.error.reason == "unknown_strategy":
            raise UsageError(
                f"engine.strategies: a rule of {group} names one that is not known here: "
                f"{refused.error.detail}.",
                remedy="Give --config as to `fairlead run`, so that its own strategies are known.",
            )
    return live


def unknown_group(group: str, known: "Iterable[str]", source: "TopicSource") -> UsageError:
    """Return the refusal of a group of which no record is there, with the names that there are."""
    from fairlead.control.known_groups import nearest_groups

    names = sorted(known)
    few = "Groups: " + (", ".join(names) or "none")
    many = f"Of {len(names)} groups the nearest are {', '.join(nearest_groups(group, names))}"
    return UsageError(
        f"GROUP: there is no group {group} {source.place}.",
        remedy="Check the name, kafka.bootstrap and kafka.topic_prefix. "
        f"{few if len(names) <= _GROUPS_NAMED_MAX else many}.",
    )


def save(start: Start, changes: "Changes", found: "Plan", path: Path) -> None:
    """Write a group, and what was planned of it, as a document.

    Raises:
        UsageError: the file cannot be written.
    """
    from fairlead.planning.saved_plan import SavedPlan, moves_of, plan_document

    made_ms = time.time_ns() // 1_000_000
    saved = SavedPlan(found.group, start.epoch, made_ms, changes, moves_of(found))
    document = plan_document(start.picture, saved)
    try:
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise UsageError(
            f"--save: {path} cannot be written ({error.strerror}).", remedy="Name another file."
        ) from error
