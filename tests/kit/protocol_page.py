"""The protocol page and the schemas, as the tests read them."""

import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")


def examples() -> dict[str, dict[str, Any]]:
    """Return every example of the page by its kind; the page shows each kind once."""
    texts = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    bodies = [json.loads(text) for text in texts]
    shown = {body["kind"]: body for body in bodies}
    assert len(shown) == len(bodies), "the page shows a kind twice"
    return shown


def labelled(label: str) -> Any:
    """Return the page's further example of this label, beside the one of each kind."""
    (text,) = re.findall(rf"^```json {label}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return json.loads(text)


def designation() -> dict[str, Any]:
    """Return the page's worked example of designated members."""
    body: dict[str, Any] = labelled("designated")
    return body


def table(*header: str) -> list[list[str]]:
    """Return the rows of every table of the page that has this header, cells without backquotes."""
    line = re.escape("| " + " | ".join(header) + " |")
    found = re.findall(rf"^{line}\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found, f"no table {header}"
    rows = "".join(found).splitlines()
    cells = [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]
    return [[cell.strip().replace("`", "") for cell in row] for row in cells]


@cache
def schemas() -> dict[str, Any]:
    """Return every schema that the wheel carries, by file name."""
    folder = files("fairlead.wire") / "schemas"
    return {
        entry.name: json.loads(entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    }


@cache
def validator(kind: str) -> Draft202012Validator:
    """Return the validator of one kind."""
    resources = [(name, Resource.from_contents(schema)) for name, schema in schemas().items()]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator({"$ref": f"{kind}.json"}, registry=registry)
