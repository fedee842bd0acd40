"""The group that `fairlead plan` starts from: live, recorded, or a document."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from fairlead.cli.documents import read_document
from fairlead.cli.names import require_group
from fairlead.cli.sources.data_cluster import data_cluster
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.core.allocation import Strategy
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.live_group import LiveGroup
    from fairlead.observed.planned_group import PlannedGroup
    from fairlead.operating.plan_start import Start
    from fairlead.planning.changes import Changes
    from fairlead.planning.plan import Plan
    from fairlead.settings import Settings

__all__ = ["live_group", "read_start", "save"]


def read_start(
    group: str | None, file: Path | None, shared: SourceOptions, *, measured: bool, dated: bool
) -> "Start":
    """Return the named group, or the group of the file.

    Args:
        group: its name, or None.
        file: a document of a group, or None.
        shared: where the topics of a named group are.
        measured: also read what the queues weigh.
        dated: also read the epoch of the group.

    Raises:
        UsageError: both or none are given, or there is no such group.
        EnvironmentMissingError: the topics of a live group cannot be read.
    """
    from fairlead.operating.plan_start import GroupReader, Start
    from strategies.own_strategies import all_strategies

    if group is None and file is None:
        raise UsageError("plan: it needs one group.", remedy="Name a live group, or give --file.")
    if group is not None and file is not None:
        raise UsageError(
            f"--file: the group is that of the file, and {group} is named too.",
            remedy="Leave --file or the name of the group out.",
        )
    settings = shared.settings()
    if file is not None:
        if shared.dump is not None:
            raise UsageError(
                "--dump: the group is that of --file.", remedy="Leave --dump or --file out."
            )
        return Start(_read(file, all_strategies(settings.engine.strategies)))
    assert group is not None, "one of them is given"
    require_group(group)
    open_data = partial(data_cluster, settings.kafka) if shared.dump is None else None
    reader = GroupReader(group, shared.open(settings), settings, open_data, measured)
    return reader.read_dated() if dated else reader.read()


def _read(file: Path, strategies: "Mapping[str, Strategy]") -> "PlannedGroup":
    from fairlead.planning.group_file import BadGroupError, read_group
    from fairlead.planning.saved_plan import SAVED_BY

    remedy = f"{SAVED_BY}, or write one as docs/planning.md says."
    try:
        return read_group(read_document(file, "--file", remedy), strategies)
    except BadGroupError as error:
        raise UsageError(f"--file: {file}: {error}.", remedy=remedy) from error


def live_group(group: str, source: "TopicSource", settings: "Settings") -> "LiveGroup":
    """Return a group as its topics tell it; `fairlead.operating.plan_start` has what it raises."""
    from fairlead.operating.plan_start import GroupReader
    from fairlead.operating.plan_start import live_group as read_group

    require_group(group)
    open_data = partial(data_cluster, settings.kafka)
    return read_group(GroupReader(group, source, settings, open_data))[0]


def save(start: "Start", changes: "Changes", result: "Plan", path: Path) -> None:
    """Write a group and its plan as a document.

    Raises:
        UsageError: the file cannot be written.
    """
    from fairlead.planning.saved_plan import SavedPlan, moves_of, plan_json

    made_ms = time.time_ns() // 1_000_000
    saved = SavedPlan(result.group, start.epoch, made_ms, changes, moves_of(result))
    document = plan_json(start.planned, saved)
    try:
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise UsageError(
            f"--save: {path} cannot be written ({error.strerror}).", remedy="Name another file."
        ) from error
