"""Each story told once for all tests."""

from functools import cache

from fairlead_proof.pitfalls.catalogue import PITFALLS
from fairlead_proof.pitfalls.pitfall import Pitfall, Told

__all__ = ["pitfall_named", "told_of"]


def pitfall_named(name: str) -> Pitfall:
    """Return the pitfall of this name."""
    return next(each for each in PITFALLS if each.name == name)


@cache
def told_of(name: str) -> Told:
    """Return the pitfall of this name, told on both sides."""
    return pitfall_named(name).tell()
