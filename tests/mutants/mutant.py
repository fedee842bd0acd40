"""A mutant: the real source with one rule of the handover dropped, by replacing exact text."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["CATALOGUE", "Edit", "Mutant", "PatchError", "catalogue", "patched"]

AS_GOOD_AS: Mapping[str, frozenset[str]] = {
    "DOUBLE": frozenset({"UNTRACKED", "GRANT", "GONE", "EPOCH"}),
    "STUCK": frozenset({"CYCLE"}),
}
"""Two owners are also seen coming: work that the engine does not know, a grant past a holder, a
member taken for gone while it works, a start under an epoch that was passed."""
STORY = "STORY"
"""A story with another end than its text, without a violation of its own name."""


CATALOGUE = Path(__file__).parent / "catalogue"


class PatchError(Exception):
    """A patch does not fit the source: the text that it replaces stands there no more, or twice."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement in one file, named from the top of the source tree."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One rule dropped, and how it is to show.

    ``rule``: its number in docs/handover.md (H…) or docs/protocol.md (C…). ``shows``: the kinds of
    violation by which it may be found; any other finding is a mistake in the patch. ``world``: the
    bounds of the small world in which the explorer looks, None: it cannot show there. ``seeds``: of
    how many schedules the simulator has to find it, 0: it cannot. ``stories``: those that tell
    it, as pytest names them.
    """

    name: str
    rule: str
    drops: str
    shows: tuple[str, ...]
    edits: tuple[Edit, ...]
    world: Mapping[str, Any] | None = None
    seeds: int = 0
    stories: tuple[str, ...] = ()
    order: tuple[int, str] = field(init=False)

    def __post_init__(self) -> None:
        """Sort by number, then by letter."""
        digits = "".join(letter for letter in self.name if letter.isdigit())
        object.__setattr__(self, "order", (int(digits), self.name))

    def leads_to(self, kind: str) -> bool:
        """Tell whether a violation of this kind is one that the dropped rule leads to."""
        return kind == STORY or any(
            kind == shown or kind in AS_GOOD_AS.get(shown, ()) for shown in self.shows
        )


def catalogue() -> list[Mutant]:
    """Return every mutant of the catalogue, in order."""
    found = [
        _mutant(entry)
        for path in sorted(CATALOGUE.glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    ]
    return sorted(found, key=lambda mutant: mutant.order)


def _mutant(entry: Mapping[str, Any]) -> Mutant:
    edits = tuple(Edit(edit["file"], edit["old"], edit["new"]) for edit in entry["edit"])
    lists = ("shows", "stories")
    given: dict[str, Any] = {
        name: tuple(value) if name in lists else value for name, value in entry.items()
    }
    del given["edit"]
    return Mutant(**given, edits=edits)


def patched(root: Path, edits: Sequence[Edit]) -> dict[Path, str]:
    """Return the files of a source tree that the edits change, with their new text.

    Raises:
        PatchError: a text to be replaced does not stand in its file exactly once.
    """
    texts: dict[Path, str] = {}
    for edit in edits:
        path = root / edit.file
        text = texts.get(path) or path.read_text(encoding="utf-8")
        times = text.count(edit.old)
        if times != 1:
            message = (
                f"{edit.file} has {times} times what is to be replaced once;"
                f" write the patch anew for the present source:\n{edit.old}"
            )
            raise PatchError(message)
        texts[path] = text.replace(edit.old, edit.new)
    return texts
