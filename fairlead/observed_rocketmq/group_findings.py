"""What is wrong with a group that a look has seen, and what is only unusual."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from fairlead.counts import counted, listed
from fairlead.observed.finding import Finding
from fairlead.observed_rocketmq.seen_group import FROZEN, SeenGroup, is_retry
from fairlead.observed_rocketmq.share_forecast import shares_by
from fairlead.planning.imbalance import skew_of
from strategies.registry import STRATEGIES

__all__ = ["KNOWN_STRATEGIES", "findings_of", "notes_of"]

KNOWN_STRATEGIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "AllocateMessageQueueAveragely": "AVG",
        "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
    }
)
"""RocketMQ's class -> our name of it. Others have options that nobody can see from outside."""

_SPREAD_MIN: Final = 2
_LAG_RATIO: Final = 2.0
_LAG_MIN: Final = 1000


def findings_of(group: SeenGroup) -> tuple[Finding, ...]:
    """Return what is wrong; docs/observe-rocketmq.md explains each problem."""
    found = [*_twins(group), *_views(group), *_subscriptions(group), *_frozen(group)]
    if not group.is_broadcast and group.members:
        found += [*_owners(group), *_against_the_strategy(group)]
    return tuple(found)


def notes_of(group: SeenGroup) -> tuple[str, ...]:
    """Return what is unusual, a sentence each; it changes no exit code."""
    notes = list(group.partial)
    unknown = [each for each in group.members if each.silence not in ("", FROZEN)]
    notes += [f"{each.client_id} does not say what it works on: {each.silence}" for each in unknown]
    if group.is_broadcast or not group.members or any(not each.info for each in group.members):
        return tuple(notes)
    held = {
        each.client_id: [queue for queue in each.info.queues if not is_retry(queue.topic)]
        for each in group.members
        if each.info
    }
    idle = [client_id for client_id, queues in held.items() if not queues]
    if idle:
        notes.append(f"{counted(len(idle), 'client')} without a queue: {listed(idle)}")
    queues = skew_of(len(each) for each in held.values())
    if queues.spread >= _SPREAD_MIN and queues.most > queues.mean + 1:
        notes.append(
            f"skew by queues: {queues.most:g} for one client, {queues.least:g} for another"
        )
    lag = skew_of(group.lag_of(each) for each in held.values())
    if lag.most >= _LAG_MIN and lag.most >= _LAG_RATIO * lag.mean:
        notes.append(
            f"skew by lag: {lag.most:g} messages wait at one client, {lag.mean:.0f} on average"
        )
    return tuple(notes)


def _twins(group: SeenGroup) -> Iterator[Finding]:
    for each in group.members:
        if each.twins > 1:
            where = max(each.addresses.values(), key=len)
            yield Finding(
                "twin_ids",
                each.client_id,
                f"{counted(each.twins, 'process')} share this id: {listed(where)}; "
                "both take one share, and what should be the other's has no owner",
                "give each consumer its own instanceName, or use a client of 4.9.4 or later",
            )


def _views(group: SeenGroup) -> Iterator[Finding]:
    readable = {queue.broker_name for queue in group.queues}
    asked = {
        name: {one.client_id for one in view.connections}
        for name, view in group.views.items()
        if view is not None and (view.connections or name in readable)
    }
    everybody = {each.client_id for each in group.members}
    for name, known in sorted(asked.items()):
        if missing := sorted(everybody - known):
            yield Finding(
                "views_differ",
                name,
                f"the broker does not know {listed(missing)}; who asks it for the members of the "
                "group shares the queues among fewer",
                "check the connections of these clients to this broker",
            )


def _subscriptions(group: SeenGroup) -> Iterator[Finding]:
    told: dict[str, dict[str, set[str]]] = {}
    for each in group.members:
        for topic, words in each.info.subscriptions.items() if each.info else ():
            told.setdefault(topic, {}).setdefault(words, set()).add(each.client_id)
    answering = {each.client_id for each in group.members if each.info}
    for topic, by_words in sorted(told.items()):
        readers = {client_id for ids in by_words.values() for client_id in ids}
        if is_retry(topic) or (len(by_words) == 1 and readers == answering):
            continue
        said = [f"{words!r} of {listed(sorted(ids))}" for words, ids in sorted(by_words.items())]
        if absent := sorted(answering - readers):
            said.append(f"none of {listed(absent)}")
        yield Finding(
            "subscriptions_disagree",
            topic,
            f"the members read it differently: {'; '.join(said)}; the broker keeps only the last "
            "heartbeat's, so messages are lost to the others",
            "give all members of the group the same topics and filters",
        )


def _frozen(group: SeenGroup) -> Iterator[Finding]:
    for each in group.members:
        if each.silence == FROZEN:
            yield Finding(
                "frozen",
                each.client_id,
                "the client is connected, and does not answer; nobody else gets its queues until "
                "its connection ends",
                "look at the process: a long pause, no CPU, or a network that drops packets",
            )


def _owners(group: SeenGroup) -> Iterator[Finding]:
    silent = any(each.info is None for each in group.members)
    nobodys: Counter[str] = Counter()
    for queue, owners in group.owners.items():
        if len(owners) > 1:
            yield Finding(
                "two_owners",
                str(queue),
                f"{listed(owners)} work on it at the same time",
                "look again: if it stays, the members do not know of each other",
            )
        # Clients learn of a new retry topic up to 30 s later; before, nothing can wait in it.
        elif not owners and not silent and (not is_retry(queue.topic) or group.queues[queue].lag):
            nobodys[queue.topic] += 1
    for topic, number in sorted(nobodys.items()):
        yield Finding(
            "no_owner",
            topic,
            f"nobody works on {counted(number, 'queue')} of it",
            "look again after 20 s: if it stays, see what else is said of the group",
        )


def _against_the_strategy(group: SeenGroup) -> Iterator[Finding]:
    if len(group.strategies) > 1:
        yield Finding(
            "strategies_differ",
            None,
            f"the members share the queues by {listed(group.strategies)}, so some queues may have "
            "two owners and others none",
            "give all members the same strategy",
        )
        return
    if not group.strategies or any(not each.info or each.twins > 1 for each in group.members):
        return
    name = KNOWN_STRATEGIES.get(group.strategies[0])
    if name is None:
        return
    queues = [each for each in group.queues if not is_retry(each.topic)]
    ids = [each.client_id for each in group.members]
    should = shares_by(STRATEGIES[name], ids, queues, {})
    owners = group.owners
    elsewhere = Counter(
        each.topic for each in queues if owners[each] and owners[each] != (should.get(each),)
    )
    for topic, number in sorted(elsewhere.items()):
        yield Finding(
            "not_as_strategy",
            topic,
            f"{counted(number, 'queue')} of it not where {name} puts them for these members",
            "look again after 20 s: if it stays, some members see other members or other queues",
        )
