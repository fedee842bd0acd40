"""Frees the locks that brokers keep for ordered consumers which the engine has given up.

It does what a consumer does that stops in order (UNLOCK_BATCH_MQ,
RebalanceLockManager#unlockBatch). A broker frees what this consumer has locked, and nothing else.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson
import structlog
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command

from fairlead.core.outputs import Request
from fairlead.rocketmq.asking import Answer, Question

__all__ = ["DeadLocks"]

_WAITING_MAX: Final = 1_000
_TOGETHER: Final = 100

log = structlog.get_logger(__name__)


class DeadLocks:
    """The locks that wait to be freed: each is tried once, since it ends by itself after 60 s.

    Args:
        ask: asks brokers, and returns their answers in the order of the questions.
    """

    def __init__(self, ask: Callable[[Sequence[Question]], list[Answer]]) -> None:
        self._ask = ask
        self._waiting: deque[Request] = deque(maxlen=_WAITING_MAX)

    def note(self, request: Request) -> None:
        """Note whose locks are to be freed; of too many the oldest are left alone."""
        self._waiting.append(request)

    def work(self, masters: Callable[[str], Mapping[str, str]]) -> None:
        """Free some of them; ``masters`` returns broker name -> address by topic."""
        asked: list[tuple[Request, Question]] = []
        while self._waiting and len(asked) < _TOGETHER:
            request = self._waiting.popleft()
            addresses = masters(request.topic)
            for name, queues in _by_broker(request).items():
                if name in addresses:
                    command = unlock_request(request, queues)
                    asked.append((request, Question(addresses[name], command)))
        heard = self._ask([question for _, question in asked])
        for (request, question), answer in zip(asked, heard, strict=True):
            if isinstance(answer, Command):
                log.info("locks_freed", group=request.group, consumer=request.consumer)
            else:
                log.warning(
                    "locks_not_freed",
                    group=request.group,
                    consumer=request.consumer,
                    address=question.address,
                    error=str(answer),
                )


def unlock_request(request: Request, queues: Sequence[Mapping[str, Any]]) -> Command:
    """Return the command that frees these queues of one broker (UnlockBatchRequestBody)."""
    body = {
        "consumerGroup": request.group,
        "clientId": request.consumer,
        "onlyThisBroker": False,
        "mqSet": list(queues),
    }
    return Command(RequestCode.UNLOCK_BATCH_MQ, body=orjson.dumps(body))


def _by_broker(request: Request) -> dict[str, list[dict[str, Any]]]:
    queues: dict[str, list[dict[str, Any]]] = {}
    for topic, name, number in request.queues or ():
        entry = {"topic": topic, "brokerName": name, "queueId": number}
        queues.setdefault(name, []).append(entry)
    return queues
