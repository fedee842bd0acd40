"""The contract: the JSON Schemas and the examples of the protocol's page, read by their path."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

ROOT = Path(__file__).resolve().parents[3]
SCHEMAS = ROOT / "fairlead" / "wire" / "schemas"
PAGE = ROOT / "docs" / "protocol.md"


@pytest.fixture(scope="session")
def validate() -> Callable[[bytes], dict[str, Any]]:
    """Check a record's bytes against the schema of its kind; return it parsed."""
    contents = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in contents.items()
    )

    def check(value: bytes) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(value)
        schema = {"$ref": f"{record['kind']}.json"}
        Draft202012Validator(schema, registry=registry).validate(record)
        return record

    return check


@pytest.fixture(scope="session")
def examples() -> dict[str, bytes]:
    """Every record that the protocol's page shows, by its kind."""
    blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return {json.loads(block)["kind"]: block.encode() for block in blocks}


@pytest.fixture(scope="session")
def vectors() -> list[tuple[str, int, int, int]]:
    """(text, hash, partition of 4, of 64) of the page's table, where a text can be quoted."""
    rows = re.findall(
        r"^\| `([^`]+)` \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return [
        ("Z" * 120 if text == '"Z" × 120' else text, int(a), int(b), int(c))
        for text, a, b, c in rows
    ]
