"""What is wrong with the bridges, as far as the topics show."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from fairlead.control.unknown_queues import newest_routes
from fairlead.core.model import RouteBroker
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.bridge_liveness import BridgeLiveness, BridgeSigns, is_sign
from fairlead.observed.bridge_silence import LOOK_BACK_MS, BridgeSilence, bridge_silence
from fairlead.observed.finding import Finding
from fairlead.wire.raw import RawRecord

__all__ = ["Bridges", "read_bridges"]


@dataclass(frozen=True, slots=True)
class Bridges:
    """The bridges of all clusters.

    Attributes:
        lives: the bridge of each cluster.
        silence: the requests that nobody has answered; None: there are none.
        routed: the clusters that some route names.
    """

    lives: tuple[BridgeLiveness, ...]
    silence: BridgeSilence | None
    routed: frozenset[str]

    @property
    def wrong(self) -> list[BridgeLiveness]:
        """Bridges that do not follow their clusters although routes name these.

        A stopped bridge is not among them: somebody wanted it so.
        """
        bad = ("dead", "look_ups_fail")
        return [each for each in self.lives if each.verdict in bad and each.cluster in self.routed]

    @property
    def stopped(self) -> list[BridgeLiveness]:
        """Bridges that somebody stopped although routes name their clusters."""
        return [
            each for each in self.lives if each.verdict == "stopped" and each.cluster in self.routed
        ]

    def without(self, absent: Collection[str]) -> "Bridges":
        """Leave out requests about topics that do not exist."""
        return self if self.silence is None else replace(self, silence=self.silence.without(absent))

    def about(self, topics: Collection[str]) -> "Bridges":
        """Leave out the silence unless a request is about one of these topics."""
        asked = self.silence is not None and not {*self.silence.topics}.isdisjoint(topics)
        return self if asked else replace(self, silence=None)

    def findings(self) -> list[Finding]:
        """Return each problem, the worst first."""
        findings = [] if self.silence is None else [self.silence.finding(self.lives)]
        for each in self.wrong:
            dead = each.verdict == "dead"
            findings.append(
                Finding(
                    problem="bridge_dead" if dead else "bridge_look_ups_fail",
                    subject=each.cluster,
                    text=f"{each.words()}: routes no longer change, new topics and groups wait",
                    remedy="start it with the options it had before; to keep it running use "
                    f"{each.command} --supervise"
                    if dead
                    else "check that its data cluster answers, and read the bridge's log",
                )
            )
        return findings


def read_bridges(source: TopicSource, now_ms: int | None = None) -> Bridges:
    """Return what the topics tell of the bridges.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    now = source.now_ms() if now_ms is None else now_ms
    rows = source.read("offsets", [0], max(now - LOOK_BACK_MS, 0))
    if not (any(map(is_sign, rows)) and any(not is_sign(row) for row in rows)):
        # A sign or an answer may stand further back: the bridge died, or nobody asked for long.
        rows = source.read("offsets", [0])
    lives = tuple(BridgeSigns.of(rows).lives(now))
    silence = bridge_silence(source, rows, now)
    brokers = _brokers(source.read("routes", [0])) if lives else []
    # A cluster of Kafka is one broker of its own name; those of RocketMQ have names of their own.
    rocketmq = {each.cluster for each in brokers if each.cluster not in ("", each.broker_name)}
    lives = tuple(
        replace(each, kind="rocketmq") if each.cluster in rocketmq else each for each in lives
    )
    routed = frozenset(each.cluster or each.broker_name for each in brokers)
    return Bridges(lives, silence, routed)


def _brokers(rows: Sequence[RawRecord]) -> list[RouteBroker]:
    """Return the brokers that some route names."""
    return [each for route in newest_routes(rows).values() for each in route.brokers]
