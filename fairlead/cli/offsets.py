"""``fairlead offsets``: where a group is in its queues, and from where it shall go on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.group_options import WAIT_SECONDS, GroupOptions
from fairlead.cli.group_work import signature, warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import write_rows
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairlead.control.queue_place import QueuePlace
    from fairlead.control.queue_resets import PlannedReset
    from fairlead.core.model import MessageQueue
    from fairlead.core.records import Reset
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.queue_standing import QueueStanding
    from fairlead.settings import KafkaSettings, Settings

app = typer.Typer(no_args_is_help=True, add_completion=False)

ToFlag = Annotated[
    str,
    typer.Option(
        "--to",
        help="earliest, latest, an offset, a time (2026-05-04T10:00:00Z or 1781000000000ms).",
        show_default=False,
    ),
]
NewGroupFlag = Annotated[
    bool, typer.Option("--new-group", help="Also a group that nobody knows: it begins there.")
]
ApplyFlag = Annotated[
    bool, typer.Option("--apply", help="Write the resets; without it they are only shown.")
]


@dataclass(frozen=True)
class QueueOptions:
    """Which queues, and where their messages are."""

    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="All queues of this topic; may be given again."),
    ] = None
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", help="This queue, topic/broker/3; may be given again."),
    ] = None
    data_bootstrap: Annotated[
        str | None,
        typer.Option(
            "--data-bootstrap", help="The cluster with the messages, if it is another one."
        ),
    ] = None

    def places(
        self,
        group: str,
        kafka: "KafkaSettings",
        times: "Sequence[int]" = (),
        *,
        known: bool = False,
        source: "TopicSource | None" = None,
    ) -> "list[QueuePlace]":
        """Return where the group is in these queues; `GroupOffsets` has what it raises.

        ``known``: a group that nobody knows is refused. ``source``: its topics, if they are open.
        """
        import contextlib

        from fairlead.bridges.kafka.data_cluster import DataCluster
        from fairlead.cli.logging_up import secrets_of
        from fairlead.kafka.connection import library_options
        from fairlead.kafka.kafka_source import KafkaSource
        from fairlead.logs import logs_configured
        from fairlead.observed.group_offsets import GroupOffsets

        queues = self._checked(group)
        data = DataCluster(
            self.data_bootstrap or kafka.bootstrap,
            timeout_ms=_LOOK_UP_MS_MAX,
            options=library_options(kafka),
        )
        # Of failed look-ups the data cluster tells the log; rows are all that goes to stdout.
        with contextlib.closing(data), logs_configured(secrets=secrets_of(kafka)):
            places = GroupOffsets(source or KafkaSource(kafka), data, group)
            if known:
                places.require_known()
            return places.places(self.topic or (), queues, times)

    def recorded(
        self, group: str, shared: SourceOptions, settings: "Settings"
    ) -> "tuple[GroupStanding, list[QueueStanding]]":
        """Return how a recorded group stands, and these of its queues.

        Raises:
            UsageError: the group, a topic or a queue is not in the recording, or a cluster is named
                beside it.
        """
        from fairlead.cli.standing_source import standing_from

        queues = self._checked(group)
        if self.data_bootstrap is not None:
            raise UsageError(
                "--dump: what was recorded then is not what a cluster holds now.",
                remedy="Leave --dump or --data-bootstrap out.",
            )
        source = shared.open(settings)
        found = standing_from(group, source, settings)
        there = {each.queue for each in found.queues}
        topics = {queue.topic for queue in there}
        unknown = [each for each in self.topic or () if each not in topics]
        unknown += ["/".join(map(str, each)) for each in queues if each not in there]
        if unknown:
            raise UsageError(
                f"{unknown[0]}: nothing is told of it for {group} {source.place}.",
                remedy=f"Of these topics it is: {', '.join(sorted(topics)) or 'none'}.",
            )
        wanted = self.topic or queues
        return found, [
            each
            for each in found.queues
            if not wanted or each.queue in queues or each.queue.topic in (self.topic or ())
        ]

    def _checked(self, group: str) -> "list[MessageQueue]":
        """Return the queues that are named, each once.

        Raises:
            UsageError: the group, a topic or a queue is no name of one.
        """
        from fairlead.wire.texts import GROUP, TOPIC

        if not GROUP.allows(group):
            raise UsageError(f"GROUP: {group!r} is none.", remedy=f"Give {GROUP.words}.")
        for name in self.topic or ():
            if not TOPIC.allows(name):
                raise UsageError(f"--topic: {name!r} is none.", remedy=f"Give {TOPIC.words}.")
        return list(dict.fromkeys(_queue(text) for text in self.queue or ()))


_LOOK_UP_MS_MAX = 10_000


@app.callback()
def offsets() -> None:
    """Show where a group is in its queues, and let it go on from elsewhere."""


@app.command("show")
@takes_sets
def show_offsets(name: flags.GroupArgument, *, queues: QueueOptions, shared: SourceOptions) -> None:
    """Show the position of each queue of a group, who told it, what it holds, and the lag.

    Of a recording (--dump) what members, bridges and operators had told: the brokers are not asked,
    so ends are as old as whoever told them, and the lag is left open where they are too old.
    """
    from fairlead.cli.offset_rows import PLACE_COLUMNS, place_row, recorded_row

    settings = shared.settings()
    if shared.dump is None:
        # A queue that is named may be looked at before its group begins.
        known = not (queues.topic or queues.queue)
        rows = [place_row(each) for each in queues.places(name, settings.kafka, known=known)]
    else:
        found, chosen = queues.recorded(name, shared, settings)
        rows = [recorded_row(found, each) for each in chosen]
    write_rows(rows, PLACE_COLUMNS, shared.output)


@app.command("reset")
@takes_sets
def reset_offsets(
    name: flags.GroupArgument,
    *,
    to: ToFlag,
    apply: ApplyFlag = False,
    new_group: NewGroupFlag = False,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    wait: flags.WaitFlag = WAIT_SECONDS,
    queues: QueueOptions,
    shared: GroupOptions,
) -> None:
    """Let a group go on from elsewhere: a dry run, unless --apply is given.

    Each queue is dropped where it is and added again, from its new position. Offsets outside what a
    queue holds are brought inside. A group that nobody knows is refused: its name is mistyped, or
    it is to begin there (--new-group). docs/offsets.md has the details.
    """
    from fairlead.cli.offset_rows import RESET_COLUMNS, reset_row, tell_resets
    from fairlead.control.queue_resets import ResetOutcome, plan_resets, write_planned
    from fairlead.control.reset_target import BadTargetError, read_target
    from fairlead.wire.topics import TopicNames

    try:
        target = read_target(to)
    except BadTargetError as error:
        raise UsageError(f"--to: {error.detail}.", remedy=f"{error.remedy}.") from error
    settings = shared.settings()
    places = queues.places(name, settings.kafka, target.timestamps, known=not new_group)
    planned = plan_resets(places, target)
    resets = checked_resets(name, planned, by or signature(), because)
    if apply and resets:
        outcomes = write_planned(settings.kafka, planned, resets, wait)
    else:
        outcomes = [ResetOutcome(each, "not_written") for each in planned]
    control = TopicNames(settings.kafka.topic_prefix).name("control")
    rows = [
        reset_row(outcome, reset, control) for outcome, reset in zip(outcomes, resets, strict=True)
    ]
    write_rows(rows, RESET_COLUMNS, shared.output)
    if not apply:
        warn("a dry run: nothing is written; --apply writes it")
    tell_resets(outcomes, wait)


def _queue(text: str) -> "MessageQueue":
    from fairlead.cli.rule_words import queue_of
    from fairlead.core.model import MessageQueue

    topic, broker_name, queue_id = queue_of("queue", text)
    return MessageQueue(topic, broker_name, int(queue_id))


def checked_resets(
    group: str, planned: "Sequence[PlannedReset]", by: str, because: str | None
) -> "list[Reset]":
    """Return the records, each as the engine reads it.

    Raises:
        UsageError: the engine would refuse one by its form.
    """
    from fairlead.core.records import Reset
    from fairlead.kafka.rule_writer import reset_as_read
    from fairlead.wire.errors import WireError

    checked = []
    for each in planned:
        queue, identity = each.place.queue, each.place.identity
        try:
            checked.append(
                reset_as_read(
                    Reset(group, queue, each.offset, by, because=because, identity=identity)
                )
            )
        except WireError as error:
            raise UsageError(
                f"--{error.field or 'queue'}: {error.detail}.", remedy=f"{error.remedy}."
            ) from error
    return checked
