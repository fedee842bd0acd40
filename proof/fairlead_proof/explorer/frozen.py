"""Turns a value into an image that can be compared, hashed and sorted."""

from dataclasses import fields, is_dataclass
from functools import cache
from operator import itemgetter
from types import NoneType
from typing import Any

__all__ = ["Images", "frozen"]

_PLAIN = frozenset({int, str, bool, float, NoneType})


Images = dict[int, tuple[Any, Any]]
"""id() of an immutable value -> (the value, which keeps the id valid; its image)."""


def frozen(value: Any, without: frozenset[str] = frozenset(), known: Images | None = None) -> Any:
    """Return a hashable image of a value; equal images mean equal values.

    Mappings become pairs in the order of their keys, dataclasses tuples of their fields, at any
    depth without the fields in ``without``. ``known`` caches the images of immutable dataclasses
    for the same ``without``.
    """
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, tuple | list):
        if all(type(each) in _PLAIN for each in value):
            return tuple(value)
        return tuple([frozen(each, without, known) for each in value])
    if isinstance(value, dict):
        pairs = [(frozen(key), frozen(held, without, known)) for key, held in value.items()]
        return tuple(sorted(pairs, key=itemgetter(0)))
    names = _names(kind, without)
    if names is None:
        return value
    if known is None or not kind.__dataclass_params__.frozen:
        return tuple([frozen(getattr(value, name), without, known) for name in names])
    met = known.get(id(value))
    if met is None:
        image = tuple([frozen(getattr(value, name), without, known) for name in names])
        met = known[id(value)] = (value, image)
    return met[1]


@cache
def _names(kind: type, without: frozenset[str]) -> tuple[str, ...] | None:
    """Return the remaining fields of a dataclass; None: it is no dataclass."""
    if not is_dataclass(kind):
        return None
    return tuple(each.name for each in fields(kind) if each.name not in without)
