"""The hunt for one mutant, and for none: the source itself must pass where a mutant is caught."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from fairlead_proof.explorer.world import WorldBounds

from tests.mutants.catchers import Catch, CatcherError, explorer, simulator, stories
from tests.mutants.inside.explore import world_of
from tests.mutants.mutant import Mutant
from tests.mutants.tree import Tree

__all__ = ["Verdict", "hunt", "unpatched"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant.

    ``catches``: what each catcher that looked says; ``mistake``: what is wrong with the patch
    itself, None: nothing.
    """

    mutant: Mutant
    catches: tuple[Catch, ...]
    mistake: str | None = None

    @property
    def caught(self) -> bool:
        """Whether somebody found it, by a violation that its rule leads to."""
        return self.mistake is None and any(catch.violation for catch in self.catches)


def hunt(mutant: Mutant, tree: Tree, *, every: bool) -> Verdict:
    """Put a mutant in place of the source, and let the catchers look.

    Args:
        mutant: what is dropped.
        tree: a copy of the source.
        every: ask every catcher, also when one has found it already.
    """
    catches: list[Catch] = []
    with tree.with_edits(mutant.edits):
        for look in _looks(mutant, tree):
            try:
                catch = look()
            except CatcherError as error:
                return Verdict(mutant, tuple(catches), f"a catcher failed: {error}")
            catches.append(catch)
            if catch.kind is not None and not mutant.leads_to(catch.kind):
                return Verdict(mutant, tuple(catches), f"it shows as {catch.violation}")
            if catch.violation and not every:
                break
    return Verdict(mutant, tuple(catches))


def _looks(mutant: Mutant, tree: Tree) -> Iterator[Callable[[], Catch]]:
    world = mutant.world
    if world is not None:
        yield lambda: explorer(tree, world)
    if mutant.stories:
        yield lambda: stories(tree, mutant.stories)
    if mutant.seeds:
        yield lambda: simulator(tree, mutant.seeds)


def unpatched(
    mutants: Sequence[Mutant],
    tree: Tree,
    *,
    every: bool = True,
    searched: Collection[WorldBounds] = (),
) -> Iterator[Catch]:
    """Yield what the catchers say of the source itself, each where it will look for a mutant.

    Args:
        mutants: where they look.
        tree: a copy of the source.
        every: also where a catcher looks that is not the first.
        searched: worlds that are searched with the source itself by somebody else.
    """
    worlds = {str(mutant.world): mutant.world for mutant in mutants if mutant.world is not None}
    for bounds in worlds.values():
        if world_of(bounds) not in searched:
            yield explorer(tree, bounds)
    others = [mutant for mutant in mutants if every or mutant.world is None]
    told = sorted({name for mutant in others for name in mutant.stories})
    if told:
        yield stories(tree, told)
    schedules = [mutant.seeds for mutant in others if every or not mutant.stories]
    if any(schedules):
        yield simulator(tree, max(schedules))
