"""Where a reading command finds Fairlead's topics: on a live cluster, or in a recording."""

import gc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fairlead.cli.options import OutputOptions
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.settings import Settings

__all__ = ["DumpOption", "SourceOptions", "tick_ms_of"]

_GARBAGE_EVERY: Final = 100_000
"""Allocations between two searches for garbage.

Records live until the command ends: searching through all of them at every 700 allocations costs a
fifth of the time.
"""

DumpOption = Annotated[
    Path | None,
    typer.Option("--dump", help="Read a folder of `fairlead record` instead of live topics."),
]


@dataclass(frozen=True)
class SourceOptions(OutputOptions):
    """Where the topics are, and how results are written."""

    dump: DumpOption = None

    def open(self, settings: "Settings") -> "TopicSource":
        """Return the topics, for reading only.

        Raises:
            UsageError: the folder is no recording, or a cluster is named too.
            EnvironmentMissingError: the cluster does not answer, or a topic is not there.
        """
        gc.set_threshold(_GARBAGE_EVERY)
        if self.dump is None:
            from fairlead.kafka.kafka_source import KafkaSource

            return KafkaSource(settings.kafka)
        from fairlead.recording import open_recording
        from fairlead.recording.recording_source import DumpSource

        for flag, given in (("bootstrap", self.bootstrap), ("topic-prefix", self.topic_prefix)):
            if given is not None:
                raise UsageError(
                    f"--dump: the topics are in a folder, and --{flag} names a cluster.",
                    remedy=f"Leave --dump or --{flag} out.",
                )
        return DumpSource(open_recording(self.dump))


def tick_ms_of(source: "TopicSource", settings: "Settings") -> int:
    """Return the period of the engine's ticks."""
    return source.tick_ms or settings.engine.tick_ms
