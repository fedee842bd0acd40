"""Looks at the groups of a RocketMQ cluster: every question at once, nothing changed (ADR 0212)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError

from fairlead.core.ordering import java_order, queue_order
from fairlead.errors import EnvironmentMissingError
from fairlead.native.cluster_look import ClusterLook
from fairlead.native.group_look import GroupLook, Kind, MemberLook, queue_looks
from fairlead.native.rocketmq_members import RocketmqMembers, Said, Views
from fairlead.native.rocketmq_queues import QueuesSeen, queues_seen
from fairlead.rocketmq.answer_reading import read_answer
from fairlead.rocketmq.asking import Question, ask_all
from fairlead.rocketmq.broker_groups import groups_of, groups_request
from fairlead.rocketmq.group_connections import (
    ClientConnection,
    GroupConnections,
    connections_request,
    connections_seen,
)
from fairlead.rocketmq.name_servers import NameServers
from fairlead.rocketmq.running_info import RunningInfo

__all__ = ["RocketmqGroups"]

_SYSTEM: Final = (
    *("CID_RMQ_SYS_", "CID_ONSAPI_", "CID_ONS-HTTP-PROXY", "SELF_TEST_C_GROUP", "TOOLS_CONSUMER"),
    *("FILTERSRV_CONSUMER", "__MONITOR_CONSUMER", "CID_DefaultHeartBeatSyncerTopic"),
)
"""How names of RocketMQ's own groups begin (MixAll, TopicValidator)."""


class RocketmqGroups:
    """The groups of one cluster.

    Args:
        connections: to its servers.
        name_servers: its name servers.
        cluster: the cluster's name, if the name servers know several; None: all brokers.
        answer_s: how long a server may take to answer, in seconds.
        client_s: how long a consumer may take, in seconds; one that takes longer is frozen.
        sparing: ask consumers what they work on only while something changes, and otherwise every
            30 s: for looks that follow each other.
    """

    kind: Kind = "rocketmq"

    def __init__(
        self,
        connections: Connections,
        name_servers: NameServers,
        *,
        cluster: str | None = None,
        answer_s: float = 3.0,
        client_s: float = 2.0,
        sparing: bool = False,
    ) -> None:
        self._connections, self._name_servers = connections, name_servers
        self._cluster, self._answer_s = cluster, answer_s
        self._members = RocketmqMembers(connections, client_s, sparing=sparing)

    def look(self, wanted: Callable[[str], bool]) -> ClusterLook:
        """Look at the groups for whose names ``wanted`` is true, without RocketMQ's own ones.

        Raises:
            EnvironmentMissingError: no name server answers, or no broker.
            UsageError: there is no cluster of this name.
        """
        info = self._name_servers.cluster_info().named(self._cluster)
        groups, silent = self._groups(info.masters)
        # One that does not answer would take its time limit from each question.
        masters = {name: at for name, at in info.masters.items() if name not in silent}
        views = self._views(masters, [each for each in groups if wanted(each)])
        said = self._members.said(masters, views)
        queues = queues_seen(
            self._connections,
            self._name_servers.without(info.unheard),
            masters,
            {name: _subscribed(seen) for name, seen in views.items()},
            brokers=info.masters.keys(),
            answer_s=self._answer_s,
        )
        missing = tuple(f"the broker {name} does not answer" for name in sorted(silent))
        return ClusterLook(
            tuple(
                _group_look(name, {**seen, **dict.fromkeys(silent)}, said, queues[name], missing)
                for name, seen in views.items()
            ),
            tuple(f"name server {why}" for why in info.unheard.values())
            + tuple(f"broker {name}: {why}" for name, why in sorted(silent.items())),
        )

    def _groups(self, masters: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the groups that any broker knows, and the brokers that do not say, with why.

        Raises:
            EnvironmentMissingError: no broker answers.
        """
        questions = [Question(each, groups_request()) for each in masters.values()]
        answers = ask_all(self._connections, questions, self._answer_s)
        heard, silent = [], {}
        for name, answer in zip(masters, answers, strict=True):
            known = read_answer(masters[name], answer, groups_of)
            if isinstance(known, RemotingError):
                silent[name] = str(known)
            else:
                heard.append(known)
        if not heard:
            says = "; ".join(silent.values()) or "the name servers know none"
            raise EnvironmentMissingError(
                f"brokers: none answers ({says}).",
                remedy="Check that this machine may connect to the brokers' addresses.",
            )
        names = {name for each in heard for name in each if not name.startswith(_SYSTEM)}
        return tuple(sorted(names)), silent

    def _views(self, masters: Mapping[str, str], groups: Sequence[str]) -> dict[str, Views]:
        """Return group -> broker -> whom it knows (203, from every broker)."""
        places = [(group, broker) for group in groups for broker in masters]
        answers = ask_all(
            self._connections,
            [Question(masters[broker], connections_request(group)) for group, broker in places],
            self._answer_s,
        )
        found: dict[str, dict[str, GroupConnections | None]] = {each: {} for each in groups}
        for (group, broker), answer in zip(places, answers, strict=True):
            seen = connections_seen(masters[broker], answer)
            found[group][broker] = None if isinstance(seen, RemotingError) else seen
        return {**found}


def _subscribed(seen: Views) -> set[str]:
    return {topic for view in seen.values() if view for topic in view.subscriptions or ()}


def _group_look(
    name: str, seen: Views, said: Said, queues: QueuesSeen, missing: tuple[str, ...]
) -> GroupLook:
    members = _members(name, seen, said)
    missing += queues.unread + tuple(
        f"the broker {broker} does not say who is connected"
        for broker, view in seen.items()
        if view is None and f"the broker {broker} does not answer" not in missing
    )
    there = {*queues.queues}
    protocol = next((each.model.lower() for each in seen.values() if each and each.model), None)
    if any(
        group == name and isinstance(each, RunningInfo) and each.pops
        for (group, _), each in said.items()
    ):
        protocol = "pop"
    return GroupLook(
        group=name,
        kind="rocketmq",
        protocol=protocol,
        shares=protocol == "clustering",
        # A broker that is away may have members that no other knows: nobody can say who left.
        settled=False if missing else None,
        assignors=tuple(sorted({each.assignor for each in members if each.assignor})),
        members=members,
        # A member may work on a queue that no route has any more.
        queues=tuple(
            each
            for each in queue_looks(members, there, queues.committed, queues.ends)
            if each.queue in there
        ),
        topics=frozenset(_subscribed(seen)),
        knows={
            broker: None if view is None else frozenset(each.client_id for each in view.connections)
            for broker, view in seen.items()
        },
        unread=missing,
    )


def _members(group: str, seen: Views, said: Said) -> tuple[MemberLook, ...]:
    connected: dict[str, dict[str, list[ClientConnection]]] = {}
    for broker, view in seen.items():
        for each in view.connections if view else ():
            connected.setdefault(each.client_id, {}).setdefault(broker, []).append(each)
    return tuple(
        _member(client_id, connected[client_id], said.get((group, client_id), "it was not asked"))
        for client_id in sorted(connected, key=java_order)
    )


def _member(
    client_id: str, connected: Mapping[str, Sequence[ClientConnection]], said: RunningInfo | str
) -> MemberLook:
    first = next(iter(connected.values()))[0]
    info = None if isinstance(said, str) else said
    return MemberLook(
        member_id=client_id,
        client_id=client_id,
        host=first.address.rpartition(":")[0],
        topics=None if info is None else tuple(sorted(info.subscriptions)),
        owns=() if info is None else tuple(sorted(info.queues, key=queue_order)),
        silence=said if isinstance(said, str) else "",
        connections={
            broker: tuple(each.address for each in every) for broker, every in connected.items()
        },
        filters=None if info is None else info.subscriptions,
        assignor=info.strategy or None if info else None,
        language=first.language or None,
        version=info.version or None if info else None,
    )
