"""The names of keyword arguments: one that is unknown is told with the one that was meant.

Many who come here bring a configuration of kafka-python or of RocketMQ. For their words this knows
the word that means the same here, or why there is none.
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

_BYTES: Final = (
    "there is none: message.key and message.value are bytes; decode them where you use them"
)
_STRATEGY: Final = (
    "the engine shares the queues: the group's strategy is a rule, as in"
    " `fairlead group set GROUP --strategy NAME`"
)
_NO_MAXIMUM: Final = (
    "there is none: a slow message costs no membership; drain_deadline_ms is how long a queue that"
    " is taken away may take to stop"
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
    "namesrvaddr": ("bootstrap",),
    "nameserver": ("bootstrap",),
    "nameserveraddress": ("bootstrap",),
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
"""A foreign word, in small letters alone -> names here, of which a client has one at most."""

_WITHOUT: Final[Mapping[str, str]] = {
    "valuedeserializer": _BYTES,
    "keydeserializer": _BYTES,
    "valueserializer": "there is none: give a message's body as bytes",
    "keyserializer": "there is none: give a message's key as text",
    "partitionassignmentstrategy": _STRATEGY,
    "allocatemessagequeuestrategy": _STRATEGY,
    "maxpollintervalms": _NO_MAXIMUM,
    "consumetimeout": _NO_MAXIMUM,
    "consumertimeoutms": "there is none: poll(timeout_ms=…) returns when the time is over",
    "messagemodel": "clustering is Consumer, PushConsumer, PullConsumer; broadcasting is"
    " BroadcastConsumer, BroadcastPushConsumer",
    "acks": "there is none: a message is sent when all replicas in sync have it",
}
"""The same for words that have none here -> what to do instead."""

_STARTS: Final = {
    "earliest": "first_offset",
    "smallest": "first_offset",
    "latest": "last_offset",
    "largest": "last_offset",
    "consumefromfirstoffset": "first_offset",
    "consumefromlastoffset": "last_offset",
    "consumefromtimestamp": "timestamp",
}
"""Where a group starts, in foreign words -> the value of consume_from."""
_STARTING: Final = frozenset({"autooffsetreset", "consumefromwhere"})


def by_keyword(
    *needed: str,
) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """Return a decorator of an `__init__` that takes keywords only: others are told their names.

    By itself Python tells how many arguments there are, and none of their names.

    Args:
        needed: what must be given, the topics first where there are any: who comes from
            kafka-python gives them without a name.

    Raises:
        PositionalArgumentError: by what is decorated, for an argument without a name.

    What `__init__` itself needs and nobody gave is `Parameter.empty` there, so that it is told
    with the settings, by `check_function`, and not by Python.
    """

    def decorate(init: Callable[Arguments, None]) -> Callable[Arguments, None]:
        own = [
            each.name
            for each in signature(init).parameters.values()
            if each.kind is Parameter.KEYWORD_ONLY and each.default is Parameter.empty
        ]

        @wraps(init)
        def checked(*positional: Arguments.args, **given: Arguments.kwargs) -> None:
            client, *nameless = positional
            if nameless:
                raise PositionalArgumentError(
                    needed[0],
                    f"{type(client).__name__} takes arguments by their names only",
                    f"give {', '.join(_written(name, nameless) for name in needed)}",
                )
            for name in own:
                given.setdefault(name, Parameter.empty)
            init(*positional, **given)

        return checked

    return decorate


def _written(name: str, nameless: Sequence[object]) -> str:
    """Return how an argument is written, the topics as they were given if they were."""
    if name != "topics":
        return f"{name}=…"
    topics = [each for each in nameless if isinstance(each, str)]
    listed = ", ".join(f'"{topic}"' for topic in topics or ("orders",))
    return f"topics=[{listed}]"


def meant_start(word: object) -> str | None:
    """Return the value of consume_from that a foreign word means; None: it is no such word."""
    return _STARTS.get(_letters(str(word)))


def check_keywords(
    client: type, given: Mapping[str, Any], settings: type, fetch: Collection[str] = ()
) -> None:
    """Check that every keyword argument is one that a client takes, and that none is missing.

    Args:
        client: its class, for the arguments that it names itself.
        given: the others, by name.
        settings: the typed dictionary of these others.
        fetch: options that belong into the setting ``fetch``, if the client has it.

    Raises:
        SettingsError: names the first that is unknown, and the word that it has here; or the first
            that is missing.
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
    for name in sorted(settings.__required_keys__):  # type: ignore[attr-defined]
        if name not in given:
            raise SettingsError(name, f"{client.__name__} needs it", f"give {name}=…")


def check_function(client: type, name: str, value: object, call: str) -> None:
    """Check that an argument is a function, or whatever else can be called, that takes a call.

    Args:
        client: the class that takes it.
        name: its name.
        value: what was given; `Parameter.empty`: nothing was, and it is needed.
        call: how it is called.

    Raises:
        SettingsError: it is missing, cannot be called, or takes other arguments.
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
    """Whether a function can be called with so many arguments, as far as it tells."""
    try:
        # What it wraps may take others: a decorator can make one call of many.
        takes = signature(function, follow_wrapped=False)
    except Exception:  # noqa: BLE001 - functions in C tell nothing, and annotations may raise
        return True
    try:
        takes.bind(*range(count))
    except TypeError:
        return False
    return True


def _remedy(name: str, value: Any, known: Collection[str], fetch: Collection[str]) -> str:
    """Return what to write in place of an argument that is unknown."""
    letters = _letters(name)
    if letters in _STARTING and "consume_from" in known:
        start = meant_start(value)
        return f'here it is consume_from="{start or "first_offset"}"' + (
            "" if start else ', "last_offset" or "timestamp"'
        )
    if name in KAFKA_OPTIONS and "kafka" in known:
        return f"give it in kafka={{{name!r}: …}}"
    if name in fetch and "fetch" in known:
        return f"give it in fetch={{{name!r}: …}}"
    meant = _MEANT.get(letters) or tuple(each for each in known if _letters(each) == letters)
    for each in meant:
        if each in known:
            if each == "explicit_done":
                return (
                    "asking for the next message says that the one before is processed; with"
                    " explicit_done=True only done(message) does"
                )
            return f"here it is {each}"
    if letters in _WITHOUT:
        return _WITHOUT[letters]
    near = get_close_matches(name, sorted(known), n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"it takes {', '.join(sorted(known))}"


def _letters(name: str) -> str:
    """Return a word without what styles of naming differ in: autoOffsetReset, auto.offset.reset."""
    return "".join(each for each in name.lower() if each.isalnum())
