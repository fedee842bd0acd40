"""Checks the names of keyword arguments, and suggests the right one for an unknown one.

It also knows the names that kafka-python and RocketMQ use, with the name here or why there is none.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Final, ParamSpec

from fairlead_client.errors import PositionalArgumentError, SettingsError
from fairlead_client.settings.common_settings import KAFKA_OPTIONS

__all__ = ["by_keyword", "check_function", "check_keywords", "meant_start"]

Arguments = ParamSpec("Arguments")

_BYTES: Final = "message.key and message.value are bytes; decode them in your code"
_STRATEGY: Final = (
    "the engine distributes the queues: the group's strategy is a rule, as in"
    " `fairlead group set GROUP --strategy NAME`"
)
_NO_MAXIMUM: Final = (
    "a slow message does not end the membership; drain_deadline_ms is how long a"
    " queue that moves may take to stop"
)

_MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    # kafka-python and librdkafka
    "bootstrapservers": ("bootstrap",),
    "groupid": ("group",),
    "topic": ("topics",),
    "sessiontimeoutms": ("lease_ms",),
    "heartbeatintervalms": ("heartbeat_ms",),
    "autocommitintervalms": ("commit_ms",),
    "groupinstanceid": ("client_id",),
    "enableautocommit": ("auto_commit", "explicit_done"),
    # RocketMQ
    "namesrvaddr": ("namesrv", "bootstrap"),
    "nameserver": ("namesrv", "bootstrap"),
    "nameserveraddress": ("namesrv", "bootstrap"),
    "consumergroup": ("group",),
    "producergroup": ("group",),
    "groupname": ("group",),
    "instancename": ("client_id",),
    "subscription": ("topics",),
    "messagelistener": ("listener",),
    "consumethreadmin": ("consume_threads",),
    "consumethreadmax": ("consume_threads",),
    "consumethreadnums": ("consume_threads",),
    "heartbeatbrokerinterval": ("heartbeat_ms",),
    "persistconsumeroffsetinterval": ("commit_ms",),
    "messagequeuelistener": ("message_queue_changed",),
    "sendmsgtimeout": ("send_timeout_ms",),
    "retrytimeswhensendfailed": ("retries",),
    "retrytimeswhensendasyncfailed": ("retries",),
    "maxmessagesize": ("max_message_bytes",),
    "sendlatencyfaultenable": ("avoid_slow",),
}
"""A foreign name, in lowercase letters only -> names here; a client has at most one of them."""

_WITHOUT: Final[Mapping[str, str]] = {
    "valuedeserializer": _BYTES,
    "keydeserializer": _BYTES,
    "valueserializer": "give a message's body as bytes",
    "keyserializer": "give a message's key as text",
    "partitionassignmentstrategy": _STRATEGY,
    "allocatemessagequeuestrategy": _STRATEGY,
    "maxpollintervalms": _NO_MAXIMUM,
    "consumetimeout": _NO_MAXIMUM,
    "consumertimeoutms": "poll(timeout_ms=…) returns when the time is over",
    "messagemodel": "clustering is Consumer, PushConsumer, PullConsumer; broadcasting is"
    " BroadcastConsumer, BroadcastPushConsumer",
    "acks": "a message is sent when all replicas in sync have it",
}
"""A foreign name without a counterpart here -> what to do instead."""

_STARTS: Final = {
    "earliest": "first_offset",
    "smallest": "first_offset",
    "latest": "last_offset",
    "largest": "last_offset",
    "consumefromfirstoffset": "first_offset",
    "consumefromlastoffset": "last_offset",
    "consumefromtimestamp": "timestamp",
}
"""Where a group starts, in foreign words -> the value of `consume_from`."""
_STARTING: Final = frozenset({"autooffsetreset", "consumefromwhere"})


def by_keyword(
    *needed: str,
) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """Return a decorator for an `__init__` that takes keyword arguments only.

    For an argument without a name the decorated `__init__` raises a PositionalArgumentError that
    names the arguments; Python's own error gives only their number. A missing argument of
    `__init__` becomes `Parameter.empty`, so that `check_function` reports it like a setting.

    Args:
        needed: the required arguments; topics come first, because kafka-python takes them
            without a name.
    """

    def decorate(init: Callable[Arguments, None]) -> Callable[Arguments, None]:
        own = [
            parameter.name
            for parameter in signature(init).parameters.values()
            if parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty
        ]

        @wraps(init)
        def checked(*positional: Arguments.args, **given: Arguments.kwargs) -> None:
            client, *nameless = positional
            if nameless:
                raise PositionalArgumentError(
                    needed[0],
                    f"{type(client).__name__} takes keyword arguments only",
                    f"give {', '.join(_written(name, nameless) for name in needed)}",
                )
            for name in own:
                given.setdefault(name, Parameter.empty)
            init(*positional, **given)

        return checked

    return decorate


def _written(name: str, nameless: Sequence[object]) -> str:
    """Return how to write an argument; topics with the given names, if there are any."""
    if name != "topics":
        return f"{name}=…"
    topics = [value for value in nameless if isinstance(value, str)]
    listed = ", ".join(f'"{topic}"' for topic in topics or ("orders",))
    return f"topics=[{listed}]"


def meant_start(word: object) -> str | None:
    """Return the value of `consume_from` for a foreign word; None if it is no such word."""
    return _STARTS.get(_letters(str(word)))


def check_keywords(
    client: type,
    given: Mapping[str, Any],
    settings: type,
    fetch: Collection[str] = (),
    needs: Collection[str] = (),
) -> None:
    """Check that a client takes every keyword argument, and that none is missing.

    Args:
        client: the client's class, which has arguments of its own.
        given: the arguments that are settings, by name.
        settings: the typed dictionary of the settings.
        fetch: options that belong into the setting `fetch`, if the client has it.
        needs: settings that this client needs beside the required ones.

    Raises:
        SettingsError: an argument is unknown (the error suggests the right one) or missing.
    """
    own = {
        parameter.name
        for parameter in signature(client).parameters.values()
        if parameter.kind is Parameter.KEYWORD_ONLY
    }
    taken: frozenset[str] = settings.__required_keys__ | settings.__optional_keys__  # type: ignore[attr-defined]
    known = own | taken
    for name, value in given.items():
        if name not in taken:
            problem = f"{client.__name__} has no such setting"
            raise SettingsError(name, problem, _remedy(name, value, known, fetch))
    for name in sorted({*settings.__required_keys__, *needs}):  # type: ignore[attr-defined]
        if name not in given:
            raise SettingsError(name, f"{client.__name__} needs it", f"give {name}=…")


def check_function(client: type, name: str, value: object, call: str) -> None:
    """Check that an argument is a function, or another callable, that accepts the client's call.

    Args:
        client: the client's class.
        name: the argument's name.
        value: the argument; `Parameter.empty` if it is missing.
        call: how the client calls it, such as `f(queue)`.

    Raises:
        SettingsError: it is missing, is not callable, or takes other arguments.
    """
    if value is Parameter.empty:
        raise SettingsError(name, f"{client.__name__} needs it", f"give {name}=…, called as {call}")
    if not callable(value):
        problem = f"{value!r} is no function"
        raise SettingsError(name, problem, f"give a function that is called as {call}")
    if not _takes(value, call.count(",") + 1):
        problem = f"{value!r} takes other arguments"
        raise SettingsError(name, problem, f"{name} is called as {call}")


def _takes(function: Callable[..., object], count: int) -> bool:
    """Whether a function can be called with this many arguments, as far as its signature says."""
    try:
        # A wrapped function may take other arguments than its decorator.
        takes = signature(function, follow_wrapped=False)
    except Exception:  # noqa: BLE001 - functions in C tell nothing, and annotations may raise
        return True
    try:
        takes.bind(*range(count))
    except TypeError:
        return False
    return True


def _remedy(name: str, value: Any, known: Collection[str], fetch: Collection[str]) -> str:
    """Return what to write instead of an unknown argument."""
    letters = _letters(name)
    if letters in _STARTING and "consume_from" in known:
        start = meant_start(value)
        return f'use consume_from="{start or "first_offset"}"' + (
            "" if start else ', "last_offset" or "timestamp"'
        )
    if name in KAFKA_OPTIONS and "kafka" in known:
        return f"give it in kafka={{{name!r}: …}}"
    if name in fetch and "fetch" in known:
        return f"give it in fetch={{{name!r}: …}}"
    meant = _MEANT.get(letters) or tuple(word for word in known if _letters(word) == letters)
    for word in meant:
        if word in known:
            if word == "explicit_done":
                return (
                    "a message counts as processed when you ask for the next one; with"
                    " explicit_done=True only done(message) counts"
                )
            return f"use {word}"
    if letters in _WITHOUT:
        return _WITHOUT[letters]
    near = get_close_matches(name, sorted(known), n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"it takes {', '.join(sorted(known))}"


def _letters(name: str) -> str:
    """Return a name's lowercase letters: autoOffsetReset and auto.offset.reset become one."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
