"""``fairlead watch``: follow a group on a terminal or as lines."""

import functools
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from fairlead.cli.names import require_group
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import GroupArgument
from fairlead.cli.render.output import OutputFormat, json_text, warn
from fairlead.cli.sources.since import since_ms_of
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.cli.ask.watch_topics import GroupTopics
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.settings import Settings

__all__ = ["GroupWatch", "watch"]

_HISTORY_MS: Final = 3_600_000
"""By default the feed begins with the decisions of the last hour."""
_WHOLE_MS: Final = 1 << 50
"""A history that leaves nothing out."""
_REDRAW_S: Final = 1.0
"""Redraw at least this often: the screen says how old the newest record is."""

_FEED_MAX: Final = 100
_UNDER_WAY: Final = (" draining ", " gated ")
_NOBODY: Final = (" unassigned  ",)
"""States with a colour; NO_COLOR turns colours off."""

ForOption = Annotated[
    float | None,
    typer.Option(
        "--for", metavar="SECONDS", min=0, help="End after this many seconds.", show_default=False
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        help="Begin this long ago (30m, 1h, 2d), or at a time: 2026-11-23T01:00Z.",
        show_default="now; with --dump: the first decision",
    ),
]


@takes_sets
def watch(
    name: GroupArgument,
    *,
    seconds: ForOption = None,
    since: SinceOption = None,
    shared: SourceOptions,
) -> None:
    """Follow a group: state, queues, and each decision with its reasons.

    On a terminal the command redraws one screen. Elsewhere it writes a line for each decision from
    now on; -o jsonl writes whole records. Ctrl-C ends it. Of a recording it writes each decision.
    """
    from fairlead.cli.ask.watch_topics import GroupTopics
    from fairlead.cli.interruption import stop_on_signals

    require_group(name)
    if shared.output is OutputFormat.JSON:
        raise UsageError(
            "--output: watch writes one decision after the other, and no single JSON document.",
            remedy="Give -o jsonl: one JSON object on each line.",
        )
    settings, whole = shared.settings(), shared.output is OutputFormat.JSONL
    if shared.dump is not None:
        _print_recorded(shared.open(settings), name, since, whole=whole)
        return
    now_ms = time.time_ns() // 1_000_000
    since_ms = now_ms if since is None else since_ms_of(since, now_ms)
    history_ms = max(now_ms - since_ms, _HISTORY_MS)
    topics = GroupTopics(settings.kafka, name, history_ms)
    followed = GroupWatch(name, topics, settings, history_ms, stop_on_signals())
    unknown = functools.partial(_unknown_note, name, settings)
    until = None if seconds is None else time.monotonic() + seconds
    on_screen = shared.output is OutputFormat.TABLE and sys.stdout.isatty()
    if on_screen and os.environ.get("TERM") != "dumb":
        _draw(followed, until, unknown)
    else:
        _print_decisions(followed, until, None if since is None else since_ms, unknown, whole=whole)


def _unknown_note(name: str, settings: "Settings") -> str:
    """Return that nobody knows the group, and the nearest names; "" if it is known."""
    from fairlead.kafka.kafka_source import KafkaSource
    from fairlead.operating.presence import require_known
    from strategies.own_strategies import all_strategies

    strategies = all_strategies(settings.engine.strategies)
    try:
        require_known(name, KafkaSource(settings.kafka), strategies, settings.engine.tick_ms)
    except UsageError as error:
        reason = error.message.removeprefix("GROUP: ").rstrip(".")
        return f"{reason} ({error.remedy.partition(';')[0].rstrip('.')})"
    return ""


class GroupWatch:
    """A group, kept up to date by its records."""

    def __init__(
        self,
        group: str,
        topics: "GroupTopics",
        settings: "Settings",
        history_ms: int,
        stop: threading.Event,
    ) -> None:
        """Begin empty.

        Ctrl-C sets ``stop``. As an exception it would interrupt the Kafka library, which then
        complains of unfinished work.

        Args:
            group: its name.
            topics: the source of its records.
            settings: the settings of the engine.
            history_ms: how old decisions may be.
            stop: ends the watch between two polls.
        """
        from fairlead.observed.observed_groups import ObservedGroups
        from strategies.own_strategies import all_strategies

        self.group = group
        self._topics = topics
        self._stop = stop
        self._view: ObservedGroups = ObservedGroups(
            topics.names,
            topics.partitions,
            history_ms,
            tick_ms=settings.engine.tick_ms,
            strategies=all_strategies(settings.engine.strategies),
            only=group,
        )
        self._newest_offset = -1
        self.newest_ms = 0

    def changes(self) -> Iterator[tuple[bool, list[dict[str, Any]]]]:
        """Yield whether records came, and the new decisions, as whole records.

        The first are the decisions in the topics at the start, once all topics are read.
        """
        for rows, caught_up in self._topics.follow():
            if self._stop.is_set():
                return
            self._view.apply(rows)
            self.newest_ms = max([self.newest_ms, *(row.append_ms for row in rows)])
            if caught_up:
                yield bool(rows), self._new_decisions()

    def snapshot(self) -> "GroupStanding | None":
        """Return the group as it is now; None: it has no record."""
        return self._view.group(self.group)

    def _new_decisions(self) -> list[dict[str, Any]]:
        new = [
            each
            for each in self._view.decisions(self.group) or ()
            if each.place.offset > self._newest_offset
        ]
        if new:
            self._newest_offset = new[-1].place.offset
        return [each.to_json() for each in new]


def _print_decisions(
    followed: GroupWatch,
    until: float | None,
    since_ms: int | None,
    unknown: Callable[[], str],
    *,
    whole: bool,
) -> None:
    """Write a line for each decision since a time; None: from now on."""
    begun = False
    for _, decisions in followed.changes():
        if not begun:
            if followed.snapshot() is None and (note := unknown()):
                warn(f"{note}; showing what the engine decides of it from now on")
            typer.echo(f"watching {followed.group}", err=True)
        shown = decisions if begun else [each for each in decisions if _is_since(each, since_ms)]
        _write(shown, whole=whole)
        begun = True
        if until is not None and time.monotonic() >= until:
            return


def _print_recorded(source: "TopicSource", group: str, since: str | None, *, whole: bool) -> None:
    """Write a line for each decision of a recording."""
    from fairlead.cli.sources.group_source import no_decision
    from fairlead.control.group_names import named_groups, unknown_group
    from fairlead.observed.observed_groups import ObservedGroups

    view = ObservedGroups(source.names, source.partitions, _WHOLE_MS, only=group)
    view.apply(source.read("decisions", source.partitions_of("decisions")))
    decisions = [each.to_json() for each in view.decisions(group) or ()]
    if not decisions:
        known = named_groups(source)
        if known.has(group):
            raise no_decision(group, source)
        raise unknown_group(group, known.names, source.place)
    since_ms = 0 if since is None else since_ms_of(since, source.now_ms())
    _write([each for each in decisions if _is_since(each, since_ms)], whole=whole)


def _is_since(decision: dict[str, Any], since_ms: int | None) -> bool:
    return since_ms is not None and bool(decision["append_ms"] >= since_ms)


def _write(decisions: list[dict[str, Any]], *, whole: bool) -> None:
    from fairlead.cli.render.decision import decision_line

    for each in decisions:
        typer.echo(json_text(each) if whole else decision_line(each))


def _draw(followed: GroupWatch, until: float | None, unknown: Callable[[], str]) -> None:
    """Redraw the screen whenever records come, and once a second."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from fairlead.cli.render.watch_screen import Moment, screen_lines

    feed: list[dict[str, Any]] = []
    drawn, note = 0.0, None
    with Live(console=Console(highlight=False), screen=True, auto_refresh=False) as live:
        live.update(Text(f"{followed.group}: reading the topics…"), refresh=True)
        for came, decisions in followed.changes():
            feed = [*feed, *decisions][-_FEED_MAX:]
            now = time.monotonic()
            if came or now - drawn > _REDRAW_S:
                now_ms = time.time_ns() // 1_000_000
                group = followed.snapshot()
                if note is None:
                    note = unknown() if group is None else ""
                moment = Moment(now_ms, followed.newest_ms, note)
                columns, lines = shutil.get_terminal_size()
                shown = screen_lines(followed.group, group, feed, moment, (columns, lines))
                screen = Text("\n".join(shown), no_wrap=True)
                screen.highlight_words(_UNDER_WAY, "yellow")
                screen.highlight_words(_NOBODY, "red")
                live.update(screen, refresh=True)
                drawn = now
            if until is not None and now >= until:
                return
