"""A value as something that can be compared, hashed and put in order of its keys."""

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

__all__ = ["frozen"]


def frozen(value: Any, without: frozenset[str] = frozenset()) -> Any:
    """Return a hashable image of a value; equal images mean equal values.

    Mappings become pairs in the order of their keys, mutable dataclasses tuples of their fields.
    Fields named in ``without`` are left out, of dataclasses at any depth.
    """
    if isinstance(value, dict):
        pairs = ((frozen(key), frozen(held, without)) for key, held in value.items())
        return tuple(sorted(pairs, key=lambda pair: pair[0]))
    if isinstance(value, list | tuple):
        return tuple(frozen(each, without) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(
            frozen(getattr(value, name), without)
            for name in _names(type(value))
            if name not in without
        )
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
