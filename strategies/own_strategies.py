"""Loads a user's own strategies, named in conf/ as ``module:Class``, beside the built-in ones."""

import importlib
from collections.abc import Iterable, Mapping

from fairlead.core.allocation import Strategy
from fairlead.core.rules.single_rules import OF_STRATEGIES
from fairlead.errors import UsageError
from strategies.registry import STRATEGIES, with_own

KEY = "engine.strategies"


def all_strategies(own: Iterable[str]) -> Mapping[str, Strategy]:
    """Return every strategy that rules can name, by its name on the wire.

    Args:
        own: each ``module:Class``; the class is called without arguments. The driver and its Python
            workers, which share an environment, must be able to import the module.

    Raises:
        UsageError: one cannot be loaded, is not a strategy, or has the name of another one.
    """
    found: dict[str, Strategy] = {}
    for text in own:
        strategy = _load(text)
        taken = sorted({*STRATEGIES, *found})
        if strategy.name in taken:
            raise UsageError(
                f"{KEY}: {text} has the name {strategy.name!r}, which another strategy has.",
                remedy=f"Choose another name than {', '.join(taken)}.",
            )
        found[strategy.name] = strategy
    return with_own(found)


def _load(text: str) -> Strategy:
    module_name, _, class_name = text.partition(":")
    try:
        made: Strategy = getattr(importlib.import_module(module_name), class_name)()
    except Exception as error:
        raise UsageError(
            f"{KEY}: {text} cannot be loaded ({type(error).__name__}: {error}).",
            remedy="Write module:Class, and put the module on the engine's PYTHONPATH.",
        ) from error
    name = getattr(made, "name", None)
    if not isinstance(name, str) or not name or not callable(getattr(made, "allocate", None)):
        raise UsageError(
            f"{KEY}: {text} is not a strategy.",
            remedy="It needs a name and allocate(request); see strategies/README.md.",
        )
    unknown = sorted({*getattr(made, "takes_rules", ())} - {*OF_STRATEGIES})
    if unknown:
        raise UsageError(
            f"{KEY}: {text} lists the unknown rule {unknown[0]!r} in takes_rules.",
            remedy=f"A strategy can take the rules {', '.join(OF_STRATEGIES)}.",
        )
    return made
