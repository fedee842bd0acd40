"""``fairlead moves``: which queues of a group moved, from whom to whom, when and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import GroupArgument
from fairlead.cli.render.output import OutputFormat, warn, write_rows
from fairlead.cli.sources.group_source import no_decision, source_of_group
from fairlead.cli.sources.reading_note import ReadingNote
from fairlead.cli.sources.since import SinceOption, since_ms_of
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairlead.core.model import MessageQueue
    from fairlead.kafka.decision_log import Decisions
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.observed_groups import ObservedGroups

__all__ = ["moves"]

QueueOption = Annotated[
    list[str] | None,
    typer.Option("--queue", help="Only this queue: topic/broker/3, topic/3 or 3. Repeatable."),
]
ClientOption = Annotated[
    list[str] | None,
    typer.Option("--client", help="Only what this client got or lost. Repeatable."),
]


@takes_sets
def moves(
    group: GroupArgument,
    *,
    since: SinceOption = "24h",
    queue: QueueOption = None,
    client: ClientOption = None,
    shared: SourceOptions,
) -> None:
    """List every queue that moved, the newest last: from whom, to whom, when, and why.

    The command writes nothing. In a recording, --since counts back from its newest record.
    docs/why.md has the details.
    """
    from fairlead.cli.render.moves import moves_text
    from fairlead.cli.sources.source_options import tick_ms_of
    from fairlead.history.formatting import time_words
    from fairlead.history.grant_history import grant_history
    from fairlead.history.moves import chosen_moves, decided_moves
    from fairlead.kafka.decision_log import read_decisions
    from fairlead.observed.reading import observe_group
    from strategies.own_strategies import all_strategies

    settings, source = source_of_group(group, shared)
    now_ms = source.now_ms()
    since_ms = since_ms_of(since, now_ms)
    groups = observe_group(
        source,
        group,
        all_strategies(settings.engine.strategies),
        tick_ms_of(source, settings),
        history_ms=now_ms - since_ms,
    )
    read = read_decisions(source, group, since_ms, ReadingNote())
    for each in read.unread:
        warn(f"unreadable decision: {each}")
    if not read.records:
        _require_known(group, source, groups, read)
    if read.kept_since_ms is not None and read.kept_since_ms > since_ms:
        warn(f"decisions before {time_words(read.kept_since_ms)} are not kept any more")
    grants = grant_history(read.audits)
    observed = groups.fold(group)
    grants.settle(observed.shares())
    holds = observed.ownership.queues.items()
    standing = {each: hold.owner.client_id for each, hold in holds if hold.owner is not None}
    decided = decided_moves(grants, standing, since_ms)
    wanted = _queues(queue or (), {*grants.of, *standing}, group)
    shown = chosen_moves(decided, wanted, frozenset(client or ()))
    if shared.output is OutputFormat.TABLE:
        typer.echo(moves_text(group, shown, since_ms, filtered=bool(queue or client)))
    else:
        write_rows([move.to_json() for each in shown for move in each.moves], (), shared.output)


def _require_known(
    group: str, source: "TopicSource", groups: "ObservedGroups", read: "Decisions"
) -> None:
    """Require that the group has decided anything.

    Raises:
        UsageError: nobody knows the group.
        NothingProvedError: the log has none of its decisions.
    """
    from fairlead.control.group_names import unknown_group
    from fairlead.kafka.decision_log import read_decisions

    whole = read_decisions(source, group, None, ReadingNote())
    if whole.records:
        return
    if groups.fold(group).assignments.sets:
        raise no_decision(group, source)
    raise unknown_group(group, groups.other_groups | read.groups | whole.groups, source.place)


def _queues(
    texts: "Sequence[str]", known: "Collection[MessageQueue]", group: str
) -> "frozenset[MessageQueue]":
    from fairlead.cli.ask.explain import queues_of
    from fairlead.history.queue_names import UnknownQueueError, queue_named

    try:
        return frozenset(queue_named(text, known) for text in texts)
    except UnknownQueueError as error:
        raise UsageError(
            f"--queue: {error}.", remedy=f"{group} has {queues_of(error.known)}."
        ) from error
