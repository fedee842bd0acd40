"""``fairlead rejects``: which records the engine refused, and why."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.group_work import warn
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import OutputFormat, visible, write_rows
from fairlead.cli.reading_note import ReadingNote
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairlead.history.rejected import Rejected
    from fairlead.kafka.kafka_source import KafkaSource
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.wire.raw import RawRecord

app = typer.Typer(no_args_is_help=True, add_completion=False)


@dataclass(frozen=True)
class WhichRejects:
    """Which of the refused records are shown."""

    group: Annotated[
        list[str] | None, typer.Option("--group", help="Only of this group; may be given again.")
    ] = None
    reason: Annotated[
        list[str] | None,
        typer.Option("--reason", help="Only for this reason (docs/protocol.md, section 10)."),
    ] = None

    def shows(self, rejected: "Rejected") -> bool:
        """Tell whether a refused record is to be shown."""
        return (not self.group or rejected.group in self.group) and (
            not self.reason or rejected.reason in self.reason
        )


@app.callback()
def rejects() -> None:
    """Show which records the engine refused, and why."""


@app.command("tail")
@takes_sets
def tail(
    *,
    number: Annotated[int, typer.Option("-n", min=0, help="So many, the newest.")] = 20,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is refused from now on.")
    ] = False,
    which: WhichRejects,
    shared: SourceOptions,
) -> None:
    """Show the newest refused records: when, why, what to do, where it stands, how it began.

    With --follow it goes on until Ctrl-C. What a refused record says is shown printable, and never
    more than its first 256 bytes. Reads Fairlead's topics and writes nothing.
    """
    from fairlead.kafka.kafka_source import KafkaSource

    _check_reasons(which.reason or ())
    if follow and shared.output is OutputFormat.JSON:
        raise UsageError("--follow: one JSON document has an end.", remedy="Use -o jsonl.")
    source = shared.open(shared.settings())
    if not follow:
        _show(_newest(source, which, number), which, shared.output, source)
        return
    if not isinstance(source, KafkaSource):
        raise UsageError(
            "--follow: nothing is added to a recording.", remedy="Leave --follow or --dump out."
        )
    ends = source.ends_of("rejects")
    for each in _newest(source, which, number, before=ends):
        _write(each, shared.output)
    try:
        for each in _following(source, which, ends):
            _write(each, shared.output)
    except KeyboardInterrupt:
        return


def _check_reasons(given: Sequence[str]) -> None:
    """Refuse a reason that no record is ever refused for: to find none would look like all well."""
    from fairlead.wire.reasons import Reason

    for each in given:
        if each not in tuple(Reason):
            raise UsageError(
                f"--reason: no record is refused for {each!r}.",
                remedy=f"Give one of {', '.join(Reason)}.",
            )


def _newest(
    source: "TopicSource",
    which: WhichRejects,
    number: int,
    before: "Mapping[int, int] | None" = None,
) -> "list[Rejected]":
    """Return the newest refused records that are to be shown; no more is read than is needed.

    ``before``: offsets by partition at which reading ends.
    """
    from fairlead.kafka.decision_log import reaching_back

    found: deque[Rejected] = deque(maxlen=number)
    if not number:
        return []
    for since_ms in reaching_back(source.now_ms()):
        found.clear()
        rows = source.rows("rejects", source.partitions_of("rejects"), since_ms)
        found.extend(_rejected(_noted(rows, before or {}), which))
        if len(found) == number:
            break
    return list(found)


def _noted(rows: "Iterable[RawRecord]", before: "Mapping[int, int]") -> "Iterator[RawRecord]":
    note = ReadingNote()
    for count, row in enumerate(rows, 1):
        if count % 1_000 == 0:
            note(row.topic, count)
        if row.offset < before.get(row.partition, row.offset + 1):
            yield row


def _following(
    source: "KafkaSource", which: WhichRejects, ends: "Mapping[int, int]"
) -> "Iterator[Rejected]":
    for rows in source.follow("rejects", ends):
        yield from _rejected(rows, which)


def _rejected(rows: "Iterable[RawRecord]", which: WhichRejects) -> "Iterator[Rejected]":
    from fairlead.history.formatting import at_words
    from fairlead.history.rejected import rejected_of

    for row in rows:
        rejected = rejected_of(row)
        if rejected is None:
            warn(f"{at_words(row.topic, row.partition, row.offset)} is no reject")
        elif which.shows(rejected):
            yield rejected


def _show(
    found: "list[Rejected]", which: WhichRejects, output: OutputFormat, source: "TopicSource"
) -> None:
    if output is not OutputFormat.TABLE:
        write_rows([each.to_json() for each in found], (), output)
        return
    for each in found:
        _write(each, output)
    if not found:
        such = " such" if which.group or which.reason else ""
        typer.echo(f"no{such} record was refused {source.place}")


def _write(rejected: "Rejected", output: OutputFormat) -> None:
    if output is OutputFormat.TABLE:
        typer.echo("\n".join(visible(line) for line in _lines(rejected)))
    else:
        write_rows([rejected.to_json()], (), output)


def _lines(rejected: "Rejected") -> Iterator[str]:
    from fairlead.history.formatting import at_words, time_words

    field = f" at {rejected.field}" if rejected.field else ""
    group = rejected.group
    of = "" if group is None else f"  group {group}"
    yield (
        f"{time_words(rejected.row.append_ms)}  {rejected.reason}{field}  "
        f"{at_words(*rejected.place)}{of}"
    )
    yield f"    {rejected.detail}"
    yield f"    remedy: {rejected.remedy}"
    if rejected.key_text is not None and rejected.key_text != group:
        yield f"    key {rejected.key_text}"
    if rejected.excerpt_text is None:
        yield "    its value is null"
    else:
        cut = " …" if rejected.is_cut else ""
        yield f"    {rejected.size:,} bytes: {rejected.excerpt_text}{cut}"
