"""The engine's decisions in a recording; what cannot be read is a finding."""

from collections.abc import Iterator

from fairlead.recording import RecordingFolder
from fairlead.verify.verdicts import Docket, evidence_of
from fairlead.wire.decision_records import DecisionRecord, whole_decisions
from fairlead.wire.raw import RawRecord

__all__ = ["read_decisions"]


def read_decisions(recording: RecordingFolder, docket: Docket) -> Iterator[DecisionRecord]:
    """Yield every whole decision in the order of the topic.

    What cannot be read is a finding of S3.

    Raises:
        RecordingError: the recording is damaged.
    """

    def unread(row: RawRecord, why: str) -> None:
        docket.find("S3", f"a decision {why}", evidence_of(row, "this is the record"))

    rows = recording.all_rows("decisions")
    yield from whole_decisions(rows, recording.manifest.partitions.shards, unread)
