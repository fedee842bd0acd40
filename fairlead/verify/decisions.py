"""The engine's decisions in a recording. An unreadable one is a finding."""

from collections.abc import Iterator

from fairlead.recording import RecordingFolder
from fairlead.verify.verdicts import Verdicts, evidence_of
from fairlead.wire.decision_records import DecisionRecord, whole_decisions
from fairlead.wire.raw import RawRecord

__all__ = ["read_decisions"]


def read_decisions(recording: RecordingFolder, verdicts: Verdicts) -> Iterator[DecisionRecord]:
    """Yield every whole decision in the order of the topic. An unreadable one is a finding of S3.

    Raises:
        RecordingError: the recording is damaged.
    """

    def unread(row: RawRecord, why: str) -> None:
        verdicts.add_finding("S3", f"a decision {why}", evidence_of(row, "this is the record"))

    rows = recording.all_rows("decisions")
    yield from whole_decisions(rows, recording.manifest.partitions.shards, unread)
