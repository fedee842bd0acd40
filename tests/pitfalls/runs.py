"""Each story run once for all tests."""

from functools import cache

from fairlead_proof.pitfalls.catalogue import PITFALLS
from fairlead_proof.pitfalls.pitfall import Pitfall, PitfallRun

__all__ = ["pitfall_named", "run_of"]


def pitfall_named(name: str) -> Pitfall:
    """Return the pitfall of this name."""
    return next(each for each in PITFALLS if each.name == name)


@cache
def run_of(name: str) -> PitfallRun:
    """Return the pitfall of this name, run on both sides."""
    return pitfall_named(name).run()
