"""A recording: Fairlead's topics in a folder of compressed JSON lines (ADR 0112)."""

from fairlead.recording.errors import RecordingError
from fairlead.recording.folder import RecordingFolder, open_recording
from fairlead.recording.manifest import Manifest, PartitionFile, SourceRuns
from fairlead.recording.writer import RecordingWriter

__all__ = [
    "Manifest",
    "PartitionFile",
    "RecordingError",
    "RecordingFolder",
    "RecordingWriter",
    "SourceRuns",
    "open_recording",
]
