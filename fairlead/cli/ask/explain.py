"""``fairlead explain``: who owns a queue and why, with every record behind it checked."""

from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import DataBootstrapOption, GroupArgument
from fairlead.cli.render.output import OutputFormat, warn, write_document
from fairlead.cli.render.queue import queues_text
from fairlead.cli.sources.group_source import source_of_group
from fairlead.cli.sources.reading_note import ReadingNote
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.errors import UsageError, VerdictError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairlead.core.model import MessageQueue
    from fairlead.history.queue_story import QueueStory

__all__ = ["explain", "queues_of"]

QueueOption = Annotated[
    list[str],
    typer.Option(
        "--queue",
        help="topic/broker/3, or topic/3 or 3 where that is unique. Repeatable.",
    ),
]
DepthOption = Annotated[
    int, typer.Option("--depth", min=0, help="Also show this many earlier owners.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Show every owner in the log.")]


@takes_sets
def explain(
    group: GroupArgument,
    *,
    queue: QueueOption,
    depth: DepthOption = 1,
    everything: AllOption = False,
    data_bootstrap: DataBootstrapOption = None,
    shared: SourceOptions,
) -> None:
    """Show who owns a queue, since when, from which position and why, and who owned it before.

    The command fetches every record that a cause names and compares it with the cause. Exit code 1
    if one is another event. It writes nothing. docs/why.md has the details.
    """
    from fairlead.cli.render.story import story_text
    from fairlead.cli.sources.data_places import places_of
    from fairlead.cli.sources.source_options import tick_ms_of
    from fairlead.control.group_names import unknown_group
    from fairlead.history.queue_history import HistoryQuestion, queue_stories
    from fairlead.history.queue_names import UnknownQueueError
    from fairlead.observed.live_group import UnknownGroupError
    from strategies.own_strategies import all_strategies

    settings, source = source_of_group(group, shared)
    asked = HistoryQuestion(
        group,
        queue,
        None if everything else depth,
        all_strategies(settings.engine.strategies),
        tick_ms_of(source, settings),
        settings.serve.history_ms,
        places_of(group, source, settings, shared, data_bootstrap),
    )
    try:
        stories = queue_stories(source, asked, ReadingNote())
    except UnknownGroupError as error:
        raise unknown_group(group, error.known, source.place) from error
    except UnknownQueueError as error:
        raise UsageError(
            f"--queue: {error}.", remedy=f"{group} has {queues_of(error.known)}."
        ) from error
    if shared.output is OutputFormat.TABLE:
        typer.echo("\n\n".join(story_text(story) for story in stories))
    elif shared.output is OutputFormat.JSON:
        write_document([story.to_json() for story in stories], shared.output)
    else:
        for story in stories:
            write_document(story.to_json(), shared.output)
    _judge(stories)


def queues_of(known: "Iterable[MessageQueue]") -> str:
    """Return the queues in words."""
    from fairlead.core.ordering import queue_order

    ordered = sorted(known, key=queue_order)
    return queues_text(ordered, ", ") if ordered else "no queue"


def _judge(stories: "Iterable[QueueStory]") -> None:
    """Fail if a record is not what a cause says.

    Raises:
        VerdictError: so it is.
    """
    from fairlead.history.cause_check import place_of
    from fairlead.history.formatting import at_words

    wrong = {}
    for story in stories:
        if story.newest is None:
            warn(f"{story.group}: the log has no decision of it, or none any more")
        for told in story.disagreements:
            at = place_of(told.cause)
            wrong["" if at is None else at_words(*at)] = told.check.text
    if wrong:
        place, text = next(iter(wrong.items()))
        raise VerdictError(
            f"{len(wrong)} {'record is' if len(wrong) == 1 else 'records are'} not what the "
            f"decisions say, such as {place}: {text}.",
            remedy="Somebody else writes the topics, or they are new topics: `fairlead verify`.",
        )
