"""``fairlead watch``: a group as it changes, on a terminal or as lines."""

import functools
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.group_work import warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, json_text
from fairlead.cli.since import since_ms_of
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.cli.watch_topics import GroupTopics
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.settings import Settings

__all__ = ["GroupWatch", "watch"]

_HISTORY_MS: Final = 3_600_000
"""Decisions of the last hour are the beginning of the feed, if nothing else is asked for."""
_WHOLE_MS: Final = 1 << 50
"""As a history, it leaves nothing out."""
_REDRAW_S: Final = 1.0
"""The screen is drawn again so often at least: it says how long ago something came."""

_FEED_MAX: Final = 100
_UNDER_WAY: Final = (" draining ", " gated ")
_NOBODY: Final = (" unassigned  ",)
"""Of the states in the table; colours are left out where NO_COLOR is set."""

ForOption = Annotated[
    float | None,
    typer.Option("--for", metavar="SECONDS", min=0, help="End after so long.", show_default=False),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        help="Begin so long ago (30m, 1h, 2d), or at a time: 2026-11-23T01:00Z.",
        show_default="now; with --dump: the first decision",
    ),
]


@takes_sets
def watch(
    name: flags.GroupArgument,
    *,
    seconds: ForOption = None,
    since: SinceOption = None,
    shared: SourceOptions,
) -> None:
    """Show a group as it changes: state, queues, and each decision with its reasons.

    On a terminal one screen that is drawn again; else a line for each decision from now on, with
    -o jsonl its whole record. Ctrl-C ends it. Of a recording: a line for each of its decisions.
    """
    from fairlead.cli.interruption import stop_on_signals
    from fairlead.cli.watch_topics import GroupTopics
    from fairlead.wire.texts import GROUP

    if not GROUP.allows(name):
        raise UsageError(f"GROUP: {name!r} is no group.", remedy=f"Give {GROUP.words}.")
    if shared.output is OutputFormat.JSON:
        raise UsageError(
            "--output: a watch has no end, so it is no one document.", remedy="Give -o jsonl."
        )
    settings, whole = shared.settings(), shared.output is OutputFormat.JSONL
    if shared.dump is not None:
        _tell_again(shared.open(settings), name, since, whole=whole)
        return
    now_ms = time.time_ns() // 1_000_000
    since_ms = now_ms if since is None else since_ms_of(since, now_ms)
    history_ms = max(now_ms - since_ms, _HISTORY_MS)
    topics = GroupTopics(settings.kafka, name, history_ms)
    followed = GroupWatch(name, topics, settings, history_ms, stop_on_signals())
    strange = functools.partial(_strange, name, settings)
    until = None if seconds is None else time.monotonic() + seconds
    on_screen = shared.output is OutputFormat.TABLE and sys.stdout.isatty()
    if on_screen and os.environ.get("TERM") != "dumb":
        _draw(followed, until, strange)
    else:
        _tell(followed, until, None if since is None else since_ms, strange, whole=whole)


def _strange(name: str, settings: "Settings") -> str:
    """Return that nobody knows the group, and which are nearest; "" where it is known."""
    from fairlead.cli.presence import require_known
    from fairlead.kafka.kafka_source import KafkaSource
    from strategies.own_strategies import all_strategies

    strategies = all_strategies(settings.engine.strategies)
    try:
        require_known(name, KafkaSource(settings.kafka), strategies, settings.engine.tick_ms)
    except UsageError as error:
        told = error.message.removeprefix("GROUP: ").rstrip(".")
        return f"{told} ({error.remedy.partition(';')[0].rstrip('.')})"
    return ""


class GroupWatch:
    """A group, kept up to date by the records that come."""

    def __init__(
        self,
        group: str,
        topics: "GroupTopics",
        settings: "Settings",
        history_ms: int,
        stop: threading.Event,
    ) -> None:
        """Begin with nothing; ``stop`` is looked at between two polls.

        To end it is what Ctrl-C is for here. As an exception it would fall into the middle of the
        Kafka library, which then complains of what it left half done.

        Args:
            group: its name.
            topics: where its records come from.
            settings: what the engine runs under.
            history_ms: so old may decisions be.
            stop: ends it.
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
        self._told = -1
        self.newest_ms = 0

    def changes(self) -> Iterator[tuple[bool, list[dict[str, Any]]]]:
        """Yield whether anything came, and the decisions that are new, as whole records.

        The first are those that stood in the topics, when all of them was read.
        """
        for rows, caught_up in self._topics.follow():
            if self._stop.is_set():
                return
            self._view.apply(rows)
            self.newest_ms = max([self.newest_ms, *(row.append_ms for row in rows)])
            if caught_up:
                yield bool(rows), self._new_decisions()

    def look(self) -> "GroupStanding | None":
        """Return the group; None: no record is of it."""
        return self._view.group(self.group)

    def _new_decisions(self) -> list[dict[str, Any]]:
        found = [
            each
            for each in self._view.decisions(self.group) or ()
            if each.place.offset > self._told
        ]
        if found:
            self._told = found[-1].place.offset
        return [each.to_json() for each in found]


def _tell(
    followed: GroupWatch,
    until: float | None,
    since_ms: int | None,
    strange: Callable[[], str],
    *,
    whole: bool,
) -> None:
    """Write a line for each decision from a time on; None: from now on."""
    begun = False
    for _, decisions in followed.changes():
        if not begun:
            if followed.look() is None and (told_of := strange()):
                warn(f"{told_of}; what is decided of it from now on is shown")
            typer.echo(f"watching {followed.group}", err=True)
        told = decisions if begun else [each for each in decisions if _is_since(each, since_ms)]
        _write(told, whole=whole)
        begun = True
        if until is not None and time.monotonic() >= until:
            return


def _tell_again(source: "TopicSource", group: str, since: str | None, *, whole: bool) -> None:
    """Write a line for each decision of a recording, as a watch would have at its time."""
    from fairlead.cli.group_source import no_decision
    from fairlead.control.group_names import named_groups, unknown_group
    from fairlead.observed.observed_groups import ObservedGroups

    view = ObservedGroups(source.names, source.partitions, _WHOLE_MS, only=group)
    view.apply(source.read("decisions", source.partitions_of("decisions")))
    decisions = [each.to_json() for each in view.decisions(group) or ()]
    if not decisions:
        known = named_groups(source)
        if group in known:
            raise no_decision(group, source)
        raise unknown_group(group, known | view.other_groups, source.place)
    since_ms = 0 if since is None else since_ms_of(since, source.now_ms())
    _write([each for each in decisions if _is_since(each, since_ms)], whole=whole)


def _is_since(decision: dict[str, Any], since_ms: int | None) -> bool:
    return since_ms is not None and bool(decision["append_ms"] >= since_ms)


def _write(decisions: list[dict[str, Any]], *, whole: bool) -> None:
    from fairlead.cli.watch_screen import decision_line

    for each in decisions:
        typer.echo(json_text(each) if whole else decision_line(each))


def _draw(followed: GroupWatch, until: float | None, strange: Callable[[], str]) -> None:
    """Draw the screen whenever something has come, and once a second."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from fairlead.cli.watch_screen import Moment, screen_lines

    feed: list[dict[str, Any]] = []
    drawn, told_of = 0.0, None
    with Live(console=Console(highlight=False), screen=True, auto_refresh=False) as live:
        live.update(Text(f"{followed.group}: reading the topics…"), refresh=True)
        for came, decisions in followed.changes():
            feed = [*feed, *decisions][-_FEED_MAX:]
            now = time.monotonic()
            if came or now - drawn > _REDRAW_S:
                now_ms = time.time_ns() // 1_000_000
                found = followed.look()
                if told_of is None:
                    told_of = strange() if found is None else ""
                moment = Moment(now_ms, followed.newest_ms, told_of)
                columns, lines = shutil.get_terminal_size()
                shown = screen_lines(followed.group, found, feed, moment, (columns, lines))
                screen = Text("\n".join(shown), no_wrap=True)
                screen.highlight_words(_UNDER_WAY, "yellow")
                screen.highlight_words(_NOBODY, "red")
                live.update(screen, refresh=True)
                drawn = now
            if until is not None and now >= until:
                return
