"""Finds the prose that no reader should meet: phrases without an actor, halves of sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.source_tree import syntax

__all__ = ["FORBIDDEN", "prose_faults"]

FORBIDDEN = (
    "of which",
    "of whom",
    "is told",
    "are told",
    "was told",
    "were told",
    "is taken for",
    "are taken for",
    "made anew",
    "so long as nothing",
    "whatever becomes of",
    "nothing is to be said",
)
"""Say who does it, in a sentence of its own: "the engine tells the client", "each of them"."""

_GAP = r"(?: |\n[ \t]*(?:#:? ?)?)"
"""Between two words: the next line may begin with the sign of a comment."""
_PHRASE = re.compile(
    rf"\b(?:{'|'.join(phrase.replace(' ', _GAP) for phrase in FORBIDDEN)})\b", re.IGNORECASE
)
_HALF = re.compile(r"(?:Nor|Or|And|Which|But)\b")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))


def prose_faults(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, what is wrong) for a Python file or a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        # A line stays a line, so that a fault has its number.
        text = _FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)
    else:
        yield from _docstring_faults(syntax(path))
    for match in _PHRASE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split())


def _docstring_faults(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        if not isinstance(node, _DOCUMENTED):
            continue
        docstring = ast.get_docstring(node)
        if docstring is None:
            continue
        line = node.body[0].lineno
        first, _, body = docstring.partition("\n\n")
        if not first.rstrip().endswith((".", "?", "!")):
            yield line, "a first line that does not end in a point"
        if not _balanced(first):
            yield line, "a first line that leaves a bracket or a quote open"
        half = _HALF.match(body)
        if half:
            yield line, f"a body that begins with {half.group()}"


def _balanced(text: str) -> bool:
    pairs = all(text.count(begin) == text.count(end) for begin, end in _PAIRS)
    return pairs and text.count('"') % 2 == 0 and text.count("`") % 2 == 0
