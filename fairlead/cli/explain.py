"""``fairlead explain``: who has a queue and why, with every record behind it looked at."""

from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.group_source import source_of_group
from fairlead.cli.group_work import warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, queues_text, write_document
from fairlead.cli.reading_note import ReadingNote
from fairlead.cli.source_options import SourceOptions
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
        help="topic/broker/3, or topic/3 or just 3 where that is enough; may be given again.",
    ),
]
DepthOption = Annotated[
    int, typer.Option("--depth", min=0, help="So many owners before the present one are told of.")
]
AllOption = Annotated[
    bool, typer.Option("--all", help="Every owner that the log tells of, however far back.")
]


@takes_sets
def explain(
    group: flags.GroupArgument,
    *,
    queue: QueueOption,
    depth: DepthOption = 1,
    everything: AllOption = False,
    shared: SourceOptions,
) -> None:
    """Tell who has a queue, since when, from which position and why, and who had it before.

    Every record that a cause names is fetched and compared with what the cause says. Exit code 1 if
    one is another event. Reads Fairlead's topics and writes nothing. docs/why.md has the details.
    """
    from fairlead.cli.plan_start import tick_ms_of
    from fairlead.cli.story_text import story_text
    from fairlead.control.group_names import unknown_group
    from fairlead.history.queue_history import HistoryQuestion, queue_stories
    from fairlead.history.queue_names import UnknownQueueError
    from fairlead.observed.live_group import UnknownGroupError
    from strategies.own_strategies import all_strategies

    settings, source = source_of_group(group, shared)
    strategies = all_strategies(settings.engine.strategies)
    tick_ms = tick_ms_of(source, settings)
    asked = HistoryQuestion(group, queue, None if everything else depth, strategies, tick_ms)
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
    """Say which queues there are."""
    from fairlead.core.ordering import queue_order

    ordered = sorted(known, key=queue_order)
    found = queues_text(ordered, ", ")
    return "no queue" if found == "-" else found


def _judge(stories: "Iterable[QueueStory]") -> None:
    """End with the exit code of a check that said no, if a record is not what a cause says."""
    from fairlead.history.cause_check import place_of
    from fairlead.history.formatting import at_words

    wrong = {}
    for story in stories:
        if story.newest is None:
            warn(f"{story.group}: none of its decisions is in the log any more")
        for told in story.disagreements:
            at = place_of(told.cause)
            wrong["" if at is None else at_words(*at)] = told.check.text
    if wrong:
        place, text = next(iter(wrong.items()))
        raise VerdictError(
            f"{len(wrong)} {'record is' if len(wrong) == 1 else 'records are'} not what the "
            f"decisions say, such as {place}: {text}.",
            remedy="Somebody else writes the topics, or they were made anew: `fairlead verify`.",
        )
