"""``fairlead route``: publish, show and delete the route of a topic."""

import sys
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import OutputFormat, warn, write_objects
from fairlead.errors import UsageError, VerdictError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairlead.control.offset_answers import OffsetAnswers
    from fairlead.core.model import Route
    from fairlead.core.outputs import Request
    from fairlead.settings import KafkaSettings

app = typer.Typer(no_args_is_help=True, add_completion=False)

TopicArgument = Annotated[str, typer.Argument(metavar="TOPIC", help="The topic.")]
FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="TopicRouteData, as `mqadmin topicRoute` prints it; - is stdin.",
    ),
]
IdentityFlag = Annotated[
    str | None,
    typer.Option(
        "--identity",
        help="The identity of the topic. Default: that of the present route, else a new one.",
    ),
]
OffsetsOption = Annotated[
    Path | None,
    typer.Option(
        "--offsets",
        metavar="FILE",
        help="The queues' bounds, as `mqadmin topicStatus` prints them. Default: Kafka's.",
    ),
]
DryRunFlag = Annotated[
    bool, typer.Option("--dry-run", help="Check the route and show it; write nothing.")
]
COLUMNS = (
    *("topic", "broker_name", "perm", "read_queue_nums", "write_queue_nums", "addresses"),
    *("identity", "answer"),
)
_OF_A_BROKER = ("broker_name", "perm", "read_queue_nums", "write_queue_nums", "addresses")
_PERM_READ, _PERM_WRITE, _MASTER = 4, 2, "0"


@app.callback()
def route() -> None:
    """Publish, show and delete the route of a topic, as RocketMQ has it."""


@app.command("put")
@takes_sets
def put_route(
    topic: TopicArgument,
    file: FileArgument,
    *,
    identity: IdentityFlag = None,
    offsets: OffsetsOption = None,
    dry_run: DryRunFlag = False,
    shared: OutputOptions,
) -> None:
    """Publish the route of a file instead of the present one.

    The command writes an unchanged route again only if a group has asked for it lately. It answers
    groups that have asked for the bounds of queues. docs/bridges.md has more.
    """
    from fairlead.control.offset_answers import recent_requests
    from fairlead.control.unknown_queues import read_routes
    from fairlead.kafka.record_writer import write_records
    from fairlead.wire.encode_bridge import encode_offsets, encode_route
    from fairlead.wire.topics import TopicNames

    given = _read_route(file)
    kafka = shared.settings().kafka
    present = read_routes(kafka, {topic}).get(topic)
    known = None if present is None else present.identity
    changed = _checked(topic, given, identity or known or uuid.uuid4().hex)
    assert changed.route is not None
    requests = [] if dry_run else recent_requests(kafka, topic)
    outcome = "not_written" if dry_run else "written"
    if changed.route == present:
        outcome = (
            "repeated" if any(each.what in ("route", "retry") for each in requests) else "unchanged"
        )
    answered = _answers(requests, changed.route, offsets, kafka)
    names = TopicNames(kafka.topic_prefix)
    records = [encode_route(changed, names)] if outcome in ("written", "repeated") else []
    records += [record for each in answered.records for record in encode_offsets(each, names)]
    if records:
        write_records(kafka, records)
    _show(changed.route, shared.output, outcome)
    _warn_of_odd(changed.route)
    for group, number in answered.left.items():
        warn(f"{group}: it waits for the bounds of {number} queues; give them with --offsets")


@app.command("show")
@takes_sets
def show_route(topic: TopicArgument, *, shared: OutputOptions) -> None:
    """Show the present route of a topic; exit with 1 if there is none."""
    _show(_in_force(topic, shared), shared.output)


@app.command("delete")
@takes_sets
def delete_route(
    topic: TopicArgument, *, dry_run: DryRunFlag = False, shared: OutputOptions
) -> None:
    """Delete the route of a topic: its owners drop all its queues."""
    from fairlead.core.records import RouteChanged
    from fairlead.kafka.record_writer import write_records
    from fairlead.wire.encode_bridge import encode_route
    from fairlead.wire.topics import TopicNames

    present = _in_force(topic, shared)
    kafka = shared.settings().kafka
    if not dry_run:
        gone = encode_route(RouteChanged(topic, None), TopicNames(kafka.topic_prefix))
        write_records(kafka, [gone])
    _show(present, shared.output, "not_written" if dry_run else "deleted")


def _in_force(topic: str, shared: OutputOptions) -> "Route":
    from fairlead.control.group_names import nearest_names
    from fairlead.control.unknown_queues import read_routes

    known = read_routes(shared.settings().kafka)
    present = known.get(topic)
    if present is None:
        near = nearest_names(topic, known)
        nearest = f"The nearest that are known: {', '.join(near)}. " if near else ""
        raise VerdictError(
            f"TOPIC: no route of {topic!r} is known.",
            remedy=f"{nearest}A bridge publishes it once a group subscribes to it, or with "
            f"--topics {topic}: `fairlead group check --all` tells whether one runs. Where there "
            "is no bridge, run: fairlead route put",
        )
    return present


def _answers(
    requests: "Sequence[Request]", route: "Route", file: Path | None, kafka: "KafkaSettings"
) -> "OffsetAnswers":
    """Answer the requests of groups for the topic, from a file or from Kafka."""
    from fairlead.cli.log_setup import secrets_of
    from fairlead.control import offset_answers
    from fairlead.kafka.connection import library_options
    from fairlead.logs import logs_configured

    if file is not None:
        try:
            look_up = offset_answers.topic_status_lookup(
                _read(file, "--offsets").decode("utf-8", "replace")
            )
        except offset_answers.StatusError as error:
            raise UsageError(
                f"--offsets: {error}.", remedy="Give what mqadmin topicStatus prints."
            ) from error
        return offset_answers.answer_requests(requests, route, look_up)
    if not requests:
        return offset_answers.OffsetAnswers((), {})
    options = library_options(kafka)
    with (
        logs_configured(secrets=secrets_of(kafka)),
        closing(offset_answers.data_cluster(kafka, options)) as cluster,
    ):
        return offset_answers.answer_requests(
            requests, route, offset_answers.kafka_lookup(cluster, route)
        )


def _read(file: Path, name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{name}: {file} cannot be read ({error.strerror}).", remedy="Name a file, or -."
        ) from error


def _read_route(file: Path) -> Any:
    from fairlead_client.errors import RouteError
    from fairlead_client.rocketmq.route_reading import decode_topic_route

    text = _read(file, "FILE")
    try:
        return decode_topic_route(text)
    except RouteError as error:
        raise _refused(str(error)) from error


def _checked(topic: str, given: Any, identity: str) -> Any:
    from fairlead_client.errors import RouteError

    from fairlead.control.rocketmq_route import as_read, route_from_rocketmq
    from fairlead.wire.encode import OversizeError
    from fairlead.wire.errors import WireError

    try:
        return as_read(topic, route_from_rocketmq(topic, given, identity))
    except RouteError as error:
        raise _refused(str(error)) from error
    except WireError as error:
        raise _refused(f"{error.field or 'TOPIC'}: {error.detail}; {error.remedy}") from error
    except OversizeError as error:
        raise _refused(f"the route is too large for a record ({error})") from error


def _refused(text: str) -> UsageError:
    return UsageError(
        f"FILE: {text}.", remedy="Give what RocketMQ's name server answers for the topic."
    )


def _show(present: "Route", output: OutputFormat, answer: str | None = None) -> None:
    """Write a row for each broker, or one for a topic without any."""
    columns = COLUMNS[:-1] if answer is None else COLUMNS
    write_objects(list(_documents(present, answer)), _cells, columns, output)


def _documents(present: "Route", answer: str | None) -> "Iterator[dict[str, Any]]":
    topic = {
        "topic": present.topic,
        "identity": present.identity,
        "order_topic_conf": present.order_topic_conf,
        "answer": answer,
    }
    for broker in present.brokers:
        yield topic | {name: getattr(broker, name) for name in _OF_A_BROKER}
    if not present.brokers:
        yield topic | dict.fromkeys(_OF_A_BROKER)


def _cells(row: "Mapping[str, Any]") -> dict[str, Any]:
    perm, addresses = row["perm"], row["addresses"] or {}
    letters = ((_PERM_READ, "R"), (_PERM_WRITE, "W"))
    words = None if perm is None else "".join(word if perm & bit else "-" for bit, word in letters)
    places = " ".join(f"{number}={text}" for number, text in addresses.items())
    return {**row, "perm": words, "addresses": places or None}


def _warn_of_odd(present: "Route") -> None:
    """Warn of what RocketMQ allows: unread messages, and brokers without a master."""
    for broker in present.brokers:
        if not broker.perm & _PERM_WRITE or present.order_topic_conf:
            continue
        read = broker.read_queue_nums if broker.perm & _PERM_READ else 0
        if broker.write_queue_nums > read:
            warn(
                f"{broker.broker_name}: queues {read} to {broker.write_queue_nums - 1} are written "
                "to and read by nobody"
            )
        if _MASTER not in broker.addresses:
            warn(f"{broker.broker_name}: it has no master, so producers skip it")
