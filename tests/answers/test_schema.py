"""The schema of all answers: valid, explained key by key, and one meaning for each key."""

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from tools.json_page import answer_schema

SCHEMA = answer_schema()
KEYS = {name: each for name, each in SCHEMA["$defs"].items() if name[0].islower()}
OBJECTS = {name: each for name, each in SCHEMA["$defs"].items() if name[0].isupper()}
OF_THE_PROTOCOL = {
    "Cause",
    "CauseTold",
    "Step",
    "Failure",
    "Decision",
    "DecisionHead",
    "DecisionTold",
    "DecisionProved",
    "DecisionProof",
    "CauseProved",
}
"""Objects with fields of a record, which keep their names."""

OF_STREAMS = {"GroupsChange", "GroupSnapshot", "GroupChange", "Resumed"}
OWN_WORDS = {
    "SpreadChange",
    "HandoverStep",
    "PlanShown",
    *OF_STREAMS,
    "Me",
    "Safety",
    "SafetyHandovers",
    "SafetyVerdicts",
    "SafetyRejects",
    "Activity",
    "GroupActivity",
    "NativeGroup",
    "NativeGroups",
    "NativeHead",
    "NativeMember",
    "NativeMoves",
    "NativePlans",
    "NativeQueue",
    "NativeRebalance",
    "NativeSeen",
    "NativeSource",
}
"""Objects whose keys say what they mean there."""


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix("#/$defs/")
        for each in schema.values():
            yield from _references(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)


def test_valid() -> None:
    """It is a JSON Schema, and every reference leads somewhere."""
    Draft202012Validator.check_schema(SCHEMA)
    assert set(_references(SCHEMA)) <= SCHEMA["$defs"].keys()


def test_every_key_is_explained() -> None:
    """Each key and each object says what it means, in a sentence."""
    assert {name for name, each in SCHEMA["$defs"].items() if not _is_told(each)} == set()


def _is_told(schema: Any) -> bool:
    text = schema.get("description", "")
    return bool(text[:1].isupper() and text.endswith("."))


def test_a_key_means_the_same_everywhere() -> None:
    """A key of an object is the key of that name, perhaps with fewer words or null beside it."""
    for name, each in OBJECTS.items():
        for key, schema in each["properties"].items():
            own = key not in KEYS or next(_references(schema), None) != key
            assert (
                not own
                or (name in OF_THE_PROTOCOL and _is_told(schema))
                or (name in OWN_WORDS and _is_told(schema))
            ), (name, key)


def test_objects_are_closed() -> None:
    """No object has keys that nobody has written down; only a record's may be left out."""
    for name, each in OBJECTS.items():
        assert each["additionalProperties"] is False
        left_out = each["properties"].keys() - {*each["required"]}
        assert not left_out or name in {*OF_THE_PROTOCOL, "AppliedPlan", "Error", "GroupChange"}, (
            name,
            left_out,
        )


def test_everything_is_used() -> None:
    """Each key stands in an object, and each object in an answer or in another object."""
    answered = {each["answer"] for each in SCHEMA["x-answers"]}
    assert SCHEMA["$defs"].keys() - {*_references(SCHEMA), *answered} == set()


def test_units() -> None:
    """Times are in milliseconds, and no key is in another unit of time."""
    assert not [name for name in KEYS if name.endswith(("_seconds", "_s", "_minutes"))]
    for name, each in KEYS.items():
        if name.endswith("_ms"):
            assert "milliseconds" in each["description"], name
