"""Looks at topics, lets the book judge each look, and writes the resulting routes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import structlog
from fairlead_client.session.topic_names import retried_group

from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.kafka.control_topics import ControlTopics
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.route_book import RouteBook
from fairlead.bridges.kafka.snapshot import Racks, TopicLook, TopicSeen, TopicUnclear
from fairlead.core.records import RouteChanged
from fairlead.wire.encode_bridge import encode_route
from fairlead.wire.topics import TopicNames

__all__ = ["Refreshed", "RoutePublisher"]

_TELLING: Final = frozenset(
    (Verdict.UNCLEAR, Verdict.UNCONFIRMED, Verdict.OUTDATED, Verdict.ABSENT)
)

log = structlog.get_logger(__name__)


class Refreshed(NamedTuple):
    """A topic after a look: the finding, partition -> leader, and whether it is published."""

    finding: Finding
    leaders: Mapping[int, int]
    written: bool


class RoutePublisher:
    """Keeps the routes topic up to date with the data cluster."""

    def __init__(
        self, data: DataCluster, control: ControlTopics, book: RouteBook, names: TopicNames
    ) -> None:
        self._data = data
        self._control = control
        self._book = book
        self._names = names
        self._told: dict[str, str] = {}

    def watch(self, topics: Sequence[str], *, now_ms: int) -> bool:
        """Look at all watched topics and publish the changes; forget all other topics.

        Returns:
            Whether the cluster failed to describe one of them.
        """
        watched = set(topics)
        self._told = {topic: line for topic, line in self._told.items() if topic in watched}
        refreshed = self.refresh(topics, now_ms=now_ms)
        return any(each.finding.verdict is Verdict.UNCLEAR for each in refreshed.values())

    def publish_default(self, queue_nums: int) -> None:
        """Publish the default route with this many queues, or delete it (0), if it changes."""
        change = self._book.find_default(queue_nums)
        if change is not None:
            self._write([change])

    def refresh(
        self, topics: Sequence[str], *, now_ms: int, requested: Collection[str] = ()
    ) -> dict[str, Refreshed]:
        """Look at these topics and publish changed and requested routes.

        Args:
            topics: the topics to look at; if empty, nothing happens.
            now_ms: a monotonic clock.
            requested: the topics whose route somebody lacks.

        Returns:
            The result per topic. A route whose write failed is not noted in the book, so that the
            next look publishes it again.
        """
        if not topics:
            return {}
        looks, racks = self._data.look_at(topics)
        findings = [self._find(look, racks, now_ms, requested) for look in looks]
        written = self._publish(findings)
        return {
            finding.topic: Refreshed(
                finding,
                _leaders(look),
                finding.publish is None or finding.topic in written,
            )
            for look, finding in zip(looks, findings, strict=True)
        }

    def _find(
        self, look: TopicLook, racks: Racks, now_ms: int, requested: Collection[str]
    ) -> Finding:
        finding = self._book.find(look, racks, now_ms=now_ms, requested=look.topic in requested)
        self._log(finding, look)
        return finding

    def _publish(self, findings: Sequence[Finding]) -> set[str]:
        """Write the findings' routes; return the topics that were written."""
        return self._write([one.publish for one in findings if one.publish is not None])

    def _write(self, changes: Sequence[RouteChanged]) -> set[str]:
        """Write routes; return the topics that were written."""
        records = [encode_route(change, self._names) for change in changes]
        written = set()
        for change, is_written in zip(changes, self._control.write(records), strict=True):
            if is_written:
                self._book.note(change)
                written.add(change.topic)
                _log_published(change)
        return written

    def _log(self, finding: Finding, look: TopicLook) -> None:
        """Log a verdict that prevents a route, once each time it begins."""
        line = f"{finding.verdict} {look.why if isinstance(look, TopicUnclear) else ''}"
        is_usual = finding.verdict is Verdict.ABSENT and retried_group(finding.topic) is not None
        if finding.verdict not in _TELLING or is_usual:
            self._told.pop(finding.topic, None)
        elif self._told.get(finding.topic) != line:
            self._told[finding.topic] = line
            log.warning("nothing_published", topic=finding.topic, why=line.strip())


def _leaders(look: TopicLook) -> dict[int, int]:
    if not isinstance(look, TopicSeen):
        return {}
    return {
        partition: leader for partition, leader in enumerate(look.leaders) if leader is not None
    }


def _log_published(change: RouteChanged) -> None:
    if change.route is None:
        log.info("route_deleted", topic=change.topic)
    else:
        log.info(
            "route_published",
            topic=change.topic,
            identity=change.route.identity,
            queues=sum(broker.read_queue_nums for broker in change.route.brokers),
        )
