"""A recording run again under what its drivers ran under."""

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
    """A recording that is ready to be run again.

    ``untold`` are the generations whose claim does not tell what their driver ran under.
    """

    recording: RecordingFolder
    drivers: Drivers
    found: Survey

    @classmethod
    def of(
        cls,
        recording: RecordingFolder,
        strategies: Mapping[str, Strategy],
        defaults: GroupRules | None = None,
    ) -> "Replay":
        """Read who ran and what was decided; see :func:`drivers_of`.

        Raises:
            RecordingError: the recording is damaged.
            ReplayError: a decision cannot be read.
        """
        drivers = drivers_of(recording, strategies, defaults)
        return cls(recording, drivers, survey(recording, drivers.context(0, 1)))

    @property
    def untold(self) -> tuple[int, ...]:
        """The generations that decided and whose claim does not tell their settings."""
        deciding = sorted({cut.generation for cut in self.found.cuts.values()})
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
            UnknownStrategiesError: a driver had a strategy that is not known here.
        """
        return compare_outputs(
            log(self.recording),
            self.recording,
            self.drivers.context,
            self.found,
            watch=watch,
            running=self.recording.manifest.running,
        )


def compacted_away(recording: RecordingFolder, found: Difference) -> list[str]:
    """Return the partitions whose compaction may be why a replay differs; empty: none is.

    Raises:
        RecordingError: the recording is damaged.
    """
    gone = recording.compacted()
    suffix = recording.manifest.names.suffix(found.topic) or ""
    if suffix == "assignments" and found.expected is not None:
        part = recording.part(suffix, found.partition)
        at = part.end if found.offset is None else found.offset
        if not part.whole and recording.holds_later(
            suffix, found.partition, found.expected.key, at
        ):
            gone.append(f"{found.topic}/{found.partition}")
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
        defaults: the rules of a group that has none, where the engine had them by another way than
            the log, as in a simulation.

    Raises:
        RecordingError: the recording is damaged.
    """
    manifest = recording.manifest
    known = manifest.settings.strategies
    otherwise = manifest.settings
    if any(name not in strategies for name in known):
        # They are of whoever recorded: of a driver that does not say, nobody knows its strategies.
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
    """Return the claims of a recording by generation; what is no claim is left out.

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
