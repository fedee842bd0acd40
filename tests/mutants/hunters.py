"""Several hunts at once: each process has a copy of the source of its own."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tests.mutants.hunt import Verdict, hunt
from tests.mutants.mutant import Mutant
from tests.mutants.tree import Tree

__all__ = ["hunted"]

_own: list[Tree] = []
"""The copy of a process of the pool."""


def hunted(mutants: Sequence[Mutant], tree: Tree, jobs: int, *, every: bool) -> Iterator[Verdict]:
    """Yield what became of each mutant, as it comes.

    Args:
        mutants: those to be hunted.
        tree: a copy of the source, in a folder in which further copies may lie.
        jobs: how many processes hunt; 1: this one.
        every: ask every catcher, also when one has found it already.
    """
    if jobs == 1:
        for mutant in mutants:
            yield hunt(mutant, tree, every=every)
        return
    # A process that is forked from one with threads may stand still for ever.
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(tree,)
    ) as pool:
        runs = [pool.submit(_hunt, mutant, every=every) for mutant in mutants]
        try:
            for each in as_completed(runs):
                yield each.result()
        finally:
            for each in runs:
                each.cancel()


def _begin(tree: Tree) -> None:
    _own.append(tree.copied(tree.root.parent / f"copy-{os.getpid()}"))


def _hunt(mutant: Mutant, *, every: bool) -> Verdict:
    return hunt(mutant, _own[0], every=every)
