"""A user's own strategies: named in conf/ as ``module:Class``, beside those of the product."""

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
        own: each ``module:Class``; the class is called without arguments. The module must be found
            by the driver and by its Python workers, which run in the same environment.

    Raises:
        UsageError: one cannot be loaded, is no strategy, or has a name that is taken.
    """
    found: dict[str, Strategy] = {}
    for text in own:
        strategy = _load(text)
        taken = sorted({*STRATEGIES, *found})
        if strategy.name in taken:
            raise UsageError(
                f"{KEY}: {text} has the name {strategy.name!r}, which is taken.",
                remedy=f"Give it another name; taken are {', '.join(taken)}.",
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
            f"{KEY}: {text} is no strategy.",
            remedy="It needs a name and allocate(request); see strategies/README.md.",
        )
    unknown = sorted({*getattr(made, "takes_rules", ())} - {*OF_STRATEGIES})
    if unknown:
        raise UsageError(
            f"{KEY}: {text} takes the rule {unknown[0]!r}, which is none.",
            remedy=f"Rules that a strategy can take are {', '.join(OF_STRATEGIES)}.",
        )
    return made
