"""Sets of options that several commands share: declared once, passed as one value."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

__all__ = ["takes_sets"]


def takes_sets(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of its sets one by one.

    A set is a dataclass: each field is an option, with its annotation and its default. The options
    stand in the place of the set, in the order of the fields.
    """
    parameters: list[inspect.Parameter] = []
    sets: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        of = parameter.annotation
        if isinstance(of, type) and is_dataclass(of):
            sets[parameter.name] = of
            options = inspect.signature(of, eval_str=True).parameters
            parameters += [
                each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in options.values()
            ]
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def taken(**given: Any) -> None:
        for name, of in sets.items():
            given[name] = of(**{each: given.pop(each) for each in inspect.signature(of).parameters})
        command(**given)

    # Typer reads a command's signature.
    taken.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return taken
