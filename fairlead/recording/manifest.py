"""The manifest of a recording: which topics it has, from which offset to which.

The recorder writes it last: a folder without it is an unfinished recording.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from fairlead.core.records import DriverSettings
from fairlead.recording.errors import RecordingError
from fairlead.recording.regular_files import NotRegularError, read_regular
from fairlead.wire.bridge_records import read_driver_settings
from fairlead.wire.errors import WireError
from fairlead.wire.fields import Fields, Tally
from fairlead.wire.raw import Partitions
from fairlead.wire.topics import CLIENT_TOPICS, INPUT_TOPICS, OUTPUT_TOPICS, TopicNames

__all__ = ["MANIFEST", "Manifest", "PartitionFile", "SourceRuns", "file_name", "read_manifest"]

MANIFEST: Final = "manifest.json"
_VERSION: Final = 1
_KIND: Final = "fairlead recording"

SourceRuns = Mapping[str, Mapping[int, tuple[tuple[int, int], ...]]]
"""topic -> partition -> runs of offsets with a message, as (first, last)."""


@dataclass(frozen=True, slots=True)
class PartitionFile:
    """One partition of a topic, in its own file.

    Attributes:
        first: the first offset that the topic still held.
        end: the offset after the last, at the time of the recording.
        records: how many records there are; fewer than offsets if the topic is compacted.
    """

    file: str
    first: int
    end: int
    records: int

    @property
    def whole(self) -> bool:
        """Whether the file has every record that was ever appended."""
        return self.first == 0 and self.records == self.end


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a recording.

    Attributes:
        prefix: of the topics' names.
        recorded_at_ms: when.
        version: of the program that wrote it.
        running: an engine ticked during the recording, so the newest batch may be incomplete.
        settings: a driver's settings by the recorder's conf/, for claims without settings.
        topics: per suffix and partition.
        sources: the offsets of messages in topics of the data plane.
    """

    prefix: str
    recorded_at_ms: int
    version: str
    running: bool
    settings: DriverSettings
    topics: Mapping[str, Mapping[int, PartitionFile]]
    sources: SourceRuns = field(default_factory=dict)

    @property
    def names(self) -> TopicNames:
        """The names of the topics."""
        return TopicNames(self.prefix)

    @property
    def partitions(self) -> Partitions:
        """How many partitions the topics have."""
        return Partitions(len(self.topics["heartbeats"]), len(self.topics["assignments"]))

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as JSON."""
        return {
            "v": _VERSION,
            "kind": _KIND,
            "prefix": self.prefix,
            "recorded_at_ms": self.recorded_at_ms,
            "version": self.version,
            "running": self.running,
            "settings": asdict(self.settings),
            "topics": {
                suffix: {str(number): asdict(part) for number, part in sorted(parts.items())}
                for suffix, parts in self.topics.items()
            },
            "sources": {
                topic: {str(number): runs for number, runs in sorted(parts.items())}
                for topic, parts in self.sources.items()
            },
        }


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a recording.

    Raises:
        RecordingError: there is none, or it is unreadable.
    """
    path = folder / MANIFEST
    try:
        document = orjson.loads(read_regular(path))
    except FileNotFoundError as error:
        detail = f"there is no {MANIFEST}: it is no recording, or an unfinished one"
        raise RecordingError(folder, detail) from error
    except NotADirectoryError as error:
        remedy = "Name the folder that `fairlead record` wrote."
        raise RecordingError(folder, "it is no folder", remedy) from error
    except NotRegularError as error:
        raise RecordingError(path, error.detail) from error
    except (OSError, orjson.JSONDecodeError) as error:
        raise RecordingError(path, f"it is unreadable ({error})") from error
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise RecordingError(path, "it is no manifest of a recording")
    if document.get("v") != _VERSION:
        detail = f"it has version {document.get('v')}, and this program reads version {_VERSION}"
        raise RecordingError(path, detail, "Use the version of fairlead that wrote it.")
    try:
        manifest = _manifest(document)
    except WireError as error:
        detail = f"{error.field or 'a field'} is unreadable: {error.detail}; {error.remedy}"
        raise RecordingError(path, detail) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        detail = f"it is unreadable ({type(error).__name__}: {error})"
        raise RecordingError(path, detail) from error
    strange = sorted({*manifest.topics} - {*INPUT_TOPICS, *OUTPUT_TOPICS, *CLIENT_TOPICS})
    if strange:
        raise RecordingError(path, f"it has an unknown topic {strange[0]!r}")
    missing = [name for name in INPUT_TOPICS + OUTPUT_TOPICS if not manifest.topics.get(name)]
    if missing:
        raise RecordingError(path, f"it has no partitions of {', '.join(missing)}")
    _check_partitions(path, manifest)
    return manifest


def _check_partitions(path: Path, manifest: Manifest) -> None:
    """Raise a RecordingError if a partition is missing, or the shards differ."""
    for suffix, parts in manifest.topics.items():
        # A number may be very large, so make no range up to it.
        absent = next((number for number in range(len(parts)) if number not in parts), None)
        if absent is not None:
            raise RecordingError(path, f"it has no partition {absent} of {suffix}")
    shards = len(manifest.topics["heartbeats"])
    for suffix in ("releases", "control"):
        if len(manifest.topics[suffix]) != shards:
            detail = f"it has {shards} partitions of heartbeats and {len(manifest.topics[suffix])}"
            raise RecordingError(path, f"{detail} of {suffix}, which must be as many")
    for suffix, parts in manifest.topics.items():
        for number, part in parts.items():
            _check_part(path, suffix, number, part)


def _check_part(path: Path, suffix: str, number: int, part: PartitionFile) -> None:
    """Raise a RecordingError if a partition's file name or numbers are impossible."""
    wanted = file_name(suffix, number)
    if part.file != wanted:
        detail = f"it names the file {str(part.file)!r} for {suffix}, partition {number}"
        raise RecordingError(path, f"{detail}, instead of {wanted}")
    bounds = part.first, part.end, part.records
    sound = all(type(each) is int and each >= 0 for each in bounds)
    if not sound or not 0 <= part.records <= part.end - part.first:
        detail = f"the numbers of {suffix}, partition {number}, contradict each other"
        raise RecordingError(path, f"{detail}: first, end and records are {bounds}")


def _runs(plain: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    runs = tuple((int(first), int(last)) for first, last in plain)
    edges = [edge for run in runs for edge in run]
    if edges and (edges[0] < 0 or edges != sorted(edges)):
        raise ValueError("the runs of a source are not in order")
    return runs


def file_name(suffix: str, number: int) -> str:
    """Return the name of a partition's file."""
    return f"{suffix}-{number}.jsonl.gz"


def _manifest(document: Mapping[str, Any]) -> Manifest:
    return Manifest(
        prefix=str(document["prefix"]),
        recorded_at_ms=int(document["recorded_at_ms"]),
        version=str(document["version"]),
        running=bool(document["running"]),
        settings=read_driver_settings(Fields(dict(document), Tally())),
        topics={
            suffix: {int(number): PartitionFile(**part) for number, part in parts.items()}
            for suffix, parts in document["topics"].items()
        },
        sources={
            topic: {int(number): _runs(runs) for number, runs in parts.items()}
            for topic, parts in document["sources"].items()
        },
    )
