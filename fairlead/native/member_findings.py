"""What is wrong with the members of a native group: their ids, what they read, who knows them."""

from collections.abc import Iterator

from fairlead.core.topics.retry_topic import RETRY_TOPIC_PREFIX
from fairlead.counts import listed
from fairlead.native.group_look import FROZEN, GroupLook
from fairlead.observed.finding import Finding

__all__ = ["member_findings"]


def member_findings(look: GroupLook) -> Iterator[Finding]:
    """Yield what is wrong with its members."""
    yield from _twins(look)
    yield from _views(look)
    yield from _subscriptions(look)
    yield from _strategies(look)
    yield from _frozen(look)


def _twins(look: GroupLook) -> Iterator[Finding]:
    for each in look.members:
        if each.processes > 1:
            where = max(each.connections.values(), key=len)
            yield Finding(
                "duplicate_client_id",
                each.client_id,
                f"{each.processes} processes share this id: {listed(where)}; "
                "both take one share, and what should be the other's has no owner",
                "give each consumer its own instanceName, or use a Java client of 4.9.4 or later",
            )


def _views(look: GroupLook) -> Iterator[Finding]:
    readable = {each.queue.broker_name for each in look.queues}
    everybody = {each.member_id for each in look.members}
    for broker, known in sorted(look.knows.items()):
        # A broker without queues of the group need not know it.
        if known is None or not (known or broker in readable):
            continue
        if missing := sorted(everybody - known):
            yield Finding(
                "views_differ",
                broker,
                f"the broker does not know {listed(missing)}; who asks it for the members of the "
                "group shares the queues among fewer",
                "check the connections of these clients to this broker",
            )


def _subscriptions(look: GroupLook) -> Iterator[Finding]:
    told: dict[str, dict[str, set[str]]] = {}
    answering = {each.member_id for each in look.members if each.filters is not None}
    for each in look.members:
        for topic, words in (each.filters or {}).items():
            told.setdefault(topic, {}).setdefault(words, set()).add(each.member_id)
    for topic, by_words in sorted(told.items()):
        readers = {member_id for ids in by_words.values() for member_id in ids}
        if topic.startswith(RETRY_TOPIC_PREFIX) or (len(by_words) == 1 and readers == answering):
            continue
        said = [f"{words!r} of {listed(sorted(ids))}" for words, ids in sorted(by_words.items())]
        if absent := sorted(answering - readers):
            said.append(f"none of {listed(absent)}")
        yield Finding(
            "disagreement",
            topic,
            f"the members read it differently: {'; '.join(said)}; the broker keeps only the last "
            "heartbeat's, so messages are lost to the others",
            "give all members of the group the same topics and filters",
        )


def _strategies(look: GroupLook) -> Iterator[Finding]:
    if look.shares and len(look.assignors) > 1:
        yield Finding(
            "disagreement",
            "strategy",
            f"the members share the queues by {listed(look.assignors)}, so some queues may have "
            "two owners and others none",
            "give all members the same strategy",
        )


def _frozen(look: GroupLook) -> Iterator[Finding]:
    for each in look.members:
        # Brokers cannot ask a gRPC client, so its silence says nothing.
        if each.silence == FROZEN and not each.is_grpc:
            yield Finding(
                "frozen",
                each.client_id,
                "the client is connected, and does not answer; nobody else gets its queues until "
                "its connection ends, up to two minutes later",
                "look at the process: a long pause, no CPU, or a network that drops packets",
            )
