"""Every known key, read from the models, with its meaning, type, bounds and unit."""

import types
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from fairlead.settings.rules import GroupOverrides
from fairlead.settings.sections import Settings
from fairlead.settings.toml_lines import Key
from fairlead.settings.values import Matching

__all__ = ["ANY_GROUP", "FILE_ONLY", "KnownKey", "known_keys", "path_of", "sections"]

ANY_GROUP: Final = "NAME"
"""Stands for the name of a group in a key."""

FILE_ONLY: Final = ("group", "engine.spark", "group_defaults.strategy_options")
"""Tables with free, case-sensitive keys, which an environment variable cannot spell."""

_PREFIX: Final = "FAIRLEAD__"
_UNITS: Final = {"_ms": "milliseconds", "_bytes": "bytes", "_percent": "percent"}


class KnownKey(NamedTuple):
    """One setting.

    Attributes:
        key: the names from its section on; ``ANY_GROUP`` stands for a group's name.
        meaning: the description from its model.
        kind: its type and bounds in words.
        optional: whether it may be left out without a default.
        secret: whether messages show it as stars and no file may hold it.
        example: a value, if no default shows one.
    """

    key: Key
    meaning: str
    kind: str
    optional: bool
    secret: bool
    example: Any

    @property
    def dotted(self) -> str:
        """The key as messages write it."""
        return ".".join(self.key)

    @property
    def unit(self) -> str | None:
        """The unit of its number, by the end of its name."""
        name = self.key[-1]
        return next((unit for end, unit in _UNITS.items() if name.endswith(end)), None)

    @property
    def variable(self) -> str | None:
        """The environment variable that sets it; None: only a file can."""
        dotted = self.dotted
        if any(dotted == table or dotted.startswith(f"{table}.") for table in FILE_ONLY):
            return None
        return _PREFIX + "__".join(name.upper() for name in self.key)


@cache
def known_keys() -> tuple[KnownKey, ...]:
    """Return every setting, section by section, in the order of the models."""
    return tuple(_keys(Settings, ()))


@cache
def sections() -> Mapping[Key, str]:
    """Return every table with its description, in the order of the models."""
    return dict(_sections(Settings, ()))


def path_of(dotted: str) -> Key:
    """Return the names of a dotted key; the name of a group may contain dots."""
    section, _, rest = dotted.partition(".")
    if section != "group" or not rest:
        return tuple(dotted.split("."))
    for known in known_keys():
        own = known.key[2:]
        group, separator, inside = f"{rest}.".partition(f".{'.'.join(own)}.")
        if known.key[0] == "group" and separator:
            return (section, group, *own, *(name for name in inside.split(".") if name))
    return (section, rest)


def _keys(model: type[BaseModel], above: Key) -> Iterator[KnownKey]:
    for name, field in model.model_fields.items():
        key = (*above, name)
        inner = _model_of(field)
        if key == ("group",):
            yield from _keys(GroupOverrides, (*key, ANY_GROUP))
        elif inner is not None:
            yield from _keys(inner, key)
        else:
            yield _known(key, field)


def _sections(model: type[BaseModel], above: Key) -> Iterator[tuple[Key, str]]:
    for name, field in model.model_fields.items():
        key = (*above, name)
        inner = _model_of(field)
        if key == ("group",):
            key, inner = (*key, ANY_GROUP), GroupOverrides
        if inner is not None:
            yield key, _paragraphs(inner.__doc__ or "")
            yield from _sections(inner, key)


def _paragraphs(text: str) -> str:
    """Return a docstring as one line for each paragraph."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).replace("``", "`")


def _model_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a table."""
    models = [kind for kind in _alternatives(field.annotation) if _is_model(kind)]
    return models[0] if models else None


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _known(key: Key, field: FieldInfo) -> KnownKey:
    infos = [field, *_infos(field.annotation)]
    meaning = next((info.description for info in infos if info.description), "")
    examples = next((info.examples for info in infos if info.examples), None)
    alternatives = list(_alternatives(field.annotation))
    return KnownKey(
        key,
        meaning,
        _kind(field),
        optional=not field.is_required(),
        secret=SecretStr in alternatives,
        example=examples[0] if examples else None,
    )


def _infos(annotation: Any) -> Iterator[FieldInfo]:
    """Yield the field infos of an annotation and, in a union, of each of its members."""
    if get_origin(annotation) is Annotated:
        yield from (each for each in get_args(annotation)[1:] if isinstance(each, FieldInfo))
        yield from _infos(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for each in get_args(annotation):
            yield from _infos(each)


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the types of an annotation, one by one, without their field infos."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for each in get_args(annotation):
            yield from _alternatives(each)
    elif annotation is not types.NoneType:
        yield annotation


def _kind(field: FieldInfo) -> str:
    """Return the type and the bounds of a field in words."""
    bounds = [*field.metadata]
    for info in _infos(field.annotation):
        bounds += info.metadata
    least = next((each.ge for each in bounds if hasattr(each, "ge")), None)
    most = next((each.le for each in bounds if hasattr(each, "le")), None)
    wanted = next((each.wanted for each in bounds if isinstance(each, Matching)), None)
    if wanted is not None:
        return wanted.removeprefix("give ").removeprefix("a group is ")
    words = []
    for each in _alternatives(field.annotation):
        if get_origin(each) is Literal:
            words += [f'"{value}"' for value in get_args(each)]
        else:
            words.append(_type_words(each, least, most))
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _type_words(annotation: Any, least: int | None, most: int | None) -> str:
    origin = get_origin(annotation) or annotation
    plain = {
        bool: "true or false",
        str: "text",
        SecretStr: "text, a secret",
        Path: "path",
        tuple: "list of texts",
        dict: "table",
        Mapping: "table",
        types.MappingProxyType: "table",
    }
    if origin is int:
        if most is None:
            return f"{least:,} or more"
        return f"{least:,} to {most:,}"
    if origin in plain:
        return plain[origin]
    assert issubclass(origin, Mapping), origin
    return "table"
