"""A keyword argument that is unknown is an error that says what it is called here."""

from functools import partial, wraps
from inspect import Parameter, signature
from typing import Any

import pytest
from fairlead_client import (
    BroadcastConsumer,
    BroadcastPushConsumer,
    Client,
    Consumer,
    Producer,
    PullConsumer,
    PushConsumer,
    SettingsError,
)

GOOD: dict[str, Any] = {"bootstrap": "b:1", "group": "orders", "topics": ["orders"]}
OWN: dict[type, dict[str, Any]] = {
    Client: {"on_assigned": lambda _queue, _offset: None, "on_revoked": lambda _queue: None},
    PushConsumer: {"listener": lambda _messages, _context: None},
    BroadcastConsumer: {"client_id": "a"},
}
FUNCTIONS: dict[type, dict[str, Any]] = {
    Client: OWN[Client],
    PushConsumer: OWN[PushConsumer],
    BroadcastPushConsumer: OWN[PushConsumer],
}
"""The functions that a kind of client needs."""


def _refused(kind: type, **given: Any) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        kind(**OWN.get(kind, {}), **given)
    return caught.value


@pytest.mark.parametrize(
    "name, value, remedy",
    [
        ("bootstrap_servers", "b:1", "use bootstrap"),
        ("group_id", "orders", "use group"),
        ("auto_offset_reset", "earliest", 'use consume_from="first_offset"'),
        ("auto_offset_reset", "latest", 'use consume_from="last_offset"'),
        ("auto_offset_reset", "none", '"first_offset", "last_offset" or "timestamp"'),
        ("value_deserializer", bytes.decode, "message.value are bytes"),
        ("session_timeout_ms", 10_000, "use lease_ms"),
        ("heartbeat_interval_ms", 3_000, "use heartbeat_ms"),
        ("max_poll_interval_ms", 3_000, "drain_deadline_ms is how long"),
        ("partition_assignment_strategy", [], "fairlead group set GROUP --strategy NAME"),
        ("security_protocol", "SSL", "give it in kafka={'security_protocol': …}"),
        ("max_poll_records", 5, "give it in fetch={'max_poll_records': …}"),
        ("namesrv_addr", "b:1", "use namesrv"),
        ("consumerGroup", "orders", "use group"),
        ("consumeFromWhere", "CONSUME_FROM_FIRST_OFFSET", 'consume_from="first_offset"'),
        ("group.id", "orders", "use group"),
        ("heartbeatMs", 3_000, "use heartbeat_ms"),
        ("consume_form", "first_offset", "did you mean consume_from?"),
        ("xyzzy", 1, "it takes "),
    ],
)
@pytest.mark.parametrize("kind", [Client, Consumer, PushConsumer, PullConsumer, BroadcastConsumer])
def test_an_unknown_argument_is_named_with_the_word_used_here(
    kind: type, name: str, value: object, remedy: str
) -> None:
    """Each kind of client names the argument and the word that it has here."""
    error = _refused(kind, **GOOD, **{name: value})
    assert error.field == name
    assert f"{kind.__name__} has no such setting" in str(error)
    assert remedy in str(error)


@pytest.mark.parametrize(
    "kind, name, remedy",
    [
        (Consumer, "enable_auto_commit", "explicit_done=True only done(message) counts"),
        (PullConsumer, "enable_auto_commit", "use auto_commit"),
        (PushConsumer, "consume_thread_max", "use consume_threads"),
        (PushConsumer, "consumeMessageBatchMaxSize", "consume_message_batch_max_size"),
        (Producer, "bootstrap_servers", "use bootstrap"),
        (Producer, "producerGroup", "use group"),
        (Producer, "sendMsgTimeout", "use send_timeout_ms"),
        (Producer, "retry", "did you mean retries?"),
    ],
)
def test_words_of_one_kind(kind: type, name: str, remedy: str) -> None:
    """The refusal of a word names the remedy of that kind of client."""
    good = {"bootstrap": "b:1"} if kind is Producer else GOOD
    assert remedy in str(_refused(kind, **good, **{name: 5}))


def test_the_unknown_is_told_first() -> None:
    """The refusal names the words of kafka-python first, not what is missing."""
    error = _refused(Consumer, bootstrap_servers="b:1", group_id="orders")
    assert error.field == "bootstrap_servers"


@pytest.mark.parametrize("missing", ["bootstrap", "group", "topics"])
def test_a_missing_setting_is_named(missing: str) -> None:
    """A setting that nobody gave is named."""
    given = {name: value for name, value in GOOD.items() if name != missing}
    error = _refused(Consumer, **given)
    assert (error.field, f"give {missing}=…" in str(error)) == (missing, True)


@pytest.mark.parametrize("value", ["x", 1, None])
@pytest.mark.parametrize(
    "kind, name, call",
    [
        (PushConsumer, "listener", "f(messages, context)"),
        (BroadcastPushConsumer, "listener", "f(messages, context)"),
        (Client, "on_assigned", "f(queue, offset)"),
        (Client, "on_revoked", "f(queue)"),
        (PushConsumer, "message_queue_changed", "f(topic, all, mine)"),
        (PullConsumer, "message_queue_changed", "f(topic, all, mine)"),
        (Producer, "make_sender", "f(settings, client_id)"),
    ],
)
def test_what_cannot_be_called_is_refused_at_once(
    kind: type, name: str, call: str, value: object
) -> None:
    """What cannot be called is refused at once, and not when it would be called."""
    good: dict[str, Any] = {"bootstrap": "b:1"} if kind is Producer else GOOD
    good = {**good, **FUNCTIONS.get(kind, {}), "client_id": "a"}
    if value is None and name not in good:
        return  # Nobody needs it.
    with pytest.raises(SettingsError) as caught:
        _made(kind, **{**good, name: value})
    assert caught.value.field == name
    said = f"{value!r} is no function; give a function that is called as {call}"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "kind, name, value, call",
    [
        (PushConsumer, "listener", lambda _message: None, "f(messages, context)"),
        (PushConsumer, "listener", lambda _a, _b, *, _c: None, "f(messages, context)"),
        (BroadcastPushConsumer, "listener", lambda: None, "f(messages, context)"),
        (Client, "on_assigned", lambda _queue: None, "f(queue, offset)"),
        (Client, "on_revoked", lambda _queue, _offset: None, "f(queue)"),
        (PullConsumer, "message_queue_changed", lambda _topic: None, "f(topic, all, mine)"),
        (Producer, "make_sender", lambda _settings: None, "f(settings, client_id)"),
    ],
)
def test_a_function_with_other_arguments_is_refused_at_once(
    kind: type, name: str, value: object, call: str
) -> None:
    """A function that cannot take its call is refused at once: else each message would fail."""
    good: dict[str, Any] = {"bootstrap": "b:1"} if kind is Producer else GOOD
    good = {**good, **FUNCTIONS.get(kind, {}), "client_id": "a"}
    with pytest.raises(SettingsError) as caught:
        _made(kind, **{**good, name: value})
    assert caught.value.field == name
    assert f"{value!r} takes other arguments; {name} is called as {call}" in str(caught.value)


def _of_one(_message: object) -> None:
    """Take one message, as a decorator gives it."""


@wraps(_of_one)
def _of_many(_messages: object, _context: object) -> None:
    """Call what takes one for each of many."""


class _Listening:
    def __call__(self, _messages: object, _context: object) -> None: ...

    def listen(self, _messages: object, _context: object, _more: object = None) -> None: ...


@pytest.mark.parametrize(
    "listener",
    [
        lambda *_any: None,
        partial(lambda _mine, _messages, _context: None, 1),
        _of_many,
        _Listening(),
        _Listening().listen,
        max,
    ],
)
def test_a_function_of_two_arguments_is_accepted(listener: object) -> None:
    """What can be called with two arguments is taken, and so is what does not tell."""
    _made(PushConsumer, **GOOD, listener=listener)


@pytest.mark.parametrize(
    "kind, name",
    [
        (PushConsumer, "listener"),
        (BroadcastPushConsumer, "listener"),
        (Client, "on_assigned"),
        (Client, "on_revoked"),
    ],
)
def test_a_missing_function_is_named_as_a_missing_setting_is(kind: type, name: str) -> None:
    """A function that a client cannot do without is named as a setting is that is missing."""
    given = {**GOOD, **FUNCTIONS[kind], "client_id": "a"}
    del given[name]
    with pytest.raises(SettingsError) as caught:
        _made(kind, **given)
    assert caught.value.field == name
    assert f"{kind.__name__} needs it; give {name}=…, called as f(" in str(caught.value)
    del given["bootstrap"]
    with pytest.raises(SettingsError, match="bootstrap"):
        _made(kind, **given)


def _made(kind: type, *positional: object, **given: Any) -> None:
    """Make a client in a way that type checkers refuse."""
    kind(*positional, **given)


@pytest.mark.parametrize("given", [3, None])
def test_done_with_no_message(given: Any) -> None:
    """An offset is no message: what is done is said with the message itself."""
    with pytest.raises(SettingsError, match=rf"^message: {given} is not a Message; give a Mess"):
        Consumer(**GOOD).done(given)


KINDS = [Client, Consumer, PushConsumer, PullConsumer, BroadcastConsumer, BroadcastPushConsumer]


@pytest.mark.parametrize("kind", KINDS)
def test_topics_without_a_name(kind: type) -> None:
    """The refusal names the setting of topics given as to kafka-python, and what is missing."""
    with pytest.raises(SettingsError) as caught:
        _made(kind, "orders", "returns", bootstrap_servers="b:1")
    assert isinstance(caught.value, TypeError)
    assert f"{kind.__name__} takes keyword arguments only" in str(caught.value)
    assert 'give topics=["orders", "returns"], group=…, bootstrap=…' in str(caught.value)
    with pytest.raises(SettingsError, match=r'give topics=\["orders"\], group='):
        _made(kind, {"bootstrap.servers": "b:1", "sasl.password": "hunter2"})


def test_a_producer_without_names() -> None:
    """A producer has no topics."""
    with pytest.raises(SettingsError, match=r"bootstrap: Producer takes .*; give bootstrap=…"):
        _made(Producer, "b:1")


@pytest.mark.parametrize("kind", [*KINDS, Producer])
def test_the_signature_names_every_setting(kind: type) -> None:
    """What a client takes is still to be seen, and nothing of it has no name."""
    parameters = signature(kind).parameters.values()
    assert {each.kind for each in parameters} == {Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD}


@pytest.mark.parametrize("kind", [Client, Consumer, PushConsumer, PullConsumer, BroadcastConsumer])
@pytest.mark.parametrize(
    "name, value, remedy",
    [
        ("topics", "orders", "'orders' is a string, not a list; give topics=[\"orders\"]"),
        ("consume_from", "earliest", 'use consume_from="first_offset"'),
        ("consume_from", "latest", 'use consume_from="last_offset"'),
        ("consume_from", "CONSUME_FROM_TIMESTAMP", 'use consume_from="timestamp"'),
        ("consume_from", "somewhere", "one of ('last_offset', 'first_offset', 'timestamp')"),
    ],
)
def test_a_value_of_another_library_is_named_as_it_is_written_here(
    kind: type, name: str, value: object, remedy: str
) -> None:
    """The refusal of another library's value shows the value that this client takes."""
    error = _refused(kind, **GOOD | {name: value})
    assert (error.field, remedy in str(error)) == (name, True)


@pytest.mark.parametrize("kind", KINDS)
def test_topics_of_the_brokers(kind: type) -> None:
    """A topic that brokers keep for themselves is refused at once, also when it is added later."""
    given = {**GOOD, **FUNCTIONS.get(kind, {}), "client_id": "a"}
    for topic in ("__consumer_offsets", "TBW102"):
        with pytest.raises(SettingsError, match="reserved for the brokers; leave it out"):
            kind(**given | {"topics": ["orders", topic]})
        with pytest.raises(SettingsError, match="reserved for the brokers; leave it out"):
            kind(**given).subscribe(["orders", topic])
    kind(**given | {"topics": ["__consumer_offsets-2", "tbw102"]})
