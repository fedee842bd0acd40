"""The types of settings: a text from the environment where a number is wanted is told as that."""

import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fairlead_client.errors import SettingsError

__all__ = ["check_type", "check_types"]

_DIGITS_MAX: Final = 18
_WORDS: Final[Mapping[type, tuple[str, str]]] = {
    int: ("a whole number", "a whole number, such as {name}=3"),
    bool: ("True or False", "True or False"),
    str: ("a text", 'a text, such as {name}="…"'),
    Mapping: ("a mapping", "a dict"),
    Collection: ("a list", "a list"),
    types.NoneType: ("None", "None"),
}
"""A type that a setting may have -> what it is called, and what is given instead."""


def check_types(settings: object) -> None:
    """Check that each setting of a dataclass of settings has one of the types it is declared with.

    Raises:
        SettingsError: names the first that has another, and what to give.
    """
    for name, wanted in _declared(type(settings)):
        check_type(name, getattr(settings, name), *wanted)


def check_type(name: str, value: object, *wanted: type) -> None:
    """Check that a setting has one of these types; True and False are no numbers here.

    Raises:
        SettingsError: it has another.
    """
    if any(_has(value, each) for each in wanted):
        return
    called = " or ".join(_words(each)[0] for each in wanted)
    # What stands where options are wanted may hold a password.
    shown = f"a {type(value).__name__}" if Mapping in wanted else repr(value)
    raise SettingsError(name, f"{shown} is not {called}", _remedy(name, value, wanted))


def _has(value: object, wanted: type) -> bool:
    return isinstance(value, wanted) and (wanted is not int or not isinstance(value, bool))


def _remedy(name: str, value: object, wanted: Sequence[type]) -> str:
    text = value if isinstance(value, str) else ""
    if int in wanted and text.isdecimal() and len(text) <= _DIGITS_MAX:
        return f"give {name}={int(text)}, without quotes, or int(…) of what the environment says"
    if bool in wanted and isinstance(value, str):
        return f'give {name}=True or {name}=False: a text such as "false" counts as true in Python'
    return "give " + ", or ".join(_words(each)[1].format(name=name) for each in wanted)


def _words(wanted: type) -> tuple[str, str]:
    called = f"a {wanted.__name__}"
    return _WORDS.get(wanted, (called, called))


def _declared(settings: type) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """Return the fields of a dataclass, each with the classes that its type allows."""
    hints = get_type_hints(settings)
    return tuple((each.name, tuple(_classes(hints[each.name]))) for each in fields(settings))


def _classes(hint: Any) -> Iterator[type]:
    """Yield the classes of a type: whatever can be gone through is a sequence, a word is a text."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        for each in get_args(hint):
            yield from _classes(each)
    elif origin is Literal:
        yield str
    elif origin is Sequence:
        yield Collection
    else:
        yield origin or hint
