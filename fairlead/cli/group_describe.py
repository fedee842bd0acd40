"""``fairlead group describe``: how a group stands, its queues, members and state."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.data_places import DataBootstrapOption, data_places
from fairlead.cli.group_work import warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, write_document, write_fitting, write_pairs, write_rows
from fairlead.cli.source_options import SourceOptions
from fairlead.cli.standing_source import standing_from
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.control.native_handback import GroupRelease
    from fairlead.core.model import MessageQueue
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.positions import QueuePosition
    from fairlead.settings import Settings

__all__ = ["describe", "standing_from"]

QueuesFlag = Annotated[
    bool,
    typer.Option("--queues", help="Each queue: who holds it, gives it up, waits for it, gets it."),
]
MembersFlag = Annotated[
    bool, typer.Option("--members", help="Each member: what it says of itself, and what it has.")
]
StateFlag = Annotated[
    bool, typer.Option("--state", help="The group: phase, rules, alarms, newest decision.")
]


@takes_sets
def describe(
    name: flags.GroupArgument,
    *,
    queues: QueuesFlag = False,
    members: MembersFlag = False,
    state: StateFlag = False,
    data_bootstrap: DataBootstrapOption = None,
    shared: SourceOptions,
) -> None:
    """Show how a group stands: state, members, and the owners of each queue side by side.

    Reads topics and writes nothing. A group without members is shown too: where it is, and its lag.
    """
    from fairlead.cli.standing_rows import (
        MEMBER_COLUMNS,
        QUEUE_COLUMNS,
        engine_words,
        member_rows,
        queue_rows,
        shown_columns,
        state_lines,
        state_rules,
    )
    from fairlead.kafka.caching_source import OneLook
    from fairlead.wire.texts import GROUP

    if queues + members + state > 1:
        raise UsageError(
            "--queues, --members, --state: each shows one part.",
            remedy="Give one of them, or none for the whole.",
        )
    if not GROUP.allows(name):
        raise UsageError(f"GROUP: {name!r} is no group.", remedy=f"Give {GROUP.words}.")
    settings = shared.settings()
    source = OneLook(shared.open(settings))
    places = _data_places(name, source, settings, shared, data_bootstrap)
    found = standing_from(name, source, settings, places)
    everything, output = not (queues or members or state), shared.output
    if found.engine.silent and (queues or members):
        warn(engine_words(found))
    if output is OutputFormat.TABLE:
        if everything or state:
            rules = state_rules(found, source.names.name("control"))
            write_pairs(state_lines(found, rules))
        if members or (everything and found.members):
            rows = list(member_rows(found))
            columns = MEMBER_COLUMNS if members else shown_columns(rows, MEMBER_COLUMNS)
            write_fitting(rows, columns, output, prose=("why",))
        if everything or queues:
            rows = list(queue_rows(found))
            columns = QUEUE_COLUMNS if queues else shown_columns(rows, QUEUE_COLUMNS)
            write_fitting(rows, columns, output)
        return
    if queues:
        write_rows([each.to_json() for each in found.queues], (), output)
    elif members:
        write_rows([each.to_json() for each in found.members], (), output)
    else:
        write_document(_document(found, source.names.name("control"), whole=everything), output)


def _document(found: "GroupStanding", control: str, *, whole: bool) -> dict[str, Any]:
    from fairlead.cli.standing_rows import state_rules

    document = found.to_full_json() if whole else found.to_json()
    return {**document, "rules": state_rules(found, control)}


def _release(group: str, source: "TopicSource", settings: "Settings") -> "GroupRelease | None":
    from fairlead.control.native_handback import release_of
    from fairlead.control.rules_in_force import rules_in_force, shard_of_rules
    from strategies.own_strategies import all_strategies

    shards = source.partitions.shards
    rows = source.read("control", [shard_of_rules(group, shards)])
    strategies = all_strategies(settings.engine.strategies)
    return release_of(rules_in_force(rows, group, shards, strategies))


def _data_places(
    group: str,
    source: "TopicSource",
    settings: "Settings",
    shared: SourceOptions,
    data_bootstrap: str | None,
) -> "Mapping[MessageQueue, QueuePosition]":
    if shared.dump is None:
        return data_places(
            group, source, settings.kafka, data_bootstrap, _release(group, source, settings)
        )
    if data_bootstrap is not None:
        raise UsageError(
            "--dump: what was recorded then is not what a cluster holds now.",
            remedy="Leave --dump or --data-bootstrap out.",
        )
    return {}
