"""The group that `fairlead plan` starts from: a live one, or a document."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from fairlead.cli.documents import read_document
from fairlead.cli.offline_topics import offline_topics, offline_words
from fairlead.cli.source_options import SourceOptions
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

__all__ = ["Start", "live_group", "save", "start_of", "tick_ms_of"]

_LOOKS_MAX = 5


class Start(NamedTuple):
    """The group, and what is to be said of it."""

    planned: "PlannedGroup"
    passing: "tuple[MovingQueue, ...]" = ()
    remarks: tuple[str, ...] = ()
    epoch: "Epoch | None" = None
    """Of the group's newest decision, if it was asked for and the group is no document."""
    topics: tuple[str, ...] = ()
    """What a group without members subscribed to when it had some; else its members say it."""


def start_of(
    group: str | None, file: Path | None, shared: SourceOptions, *, measured: bool, dated: bool
) -> Start:
    """Return the group that is named, or that of the file.

    ``shared``: where the topics of a named group are.
    ``measured``: what the queues of a live group weigh is found out in any case. ``dated``: the
    epoch at which a group of topics is so is found out too.

    Raises:
        UsageError: not one of the two is given, or there is and was no such group.
        EnvironmentMissingError: the topics of a live group cannot be read.
    """
    from strategies.own_strategies import all_strategies

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
    looker = _Looker(group, shared.open(settings), settings, measured, shared.dump is not None)
    return looker.look_dated() if dated else looker.look()


def _read(file: Path, strategies: "Mapping[str, Strategy]") -> "PlannedGroup":
    from fairlead.planning.group_file import BadGroupError, read_group

    try:
        return read_group(read_document(file, "--file"), strategies)
    except BadGroupError as error:
        raise UsageError(f"--file: {error}.", remedy="See docs/planning.md.") from error


class _Looker(NamedTuple):
    """Looks at a live group, or at one of a recording."""

    group: str
    source: "TopicSource"
    settings: "Settings"
    measured: bool
    recorded: bool

    def look(self) -> Start:
        """Look once.

        Raises:
            UsageError, EnvironmentMissingError: as `live_group`.
        """
        from fairlead.kafka.caching_source import OneLook
        from fairlead.observed.group_notes import plan_notes

        source = OneLook(self.source)
        live, last = _read_group(self._replace(source=source), whole=self.source)
        remarks = plan_notes(live, source.now_ms())
        if not _is_offline(live):
            return Start(live.planned, live.passing, remarks)
        remarks = (*offline_words(self.group, last), *remarks)
        topics = () if last is None else last.topics
        return Start(live.planned, live.passing, remarks, topics=topics)

    def look_dated(self) -> Start:
        """Look until the group decides nothing meanwhile: else it would be of two epochs.

        Raises:
            VerdictError: it has decided something at each look.
        """
        from fairlead.kafka.decision_log import newest_epoch

        epoch = newest_epoch(self.source, self.group)
        for _ in range(_LOOKS_MAX):
            start, before = self.look(), epoch
            epoch = newest_epoch(self.source, self.group)
            if epoch == before:
                return start._replace(epoch=epoch)
        raise VerdictError(
            f"GROUP: {self.group} decides again and again (epoch {epoch} now): a plan would be old "
            "at once.",
            remedy="Wait until it is calm (fairlead watch shows it), or plan without --save.",
        )


def tick_ms_of(source: "TopicSource", settings: "Settings") -> int:
    """Return the period of the engine's ticks."""
    return source.tick_ms or settings.engine.tick_ms


def live_group(group: str, source: "TopicSource", settings: "Settings") -> "LiveGroup":
    """Return a group as its topics say it is at their end; one that had members once is empty.

    Raises:
        UsageError: there is no such group, and was none, or it needs a strategy that is not known.
        EnvironmentMissingError: its topics cannot be read.
    """
    looker = _Looker(group, source, settings, measured=False, recorded=False)
    return _read_group(looker, whole=source)[0]


def _read_group(asked: _Looker, *, whole: "TopicSource") -> "tuple[LiveGroup, LastTopics | None]":
    """Return a group, and if nobody is in it what it subscribed to.

    ``whole``: the topics, without memory: of old decisions there may be very many. `live_group` has
    what it raises.
    """
    from fairlead.control.group_names import named_groups, unknown_group
    from fairlead.observed.reading import read_live_group
    from fairlead.wire.texts import GROUP
    from strategies.own_strategies import all_strategies

    group, source, settings, measured, recorded = asked
    if not GROUP.allows(group):
        raise UsageError(f"GROUP: {group!r} is no group.", remedy=f"Give {GROUP.words}.")
    tick_ms, strategies = tick_ms_of(source, settings), all_strategies(settings.engine.strategies)
    live = read_live_group(source, group, strategies, tick_ms, measured=measured, forgotten=True)
    last = None
    if _is_offline(live):
        last = offline_topics(live, whole, settings, recorded=recorded)
        if last is None and not (live.core.state.members or live.core.state.rules):
            raise unknown_group(group, named_groups(source) | live.others, source.place)
    for refused in live.in_force.refused.values():
        if refused.error.reason == "unknown_strategy":
            raise UsageError(
                f"engine.strategies: a rule of {group} names one that is not known here: "
                f"{refused.error.detail}.",
                remedy="Give --config as to `fairlead run`, so that its own strategies are known.",
            )
    return live, last


def _is_offline(live: "LiveGroup") -> bool:
    """Whether nobody is in a group but who leaves it, and nobody is waited for."""
    from fairlead.core.membership import effective_members

    state = live.core.state
    return not effective_members(state.members) and not state.awaited


def save(start: Start, changes: "Changes", found: "Plan", path: Path) -> None:
    """Write a group, and what was planned of it, as a document.

    Raises:
        UsageError: the file cannot be written.
    """
    from fairlead.planning.saved_plan import SavedPlan, moves_of, plan_json

    made_ms = time.time_ns() // 1_000_000
    saved = SavedPlan(found.group, start.epoch, made_ms, changes, moves_of(found))
    document = plan_json(start.planned, saved)
    try:
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise UsageError(
            f"--save: {path} cannot be written ({error.strerror}).", remedy="Name another file."
        ) from error
