"""Prepares a recording to run again with the settings of its drivers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fairlead.core.allocation import Strategy
from fairlead.core.records import Generation
from fairlead.core.rules.group_rules import GroupRules
from fairlead.engine.drivers import Drivers
from fairlead.recording import RecordingFolder
from fairlead.recording.log import FolderLog
from fairlead.replay.comparison import Comparison, Difference, Watch, compare_outputs
from fairlead.replay.output_log import Survey, survey
from fairlead.replay.recorded_log import RecordedLog
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits

__all__ = ["Replay", "claims_of", "compacted_away", "drivers_of"]


@dataclass(frozen=True, slots=True)
class Replay:
    """A recording that is ready to run again."""

    recording: RecordingFolder
    drivers: Drivers
    survey: Survey

    @classmethod
    def of(
        cls,
        recording: RecordingFolder,
        strategies: Mapping[str, Strategy],
        defaults: GroupRules | None = None,
    ) -> "Replay":
        """Read the drivers and the decisions of a recording; see :func:`drivers_of`.

        Raises:
            RecordingError: the recording is damaged.
            ReplayError: a decision cannot be read.
        """
        drivers = drivers_of(recording, strategies, defaults)
        return cls(recording, drivers, survey(recording, drivers.context(0, 1)))

    @property
    def untold(self) -> tuple[int, ...]:
        """The generations with decisions whose claims have no settings."""
        deciding = sorted({cut.generation for cut in self.survey.cuts.values()})
        claims = self.drivers.claims
        return tuple(
            generation
            for generation in deciding
            if generation not in claims or claims[generation].settings is None
        )

    def run(
        self,
        watch: Watch = lambda _: None,
        log: Callable[[RecordingFolder], RecordedLog] = FolderLog,
    ) -> Comparison:
        """Run every cut again and compare; see ``fairlead.replay.comparison``.

        Raises:
            RecordingError: the recording is damaged.
            ReplayError: rows or decisions are missing.
            UnknownStrategiesError: a driver used a strategy that is unknown here.
        """
        return compare_outputs(
            log(self.recording),
            self.recording,
            self.drivers.context,
            self.survey,
            watch=watch,
            running=self.recording.manifest.running,
        )


def compacted_away(recording: RecordingFolder, difference: Difference) -> list[str]:
    """Return the partitions whose compaction may explain a difference; empty: none may.

    Raises:
        RecordingError: the recording is damaged.
    """
    gone = recording.compacted()
    suffix = recording.manifest.names.suffix(difference.topic) or ""
    if suffix == "assignments" and difference.expected is not None:
        part = recording.part(suffix, difference.partition)
        at = part.end if difference.offset is None else difference.offset
        if not part.whole and recording.holds_later(
            suffix, difference.partition, difference.expected.key, at
        ):
            gone.append(f"{difference.topic}/{difference.partition}")
    return gone


def drivers_of(
    recording: RecordingFolder,
    strategies: Mapping[str, Strategy],
    defaults: GroupRules | None = None,
) -> Drivers:
    """Return the drivers of a recording, by their claims.

    Args:
        recording: the topics.
        strategies: those known here.
        defaults: the rules of a group without rules, if the engine had them from elsewhere than
            the log, as in a simulation.

    Raises:
        RecordingError: the recording is damaged.
    """
    manifest = recording.manifest
    known = manifest.settings.strategies
    otherwise = manifest.settings
    if any(name not in strategies for name in known):
        # These are the recorder's strategies; a driver without settings has unknown ones.
        there = tuple(name for name in known if name in strategies)
        otherwise = replace(otherwise, strategies=there)
    return Drivers(
        claims_of(recording),
        manifest.names,
        manifest.partitions,
        strategies,
        otherwise,
        defaults or GroupRules(),
    )


def claims_of(recording: RecordingFolder) -> dict[int, Generation]:
    """Return the claims of a recording by generation; skip unreadable ones.

    Raises:
        RecordingError: the recording is damaged.
    """
    limits = WireLimits(recording.manifest.partitions.shards)
    claims: dict[int, Generation] = {}
    for row in recording.rows("generations", 0):
        try:
            record = decode("generations", row, limits)
        except WireError:
            continue
        if isinstance(record, Generation):
            claims[row.offset + 1] = record
    return claims
