"""``fairlead rejects``: which records the engine refused and why."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.render.output import OutputFormat, warn, write_rows
from fairlead.cli.render.reject import reject_lines
from fairlead.cli.sources.reading_note import ReadingNote
from fairlead.cli.sources.source_options import SourceOptions
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
    """Which refused records to show."""

    group: Annotated[
        list[str] | None, typer.Option("--group", help="Only of this group. Repeatable.")
    ] = None
    reason: Annotated[
        list[str] | None,
        typer.Option(
            "--reason", help="Only for this reason (docs/protocol.md, section 10). Repeatable."
        ),
    ] = None

    def shows(self, rejected: "Rejected") -> bool:
        """Tell whether to show a refused record."""
        return (not self.group or rejected.group in self.group) and (
            not self.reason or rejected.reason in self.reason
        )


@app.callback()
def rejects() -> None:
    """Show which records the engine refused and why."""


@app.command("tail")
@takes_sets
def tail(
    *,
    number: Annotated[int, typer.Option("-n", min=0, help="How many of the newest.")] = 20,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Follow what the engine refuses from now on.")
    ] = False,
    which: WhichRejects,
    shared: SourceOptions,
) -> None:
    """Show the newest refused records: when, why, what to do, their place, and their first bytes.

    With --follow the command runs until Ctrl-C. It shows at most the first 256 bytes of a record,
    in printable form. It writes nothing.
    """
    from fairlead.kafka.kafka_source import KafkaSource

    _check_reasons(which.reason or ())
    if follow and shared.output is OutputFormat.JSON:
        raise UsageError(
            "--follow: it never ends, so it is no JSON document.", remedy="Use -o jsonl."
        )
    source = shared.open(shared.settings())
    if not follow:
        _show(_newest(source, which, number), which, shared.output, source)
        return
    if not isinstance(source, KafkaSource):
        raise UsageError(
            "--follow: a recording does not grow.", remedy="Leave --follow or --dump out."
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
    """Refuse an unknown reason: an empty answer would look like good news."""
    from fairlead.wire.reasons import ENGINE_REASONS, Reason

    known = list(dict.fromkeys((*Reason, *ENGINE_REASONS)))
    for each in given:
        if each not in known:
            raise UsageError(
                f"--reason: there is no reason {each!r}.", remedy=f"Give one of {', '.join(known)}."
            )


def _newest(
    source: "TopicSource",
    which: WhichRejects,
    number: int,
    before: "Mapping[int, int] | None" = None,
) -> "list[Rejected]":
    """Return the newest refused records to show, reading no more than needed.

    ``before``: the offsets at which reading ends, by partition.
    """
    from fairlead.kafka.decision_log import reaching_back

    newest: deque[Rejected] = deque(maxlen=number)
    if not number:
        return []
    for since_ms in reaching_back(source.now_ms()):
        newest.clear()
        rows = source.rows("rejects", source.partitions_of("rejects"), since_ms)
        newest.extend(_rejected(_noted(rows, before or {}), which))
        if len(newest) == number:
            break
    return list(newest)


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
    records: "list[Rejected]", which: WhichRejects, output: OutputFormat, source: "TopicSource"
) -> None:
    if output is not OutputFormat.TABLE:
        told = _appended(records, source)
        write_rows([each.to_json(told.get(each.place)) for each in records], (), output)
        return
    for each in records:
        _write(each, output)
    if not records:
        such = " such" if which.group or which.reason else ""
        typer.echo(f"no{such} record was refused {source.place}")


def _write(rejected: "Rejected", output: OutputFormat) -> None:
    if output is OutputFormat.TABLE:
        typer.echo("\n".join(reject_lines(rejected)))
    else:
        write_rows([rejected.to_json(None)], (), output)


def _appended(
    records: "Sequence[Rejected]", source: "TopicSource"
) -> "dict[tuple[str, int, int], int]":
    """Return when each refused record was appended, of those that are still there."""
    from fairlead.wire.raw import RawRecord

    found = source.records_at({each.place for each in records})
    return {place: row.append_ms for place, row in found.items() if isinstance(row, RawRecord)}
