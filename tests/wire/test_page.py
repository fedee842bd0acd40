"""The page says what the code does."""

import pytest
from jsonschema import Draft202012Validator

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.publishing.digest import digest
from fairlead.core.records import (
    BridgeSign,
    Claims,
    Generation,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
    Tick,
    TopicAbsent,
)
from fairlead.core.standby_records import Former, MembersLook
from fairlead.wire.decode import decode
from fairlead.wire.reasons import ENGINE_REASONS, REASON_MEANINGS, Reason
from tests.kit.protocol_page import examples, schemas, table, validator
from tests.kit.wire_records import LIMITS, TOPIC_OF, example, raw_of

KINDS = (*TOPIC_OF, "request", "assignment", "notice", "decision", "reject")
TYPES = {
    "heartbeat": Heartbeat,
    "leave": Leave,
    "progress": Progress,
    "claims": Claims,
    "former": Former,
    "tick": Tick,
    "release": Release,
    "rule": RuleSet,
    "reset": Reset,
    "route": RouteChanged,
    "offsets": OffsetsKnown,
    "absent": TopicAbsent,
    "bridge": BridgeSign,
    "members": MembersLook,
    "generation": Generation,
}


MAY_BE_MISSING = {("leave", "last_started"), ("release", "identity"), ("reset", "identity")}
"""The fields of examples that a record may leave out."""


def test_every_kind_is_on_the_page_with_a_schema() -> None:
    """The page shows every kind once, and each has a schema in the wheel."""
    assert sorted(examples()) == sorted(KINDS)
    assert sorted(schemas()) == sorted([*(f"{kind}.json" for kind in KINDS), "definitions.json"])


@pytest.mark.parametrize("name", sorted(schemas()))
def test_each_schema_fits_its_draft(name: str) -> None:
    """A schema is a schema of its draft."""
    Draft202012Validator.check_schema(schemas()[name])


@pytest.mark.parametrize("kind", KINDS)
def test_each_example_fits_its_schema(kind: str) -> None:
    """An example is what its schema says."""
    assert [error.message for error in validator(kind).iter_errors(example(kind))] == []


@pytest.mark.parametrize("kind", KINDS)
def test_each_field_of_an_example_is_needed(kind: str) -> None:
    """An example without any one of its fields is not what its schema says, but for what may be."""
    body = example(kind)
    for name in body:
        rest = {field: value for field, value in body.items() if field != name}
        assert validator(kind).is_valid(rest) is ((kind, name) in MAY_BE_MISSING), name


@pytest.mark.parametrize("kind", TOPIC_OF)
def test_each_input_example_is_read_whole(kind: str) -> None:
    """An example of what the engine reads is read, and nothing in it is unknown."""
    ignored: dict[str, int] = {}
    record = decode(TOPIC_OF[kind], raw_of(example(kind)), LIMITS, ignored)
    assert type(record) is TYPES[kind]
    assert ignored == {}


def test_the_digests_are_those_of_the_page() -> None:
    """The digests are those of the page; the heartbeat's is of the set in the assignment."""
    rows = [number for _, number in table("entries", "digest")]
    main = {number: MessageQueue("orders", "main", number) for number in (1, 2, 3)}
    entries = [
        (main[1], Epoch(3, 36), "held"),
        (main[3], Epoch(3, 38), "draining"),
        (main[2], Epoch(3, 41), "gated"),
    ]
    retry = [(MessageQueue("%RETRY%orders", "broker-a", 0), Epoch(1, 1), "held")]
    sums = [digest(entries[:count]) for count in (1, 2, 3)]
    assert rows == [f"{number:016x}" for number in (*sums, digest(retry))]
    assigned = [
        (MessageQueue(*entry["queue"]), Epoch(*entry["epoch"]), entry["state"])
        for entry in example("assignment")["assigned"]
    ]
    assert example("heartbeat")["digest"] == f"{digest(assigned):016x}" == rows[2]


def test_the_page_lists_each_reason_of_refusal() -> None:
    """The page lists each reason of refusal by form, with its meaning, before any other reason."""
    listed = [(word, meaning) for word, meaning in table("reason", "the record")][: len(Reason)]
    assert listed == [(word, text.replace("`", "")) for word, text in REASON_MEANINGS.items()]
    assert set(REASON_MEANINGS) == set(Reason)


def test_the_page_lists_each_reason_of_the_engine() -> None:
    """Behind those of form the page lists what the engine refuses for its own state, all of it."""
    listed = [words for words, _ in table("reason", "the record")][len(Reason) :]
    assert tuple(word for words in listed for word in words.split(", ")) == ENGINE_REASONS
