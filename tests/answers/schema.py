"""Holds an answer of a command or of HTTP against the one schema of all."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import orjson
from jsonschema import Draft202012Validator

from tools.json_page import answer_schema

__all__ = ["ANSWERED", "assert_answer", "assert_answers", "assert_command"]

_RULES = ("set", "unset", "pause", "resume", "drain", "undrain")
_OBJECTS = {
    "group show": "Rule",
    **{f"group {verb}": "RuleOutcome" for verb in _RULES},
    "group list": "Group",
    "group describe": "GroupDescribed",
    "group check": "Verdict",
    "offsets show": "QueuePlace",
    "offsets reset": "Reset",
    "adopt": "Adoption",
    "release": "Handback",
    "observe kafka": "NativeGroup",
    "explain": "Story",
    "moves": "Move",
    "rejects": "Rejected",
    "plan": "Plan",
    "apply": "AppliedPlan",
    "route": "RouteBroker",
    "doctor": "Examined",
    "verify": "Judgement",
    "replay": "Comparison",
    "record": "RecordedTopic",
    "broker start": "EmbeddedCluster",
    "broker status": "EmbeddedNode",
    "observe rocketmq": "NativeGroup",
    "rocketmq start": "EmbeddedRocketMQ",
    "rocketmq status": "EmbeddedServer",
    "config show": "Setting",
    "config check": "SettingProblem",
    "config kafka": "KafkaOption",
    "token new": "MadeToken",
    "token list": "Token",
    "token revoke": "Token",
}
ANSWERED = {*_OBJECTS, "watch"}
"""The commands whose answers the tests know."""


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = answer_schema()
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def assert_answer(name: str, document: Any) -> None:
    """Say where a document, as it is written, is not the object of this name."""
    written = orjson.loads(orjson.dumps(document))
    wrong = [
        f"{name}.{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"
        for error in _validator(name).iter_errors(written)
    ]
    assert wrong == []


def assert_answers(name: str, documents: Iterable[Any]) -> None:
    """The same of several; there is at least one."""
    listed = list(documents)
    assert listed
    for each in listed:
        assert_answer(name, each)


def assert_command(words: Sequence[str], document: Any) -> None:
    """Hold what a command wrote with ``-o json`` against the schema; ``words``: as it was typed."""
    name = _OBJECTS.get(" ".join(words[:2])) or _OBJECTS.get(words[0])
    if name is None:
        return
    if name == "Verdict" and "--all" in words:
        name = "Check"
    if name == "Comparison" and document["error"] is not None:
        name = "NotReplayed"
    if isinstance(document, list):
        for each in document:
            assert_answer(name, each)
    else:
        assert_answer(name, document)
