"""What is wrong with the bridges, as far as the topics tell: the one answer to that question."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fairlead.core.records import RouteChanged
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.bridge_life import BridgeLife, BridgeSigns, is_sign
from fairlead.observed.bridge_silence import LOOK_BACK_MS, BridgeSilence, bridge_silence
from fairlead.observed.finding import Finding
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

__all__ = ["Bridges", "look_at_bridges"]

_LIMITS: Final = WireLimits(shards=1)


@dataclass(frozen=True, slots=True)
class Bridges:
    """The bridges of all clusters.

    Attributes:
        lives: what is to be said of the bridge of each cluster.
        silence: what was asked and has no answer; None: nothing.
        routed: the clusters of which some route stands.
    """

    lives: tuple[BridgeLife, ...]
    silence: BridgeSilence | None
    routed: frozenset[str]

    @property
    def wrong(self) -> list[BridgeLife]:
        """Those that do not follow their clusters, though routes of these stand.

        One that was stopped is as somebody wanted it.
        """
        bad = ("dead", "look_ups_fail")
        return [each for each in self.lives if each.verdict in bad and each.cluster in self.routed]

    @property
    def stopped(self) -> list[BridgeLife]:
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

    def findings(self) -> list[Finding]:
        """Return each thing that is wrong, the worst first."""
        findings = [] if self.silence is None else [self.silence.finding(self.lives)]
        for each in self.wrong:
            dead = each.verdict == "dead"
            findings.append(
                Finding(
                    problem="bridge_dead" if dead else "bridge_look_ups_fail",
                    subject=each.cluster,
                    text=f"{each.words()}: routes stay as they are, new topics and groups wait",
                    remedy=f"start it with the options that it had: {each.command} --supervise "
                    "starts it again when it dies"
                    if dead
                    else "look whether its data cluster answers, and at the bridge's log",
                )
            )
        return findings


def look_at_bridges(source: TopicSource, now_ms: int | None = None) -> Bridges:
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
    """Return the clusters of which some topic has a route."""
    routes: dict[bytes | None, frozenset[str]] = {}
    for row in rows:
        try:
            said = decode("routes", row, _LIMITS)
        except WireError:
            continue
        assert isinstance(said, RouteChanged)
        brokers = () if said.route is None else said.route.brokers
        routes[row.key] = frozenset(each.broker_name for each in brokers)
    return frozenset().union(*routes.values())
