"""docs/journals.md, the schemas and the reader say the same of journals and fault logs."""

import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from fairlead.verify.fault_log import step_of
from fairlead.verify.journal import parse_record, read_journal
from fairlead.verify.line_fields import LineError, fields_of

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "journals.md").read_text(encoding="utf-8")

LINES: dict[str, Callable[[bytes], object]] = {
    "journal": parse_record,
    "fault_log": lambda line: step_of(fields_of(line)),
}


def _block(name: str) -> str:
    found = re.search(rf"```\w+ {name}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def _schema(name: str) -> dict[str, Any]:
    content = (files("fairlead.verify") / "schemas" / f"{name}.json").read_bytes()
    schema: dict[str, Any] = orjson.loads(content)
    Draft202012Validator.check_schema(schema)
    return schema


def _examples(name: str) -> list[dict[str, Any]]:
    lines = _block(name.replace("_", "-")).splitlines()
    return [orjson.loads(line) for line in lines]


def _read(name: str, line: dict[str, Any], folder: Path) -> bool:
    """Tell whether the reader understands a line."""
    content = orjson.dumps(line)
    if line.get("kind") == "opened" and name == "journal":
        (folder / "j.jsonl").write_bytes(content + b"\n")
        return not read_journal(folder / "j.jsonl")[0].faults
    try:
        LINES[name](content)
    except LineError:
        return False
    return True


@pytest.mark.parametrize("name", LINES)
def test_each_kind_of_line_is_on_the_page(name: str) -> None:
    """Each kind of line has an example, a row of the page's tables and a schema."""
    schema = _schema(name)
    kinds = [each["properties"]["kind"]["const"] for each in schema["oneOf"]]
    assert [line["kind"] for line in _examples(name)] == kinds
    for each in schema["oneOf"]:
        kind = each["properties"]["kind"]["const"]
        (row,) = re.findall(rf"^\| `{kind}` \|.*$", PAGE, re.MULTILINE)
        for field in each["properties"]:
            told = f"`{field}`" in row
            assert told or field == "kind" or (field == "t" and name == "journal"), (kind, field)


@pytest.mark.parametrize("name", LINES)
def test_schema_and_reader_refuse_the_same_lines(name: str, tmp_path: Path) -> None:
    """What the schema refuses the reader refuses, and the other way round."""
    schema = Draft202012Validator(_schema(name))
    wrong: list[Any] = [None, -1, 1.5, "", [], {}, True, 2**63, "x", ["a"], ["a", "b", -1], [1]]
    tried = 0
    for example in _examples(name):
        changes = [{field: value} for field in example for value in wrong]
        lines = [{**example, **change} for change in changes]
        lines += [{k: v for k, v in example.items() if k != field} for field in example]
        for line in (example, {**example, "of my own": 1}, *lines):
            assert _read(name, line, tmp_path) == schema.is_valid(line), line
            tried += 1
    assert tried > 200
