"""Has topics looked at, and writes the resulting routes."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import structlog
from fairlead_client.session.topic_names import retried_group

from fairlead.bridges.cluster_side import ClusterSide, PublishedRoutes
from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.finding import Finding, Verdict
from fairlead.core.records import RouteChanged
from fairlead.wire.encode_bridge import encode_route
from fairlead.wire.topics import TopicNames

__all__ = ["Refreshed", "RoutePublisher"]

_TELLING: Final = frozenset(
    (Verdict.UNCLEAR, Verdict.UNCONFIRMED, Verdict.OUTDATED, Verdict.ABSENT, Verdict.REFUSED)
)

log = structlog.get_logger(__name__)


class Refreshed(NamedTuple):
    """A topic after a look: the finding, and whether it is published."""

    finding: Finding
    written: bool


class RoutePublisher:
    """Keeps the routes topic up to date with the cluster that has the messages."""

    def __init__(
        self,
        side: ClusterSide,
        control: ControlTopics,
        published: PublishedRoutes,
        names: TopicNames,
    ) -> None:
        self._side = side
        self._control = control
        self._published = published
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
        self.publish(self._side.more_routes())
        return any(each.finding.verdict is Verdict.UNCLEAR for each in refreshed.values())

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
        findings = self._side.find(topics, now_ms=now_ms, requested=requested)
        for finding in findings:
            self._log(finding)
        written = self.publish([one.publish for one in findings if one.publish is not None])
        return {
            finding.topic: Refreshed(finding, finding.publish is None or finding.topic in written)
            for finding in findings
        }

    def publish(self, changes: Sequence[RouteChanged]) -> set[str]:
        """Write routes; return the topics that were written."""
        records = [encode_route(change, self._names) for change in changes]
        written = set()
        for change, is_written in zip(changes, self._control.write(records), strict=True):
            if is_written:
                self._published.note(change)
                written.add(change.topic)
                _log_published(change)
        return written

    def _log(self, finding: Finding) -> None:
        """Log a verdict that prevents a route, once each time it begins."""
        line = f"{finding.verdict} {finding.why}"
        is_usual = finding.verdict is Verdict.ABSENT and retried_group(finding.topic) is not None
        if finding.verdict not in _TELLING or is_usual:
            self._told.pop(finding.topic, None)
        elif self._told.get(finding.topic) != line:
            self._told[finding.topic] = line
            log.warning("nothing_published", topic=finding.topic, why=line.strip())


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
