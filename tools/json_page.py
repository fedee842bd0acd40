"""Writes docs/json.md, the page of all keys that commands and HTTP answer with, from the schema.

``python -m tools.json_page``. ADR 0194 gives the reasons.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import orjson

__all__ = ["PAGE", "answer_schema", "page_text"]

PAGE: Final = Path(__file__).parents[1] / "docs" / "json.md"

_SHARED_MIN: Final = 4
"""With this many keys or more, a list refers to another object with the same keys."""
_HEAD: Final = """# JSON: one vocabulary

What commands write with `-o json` and `-o jsonl`, and what `fairlead serve` answers, has the same
keys everywhere: a key has one meaning and one unit. The JSON Schema (2020-12)
`fairlead/schemas/answers.json` is installed with the package and says the same for machines. Tests
hold answers against it, and `python -m tools.json_page` writes this page from it.

- A key in `_ms` is in milliseconds: a point in time since 1970, or a span, as its text says.
- A count is named after what it counts: `queues`, `queues_moved`, `lag_messages`. Where the plural
  is a count, or a list of words, the list of objects ends in `_list`.
- Ids, epochs, positions and places in the log look as on the wire ([protocol.md](protocol.md)).
- `null` means that nobody knows, or that there is none. Only keys with a `?` may be left out.
- `-o jsonl` writes an object a line; `-o json` writes one document, a list where there are several.
- `fairlead demo` and `fairlead proof` have documents of their own, which their pages explain.
"""


def answer_schema() -> Mapping[str, Any]:
    """Return the schema of all answers."""
    content = (files("fairlead") / "schemas" / "answers.json").read_bytes()
    schema: Mapping[str, Any] = orjson.loads(content)
    return schema


def page_text(schema: Mapping[str, Any]) -> str:
    """Return the page that a schema makes."""
    lines = [_HEAD, *_answers(schema), *_objects(schema["$defs"]), *_keys(schema["$defs"])]
    return "\n".join(lines) + "\n"


def _answers(schema: Mapping[str, Any]) -> Iterator[str]:
    yield "## Who answers with what\n"
    yield "| asked | answers |"
    yield "|---|---|"
    for answer in schema["x-answers"]:
        several = "each a " if answer["each"] else ""
        yield f"| `{answer['asked']}` | {several}{_link(answer['answer'])} |"
    yield ""


def _objects(definitions: Mapping[str, Any]) -> Iterator[str]:
    yield "## Objects\n"
    before: dict[str, list[str]] = {}
    for name, definition in definitions.items():
        if not _is_object(name):
            continue
        properties = definition["properties"]
        keys = [f"{_key(each)}{_mark(each, definition)}" for each in properties]
        yield f"### {name}\n"
        yield f"{definition['description']}\n"
        yield f"{_shortened(keys, before)}\n"
        before[name] = keys
        own = {key: words for key, value in properties.items() if (words := _own_words(value))}
        for key, words in own.items():
            yield f"- `{key}`: {words}"
        if own:
            yield ""


def _mark(key: str, definition: Mapping[str, Any]) -> str:
    return "" if key in definition["required"] else "?"


def _shortened(keys: list[str], before: Mapping[str, list[str]]) -> str:
    """Return a list of keys; where they begin as those of an object before, only what is more."""
    same = {
        name: len(each)
        for name, each in before.items()
        if len(each) >= _SHARED_MIN and keys[: len(each)] == each
    }
    if not same:
        return ", ".join(keys)
    name = max(same, key=lambda name: same[name])
    return ", ".join([f"All of {_link(name)}", *keys[same[name] :]])


def _own_words(value: Mapping[str, Any]) -> str:
    """Return what is said of a key here alone: its text, its words, its type."""
    if "$ref" in value and value.keys() == {"$ref"}:
        return ""
    words = [value["description"]] if "description" in value else []
    if "enum" in value:
        words.append(f"one of {', '.join(f'`{word}`' for word in value['enum'])}.")
    elif "const" not in value:
        words.append(f"{_type(value)}.")
    return " ".join(words)


def _keys(definitions: Mapping[str, Any]) -> Iterator[str]:
    yield "## Keys\n"
    yield "| key | type | says |"
    yield "|---|---|---|"
    for name in sorted(filter(lambda name: not _is_object(name), definitions)):
        definition = definitions[name]
        yield f'| <a id="{name}"></a>`{name}` | {_type(definition)} | {definition["description"]} |'


def _type(definition: Mapping[str, Any]) -> str:
    """Return the type of a value in words."""
    if "$ref" in definition:
        return _link(definition["$ref"].rpartition("/")[2])
    if "anyOf" in definition:
        return " or ".join(_type(each) for each in definition["anyOf"])
    if "enum" in definition:
        return ", ".join(f"`{word}`" for word in definition["enum"])
    kinds = definition.get("type", "any")
    words = [kinds] if isinstance(kinds, str) else list(kinds)
    if "items" in definition:
        # The items belong to the array, and not to the null beside it.
        words[words.index("array")] = f"array of {_items(definition['items'])}"
    return ", or ".join(words) if "items" in definition else " or ".join(words)


def _items(definition: Mapping[str, Any]) -> str:
    """Return the type of the items of an array: simple ones in the plural."""
    simple = {"$ref", "anyOf", "enum", "items"}.isdisjoint(definition) and "type" in definition
    return f"{_type(definition)}s" if simple else _type(definition)


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})" if _is_object(name) else _key(name)


def _key(name: str) -> str:
    return f"`{name}`"


def _is_object(name: str) -> bool:
    return name[0].isupper()


if __name__ == "__main__":
    PAGE.write_text(page_text(answer_schema()), encoding="utf-8")
