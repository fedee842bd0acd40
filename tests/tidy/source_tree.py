"""The files of the repository, as the tidy tests look at them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PURE = ("fairlead/core", "strategies")
"""Where nothing may depend on the hour, on chance or on the process."""

_ROOMS = (
    "fairlead", "strategies", "streaming", "sinks", "client", "proof", "tools", "conf", "tests",
    "benchmarks", "clients", "docs", "deploy", ".ci",
)  # fmt: skip
_TEXT = (
    ".py",
    ".md",
    ".toml",
    ".json",
    ".yaml",
    ".yml",
    ".lock",
    ".html",
    ".css",
    ".js",
    ".txt",
    "",
)


@cache
def text_files() -> tuple[Path, ...]:
    """Return every text file that the project keeps, in order of its path."""
    inside = (path for room in _ROOMS for path in (ROOT / room).rglob("*"))
    # Of a second working tree .git is a file, with the place of the first.
    top = (path for path in ROOT.glob("*") if path.name != ".git")
    files = [*top, ROOT / ".gitignore", ROOT / ".dockerignore", *inside]
    return tuple(
        sorted(
            path
            for path in files
            if path.is_file() and path.suffix in _TEXT and "__pycache__" not in path.parts
        )
    )


def named(path: Path) -> str:
    """Return the path as it is named in the repository."""
    return path.relative_to(ROOT).as_posix()


def python_files(*rooms: str) -> tuple[Path, ...]:
    """Return the Python files, of these rooms only when any are given."""
    files = (path for path in text_files() if path.suffix == ".py")
    if not rooms:
        return tuple(files)
    return tuple(path for path in files if any(path.is_relative_to(ROOT / room) for room in rooms))


@cache
def syntax(path: Path) -> ast.Module:
    """Return the parsed module."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method of a module."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
