"""Checks the types of settings, and says what to give instead of a wrong value."""

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
    str: ("a string", 'a string, such as {name}="…"'),
    Mapping: ("a mapping", "a dict"),
    Collection: ("a list", "a list"),
    types.NoneType: ("None", "None"),
}
"""The type of a setting -> its name in an error, and in the remedy."""


def check_types(settings: object) -> None:
    """Check that each field of a dataclass of settings has its declared type.

    Raises:
        SettingsError: a field has another type; the error names it and says what to give.
    """
    for name, wanted in _declared(type(settings)):
        check_type(name, getattr(settings, name), *wanted)


def check_type(name: str, value: object, *wanted: type) -> None:
    """Check that a setting has one of these types; True and False are no numbers here.

    Raises:
        SettingsError: it has another type.
    """
    if any(_has(value, kind) for kind in wanted):
        return
    called = " or ".join(_words(kind)[0] for kind in wanted)
    # A value given instead of a mapping of options may hold a password.
    shown = f"a {type(value).__name__}" if Mapping in wanted else repr(value)
    raise SettingsError(name, f"{shown} is not {called}", _remedy(name, value, wanted))


def _has(value: object, wanted: type) -> bool:
    return isinstance(value, wanted) and (wanted is not int or not isinstance(value, bool))


def _remedy(name: str, value: object, wanted: Sequence[type]) -> str:
    text = value if isinstance(value, str) else ""
    if int in wanted and text.isdecimal() and len(text) <= _DIGITS_MAX:
        return f"give {name}={int(text)}, without quotes, or int(…) of the environment variable"
    if bool in wanted and isinstance(value, str):
        return f'give {name}=True or {name}=False: a string like "false" is true in Python'
    return "give " + ", or ".join(_words(kind)[1].format(name=name) for kind in wanted)


def _words(wanted: type) -> tuple[str, str]:
    called = f"a {wanted.__name__}"
    return _WORDS.get(wanted, (called, called))


def _declared(settings: type) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """Return the fields of a dataclass, each with the classes that its type allows."""
    hints = get_type_hints(settings)
    return tuple((field.name, tuple(_classes(hints[field.name]))) for field in fields(settings))


def _classes(hint: Any) -> Iterator[type]:
    """Yield the classes of a type: Collection for a Sequence, str for a Literal."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        for part in get_args(hint):
            yield from _classes(part)
    elif origin is Literal:
        yield str
    elif origin is Sequence:
        yield Collection
    else:
        yield origin or hint
