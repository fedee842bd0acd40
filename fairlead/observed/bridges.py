"""What is wrong with the bridges, as far as the topics tell: the one answer to that question."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairlead.control.unknown_queues import newest_routes
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.bridge_liveness import BridgeLiveness, BridgeSigns, is_sign
from fairlead.observed.bridge_silence import LOOK_BACK_MS, BridgeSilence, bridge_silence
from fairlead.wire.raw import RawRecord

__all__ = ["Bridges", "read_bridges"]


@dataclass(frozen=True, slots=True)
class Bridges:
    """The bridges of all clusters.

    Attributes:
        lives: what is to be said of the bridge of each cluster.
        silence: what was asked and has no answer; None: nothing.
        routed: the clusters of which some route stands.
    """

    lives: tuple[BridgeLiveness, ...]
    silence: BridgeSilence | None
    routed: frozenset[str]

    @property
    def wrong(self) -> list[BridgeLiveness]:
        """Those that do not follow their clusters, though routes of these stand.

        One that was stopped is as somebody wanted it.
        """
        bad = ("dead", "look_ups_fail")
        return [each for each in self.lives if each.verdict in bad and each.cluster in self.routed]

    @property
    def stopped(self) -> list[BridgeLiveness]:
        """Those that were stopped in order, of clusters whose routes stand."""
        return [
            each for each in self.lives if each.verdict == "stopped" and each.cluster in self.routed
        ]

    def without(self, absent: Collection[str]) -> "Bridges":
        """Leave out what is asked about topics that do not exist."""
        return self if self.silence is None else replace(self, silence=self.silence.without(absent))

    def about(self, topics: Collection[str]) -> "Bridges":
        """Leave out what is asked for others alone than who is concerned by these topics."""
        asked = self.silence is not None and not {*self.silence.topics}.isdisjoint(topics)
        return self if asked else replace(self, silence=None)

    def rows(self) -> list[dict[str, Any]]:
        """Return each thing that is wrong as a row of `group check --all`, the worst first."""
        rows = [] if self.silence is None else [self.silence.row(self.lives)]
        for each in self.wrong:
            dead = each.verdict == "dead"
            rows.append(
                {
                    "problem": "bridge_dead" if dead else "bridge_look_ups_fail",
                    "for": each.cluster,
                    "says": f"{each.words()}: routes stay as they are, new topics and groups wait",
                    "do": f"start it with the options that it had: {each.command} --supervise "
                    "starts it again when it dies"
                    if dead
                    else "look whether its data cluster answers, and at the bridge's log",
                }
            )
        return rows


def read_bridges(source: TopicSource, now_ms: int | None = None) -> Bridges:
    """Return what the topics tell of the bridges.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    now = source.now_ms() if now_ms is None else now_ms
    rows = source.read("offsets", [0], max(now - LOOK_BACK_MS, 0))
    if not (any(map(is_sign, rows)) and any(not is_sign(row) for row in rows)):
        # A bridge that died long ago, or has not been asked for long, stands further back.
        rows = source.read("offsets", [0])
    lives = tuple(BridgeSigns.of(rows).lives(now))
    silence = bridge_silence(source, rows, now)
    routed = _routed(source.read("routes", [0])) if lives else frozenset[str]()
    return Bridges(lives, silence, routed)


def _routed(rows: Sequence[RawRecord]) -> frozenset[str]:
    """Return the clusters that some route names."""
    routes = newest_routes(rows).values()
    return frozenset(each.broker_name for route in routes for each in route.brokers)
