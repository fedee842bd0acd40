"""The group that `fairlead plan` starts from: live, recorded, or a document."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from fairlead.cli.documents import read_document
from fairlead.cli.names import require_group
from fairlead.cli.sources.offline_topics import offline_topics, offline_words
from fairlead.cli.sources.source_options import SourceOptions, tick_ms_of
from fairlead.errors import UsageError, VerdictError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.core.allocation import Strategy
    from fairlead.core.model import Epoch
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.last_topics import LastTopics
    from fairlead.observed.live_group import LiveGroup, MovingQueue
    from fairlead.observed.planned_group import PlannedGroup
    from fairlead.planning.changes import Changes
    from fairlead.planning.plan import Plan
    from fairlead.settings import Settings

__all__ = ["Start", "live_group", "read_start", "save"]

_ATTEMPTS_MAX = 5


class Start(NamedTuple):
    """The group, and what its reader has to know."""

    planned: "PlannedGroup"
    passing: "tuple[MovingQueue, ...]" = ()
    remarks: tuple[str, ...] = ()
    epoch: "Epoch | None" = None
    """The epoch of the newest decision, if asked for; None for a document."""
    topics: tuple[str, ...] = ()
    """What a group without members subscribed to when it had some."""


def read_start(
    group: str | None, file: Path | None, shared: SourceOptions, *, measured: bool, dated: bool
) -> Start:
    """Return the named group, or the group of the file.

    Args:
        group: its name, or None.
        file: a document of a group, or None.
        shared: where the topics of a named group are.
        measured: also read what the queues weigh.
        dated: also read the epoch of the group.

    Raises:
        UsageError: both or none are given, or there is no such group.
        EnvironmentMissingError: the topics of a live group cannot be read.
    """
    from strategies.own_strategies import all_strategies

    if group is None and file is None:
        raise UsageError("plan: it needs one group.", remedy="Name a live group, or give --file.")
    if group is not None and file is not None:
        raise UsageError(
            f"--file: the group is that of the file, and {group} is named too.",
            remedy="Leave --file or the name of the group out.",
        )
    settings = shared.settings()
    if file is not None:
        if shared.dump is not None:
            raise UsageError(
                "--dump: the group is that of --file.", remedy="Leave --dump or --file out."
            )
        return Start(_read(file, all_strategies(settings.engine.strategies)))
    assert group is not None, "one of them is given"
    reader = _GroupReader(group, shared.open(settings), settings, measured, shared.dump is not None)
    return reader.read_dated() if dated else reader.read()


def _read(file: Path, strategies: "Mapping[str, Strategy]") -> "PlannedGroup":
    from fairlead.planning.group_file import BadGroupError, read_group
    from fairlead.planning.saved_plan import SAVED_BY

    remedy = f"{SAVED_BY}, or write one as docs/planning.md says."
    try:
        return read_group(read_document(file, "--file", remedy), strategies)
    except BadGroupError as error:
        raise UsageError(f"--file: {file}: {error}.", remedy=remedy) from error


class _GroupReader(NamedTuple):
    """Reads a live group, or a recorded one."""

    group: str
    source: "TopicSource"
    settings: "Settings"
    measured: bool
    recorded: bool

    def read(self) -> Start:
        """Read the group once; `_read_group` has what it raises."""
        from fairlead.kafka.caching_source import CachingSource
        from fairlead.observed.group_notes import plan_notes

        source = CachingSource(self.source)
        live, last = _read_group(self._replace(source=source), whole=self.source)
        remarks = plan_notes(live, source.now_ms())
        if not _is_offline(live):
            return Start(live.planned, live.passing, remarks)
        remarks = (*offline_words(self.group, last), *remarks)
        topics = () if last is None else last.topics
        return Start(live.planned, live.passing, remarks, topics=topics)

    def read_dated(self) -> Start:
        """Read until the group decides nothing meanwhile, so that all is of one epoch.

        Raises:
            VerdictError: the group has decided something during every attempt.
        """
        from fairlead.kafka.decision_log import newest_epoch

        epoch = newest_epoch(self.source, self.group)
        for _ in range(_ATTEMPTS_MAX):
            start, before = self.read(), epoch
            epoch = newest_epoch(self.source, self.group)
            if epoch == before:
                return start._replace(epoch=epoch)
        raise VerdictError(
            f"GROUP: {self.group} keeps deciding (epoch {epoch} now): a plan would be "
            "outdated at once.",
            remedy="Wait until it is calm (fairlead watch shows it), or plan without --save.",
        )


def live_group(group: str, source: "TopicSource", settings: "Settings") -> "LiveGroup":
    """Return a group as its topics tell it; a group that has lost its members is empty.

    Raises:
        UsageError: the group never was, or one of its rules names an unknown strategy: then nobody
            knows what rules beside it would do.
        EnvironmentMissingError: its topics cannot be read.
    """
    reader = _GroupReader(group, source, settings, measured=False, recorded=False)
    live = _read_group(reader, whole=source)[0]
    for refused in live.in_force.refused.values():
        if refused.error.reason == "unknown_strategy":
            raise UsageError(
                f"engine.strategies: a rule of {group} names a strategy that is not known here: "
                f"{refused.error.detail}.",
                remedy="Give --config as to `fairlead run`, so that its own strategies are known; "
                "if the engine rejects the rule too, set a strategy that it has.",
            )
    return live


def _read_group(
    reader: _GroupReader, *, whole: "TopicSource"
) -> "tuple[LiveGroup, LastTopics | None]":
    """Return a group, and what it subscribed to if nobody is in it.

    ``whole``: the topics without a cache, since old decisions may be very many. UsageError: it
    never was; EnvironmentMissingError: its topics cannot be read.
    """
    from fairlead.control.group_names import named_groups, unknown_group
    from fairlead.observed.reading import read_live_group
    from strategies.own_strategies import all_strategies

    group, source, settings, measured, recorded = reader
    require_group(group)
    tick_ms, strategies = tick_ms_of(source, settings), all_strategies(settings.engine.strategies)
    live = read_live_group(source, group, strategies, tick_ms, measured=measured, forgotten=True)
    last = None
    if _is_offline(live):
        last = offline_topics(live, whole, settings, recorded=recorded)
        if last is None and not (live.core.state.members or live.core.state.rules):
            raise unknown_group(group, named_groups(source).names | live.others, source.place)
    return live, last


def _is_offline(live: "LiveGroup") -> bool:
    """Tell whether a group has no members but leaving ones, and waits for nobody."""
    from fairlead.core.membership.members import effective_members

    state = live.core.state
    return not effective_members(state.members) and not state.awaited


def save(start: Start, changes: "Changes", result: "Plan", path: Path) -> None:
    """Write a group and its plan as a document.

    Raises:
        UsageError: the file cannot be written.
    """
    from fairlead.planning.saved_plan import SavedPlan, moves_of, plan_json

    made_ms = time.time_ns() // 1_000_000
    saved = SavedPlan(result.group, start.epoch, made_ms, changes, moves_of(result))
    document = plan_json(start.planned, saved)
    try:
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise UsageError(
            f"--save: {path} cannot be written ({error.strerror}).", remedy="Name another file."
        ) from error
