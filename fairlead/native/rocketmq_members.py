"""What consumers of RocketMQ say of themselves, asked through brokers that have their connections.

Asking keeps a thread of a broker and costs the consumer a little (ADR 0214).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairlead_client.remoting.codes import ResponseCode
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import NoResponseError, RequestRefusedError

from fairlead.native.group_look import FROZEN
from fairlead.rocketmq.answer_reading import read_answer
from fairlead.rocketmq.asking import Answer, Question, ask_all
from fairlead.rocketmq.group_connections import GroupConnections
from fairlead.rocketmq.running_info import RunningInfo, running_info, running_info_request

__all__ = ["RocketmqMembers", "Said", "Views"]

_AT_ONCE: Final = 8
"""How many consumers one broker asks for us at once: each keeps one of its threads."""
_SPARED_S: Final = 30.0
"""While nothing changes, a sparing look asks a group's consumers no more often than this."""

Views = Mapping[str, GroupConnections | None]
"""Broker -> whom it knows of a group; None: it did not say."""

Said = Mapping[tuple[str, str], RunningInfo | str]
"""(group, client) -> what it says of itself, or why it says nothing."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a group's consumers said at ``at_s``; ``rests``: the same as when asked before."""

    at_s: float
    said: Mapping[str, RunningInfo | str]
    rests: bool


class RocketmqMembers:
    """Asks consumers, and remembers their answers for sparing looks.

    Args:
        connections: to the brokers.
        client_s: how long a consumer may take to answer, in seconds.
        sparing: a group whose members are the same, and whose latest two answers were the same, is
            asked every 30 s.
    """

    def __init__(self, connections: Connections, client_s: float, *, sparing: bool) -> None:
        self._connections, self._client_s, self._sparing = connections, client_s, sparing
        self._heard: dict[str, _Heard] = {}

    def said(self, masters: Mapping[str, str], views: Mapping[str, Views]) -> Said:
        """Return what the consumers of groups say.

        Args:
            masters: broker name -> address.
            views: whom the brokers know, by group.
        """
        self._heard = {group: each for group, each in self._heard.items() if group in views}
        through = {group: _through(seen) for group, seen in views.items()}
        due = {
            group: each
            for group, each in through.items()
            if not (self._sparing and self._is_spared(group, each))
        }
        answers = self._ask(masters, due)
        for group, clients in due.items():
            said = {client_id: answers[group, client_id] for client_id in clients}
            before = self._heard.get(group)
            rests = before is not None and _works(before.said) == _works(said)
            self._heard[group] = _Heard(time.monotonic(), said, rests)
        return {
            (group, client_id): each
            for group, heard in self._heard.items()
            for client_id, each in heard.said.items()
        }

    def _is_spared(self, group: str, through: Mapping[str, list[str]]) -> bool:
        heard = self._heard.get(group)
        if heard is None or not heard.rests or heard.said.keys() != through.keys():
            return False
        return time.monotonic() - heard.at_s < _SPARED_S

    def _ask(
        self, masters: Mapping[str, str], due: Mapping[str, Mapping[str, list[str]]]
    ) -> dict[tuple[str, str], RunningInfo | str]:
        """Ask each client through one broker that has its connection, the brokers in turn."""
        by_broker: dict[str, list[tuple[str, str]]] = {name: [] for name in masters}
        for group, through in due.items():
            for number, client_id in enumerate(sorted(through)):
                brokers = through[client_id]
                by_broker[brokers[number % len(brokers)]].append((group, client_id))
        found: dict[tuple[str, str], RunningInfo | str] = {}
        while any(by_broker.values()):
            asked = [(name, place) for name, each in by_broker.items() for place in each[:_AT_ONCE]]
            by_broker = {name: each[_AT_ONCE:] for name, each in by_broker.items()}
            questions = [
                Question(masters[name], running_info_request(*place)) for name, place in asked
            ]
            answers = ask_all(self._connections, questions, self._client_s)
            for (name, place), answer in zip(asked, answers, strict=True):
                found[place] = _said(masters[name], answer)
        return found


def _through(seen: Views) -> dict[str, list[str]]:
    """Return client -> the brokers that have its connection."""
    found: dict[str, list[str]] = {}
    for broker, view in seen.items():
        for client_id in {each.client_id for each in view.connections} if view else ():
            found.setdefault(client_id, []).append(broker)
    return found


def _works(said: Mapping[str, RunningInfo | str]) -> dict[str, object]:
    """Return what consumers work on, to compare two answers; what each waits for differs always."""
    return {
        client_id: each if isinstance(each, str) else frozenset(each.queues)
        for client_id, each in said.items()
    }


def _said(address: str, answer: Answer) -> RunningInfo | str:
    said = read_answer(address, answer, running_info)
    if isinstance(said, RunningInfo):
        return said
    timed_out = (
        isinstance(answer, RequestRefusedError) and answer.code == ResponseCode.CONSUME_MSG_TIMEOUT
    )
    return FROZEN if timed_out or isinstance(answer, NoResponseError) else str(said)
