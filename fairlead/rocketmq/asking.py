"""Asks several servers of RocketMQ several things at once, each with a time limit."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Final

from fairlead_client.remoting.codes import ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import Connection
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import (
    NoResponseError,
    RemotingError,
    RequestRefusedError,
)

__all__ = ["Answer", "Question", "ask_all"]

_CONNECTING_MAX: Final = 16

Answer = Command | RemotingError
"""A response of success, or why there is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request to a server, at host:port."""

    address: str
    command: Command


def ask_all(
    connections: Connections, questions: Sequence[Question], timeout_s: float
) -> list[Answer]:
    """Return the answers in the order of the questions; all are under way at once.

    Every answer has the same time limit, in seconds, which begins when the last question is sent.
    Nothing is raised: what a server refuses or leaves open is an answer too.
    """
    made = _connected(connections, list(dict.fromkeys(each.address for each in questions)))
    sent = [_sent(made[each.address], each) for each in questions]
    until = time.monotonic() + timeout_s
    return [
        future if isinstance(future, RemotingError) else _awaited(each, future, until, timeout_s)
        for each, future in zip(questions, sent, strict=True)
    ]


def _connected(
    connections: Connections, addresses: Sequence[str]
) -> dict[str, Connection | RemotingError]:
    """Connect to all at once: one that accepts no connection takes its time limit alone."""

    def connect(address: str) -> Connection | RemotingError:
        try:
            return connections.to(address)
        except RemotingError as error:
            return error

    if len(addresses) < 2:  # noqa: PLR2004 - one needs no thread
        return {address: connect(address) for address in addresses}
    with ThreadPoolExecutor(min(len(addresses), _CONNECTING_MAX)) as pool:
        return dict(zip(addresses, pool.map(connect, addresses), strict=True))


def _sent(
    connection: Connection | RemotingError, question: Question
) -> Future[Command] | RemotingError:
    if isinstance(connection, RemotingError):
        return connection
    try:
        return connection.send(question.command)
    except RemotingError as error:
        return error


def _awaited(question: Question, future: Future[Command], until: float, timeout_s: float) -> Answer:
    try:
        response = future.result(max(0.0, until - time.monotonic()))
    except FutureTimeoutError:
        future.cancel()
        return NoResponseError(question.address, f"no answer within {timeout_s:g} s")
    except RemotingError as error:
        return error
    if response.code != ResponseCode.SUCCESS:
        return RequestRefusedError(question.address, response.code, response.remark)
    return response
