"""In a forked child every method of every public class raises, and says what to do."""

import asyncio
import inspect
import os
from collections.abc import Callable
from typing import Any

import fairlead_client
import pytest
from fairlead_client import ForkedClientError, Producer
from fairlead_client.consume.member import Member

KINDS = [
    kind
    for kind in vars(fairlead_client).values()
    if isinstance(kind, type) and issubclass(kind, Member | Producer)
]
OWN: dict[str, dict[str, Any]] = {
    "Client": {"on_assigned": print, "on_revoked": print},
    "PushConsumer": {"listener": print},
    "BroadcastPushConsumer": {"listener": print},
}
SPECIAL = ("__enter__", "__iter__")


def _made(kind: type) -> Any:
    topics = {} if kind is Producer else {"group": "orders", "topics": ["orders"]}
    own = OWN.get(kind.__name__, {})
    return kind(bootstrap="127.0.0.1:1", client_id="a", **topics, **own)


def _methods(kind: type) -> dict[str, Callable[..., Any]]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: each for name, each in found if not name.startswith("_") or name in SPECIAL}


def _call(one: Any, method: Callable[..., Any]) -> None:
    needed = [
        parameter
        for parameter in list(inspect.signature(method).parameters.values())[1:]
        if parameter.default is parameter.empty
    ]
    answer = method(one, *(None for _ in needed))
    if inspect.iscoroutine(answer):
        asyncio.run(answer)
    elif inspect.isgenerator(answer):
        next(answer)


def _silent_methods(one: Any) -> list[str]:
    """Return the methods that do not say what happened."""
    silent = []
    for name, method in _methods(type(one)).items():
        try:
            _call(one, method)
        except ForkedClientError as error:
            if "create the" not in str(error):
                silent.append(f"{name}: {error}")
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is not the right one
            silent.append(f"{name}: {error!r}")
        else:
            silent.append(name)
    return silent


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_client_made_before_a_fork_refuses_each_call_in_the_child(kind: type) -> None:
    """A client that was made before a fork refuses each call in the child, and has nothing."""
    one = _made(kind)
    assert len(_methods(kind)) >= 6
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        try:
            told = _silent_methods(one) + [f"has {each}" for each in getattr(one, "assigned", ())]
            os.write(writing, "; ".join(told).encode()[:4_000])
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as told_by_child:
        assert told_by_child.read() == ""
