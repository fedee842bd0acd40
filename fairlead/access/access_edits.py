"""Changes of the access file by commands: comments stay, and the file is replaced as a whole."""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import ParseError

from fairlead.access.access_file import AccessFileError, parse_access_file
from fairlead.access.principals import Right
from fairlead.access.tokens import TokenRecord
from fairlead.errors import UsageError

__all__ = ["add_token", "remove_token"]

_HEAD: Final = (
    "Who may call `fairlead serve`. `fairlead token` writes tokens here; all else is yours.\n"
    "docs/serve.md explains it."
)
_MODE: Final = 0o600


def add_token(
    path: Path,
    name: str,
    record: TokenRecord,
    rights: Sequence[Right],
    groups: Sequence[str],
) -> None:
    """Write a token of a principal, which begins if it is new.

    The principal gets each right for each group, beside what it has.

    Raises:
        AccessFileError: the file is wrong, or it would be with these values.
    """
    with _alone(path):
        document = _document(path)
        _add(document, name, record, rights, groups)
        _replace(path, tomlkit.dumps(document))


def _add(
    document: tomlkit.TOMLDocument,
    name: str,
    record: TokenRecord,
    rights: Sequence[Right],
    groups: Sequence[str],
) -> None:
    listed = document.setdefault("principal", tomlkit.aot())
    found = [each for each in listed if each["name"] == name]
    principal = found[0] if found else _begun(listed, name)
    for right in rights:
        globs = principal.setdefault(right, tomlkit.array())
        for group in groups:
            if group not in globs:
                globs.append(group)
    table = tomlkit.table()
    for key in TokenRecord.__dataclass_fields__:
        value = getattr(record, key)
        if value is not None:
            table[key] = value
    table.add(tomlkit.nl())
    principal.setdefault("token", tomlkit.aot()).append(table)


def remove_token(path: Path, own: str) -> None:
    """Remove a token; its principal stays.

    Raises:
        AccessFileError: the file is wrong.
        UsageError: it has no such token.
    """
    with _alone(path):
        document = _document(path)
        if not _remove(document, own):
            raise UsageError(
                f"ID: {path} has no token {own!r}.", remedy="`fairlead token list` shows all."
            )
        _replace(path, tomlkit.dumps(document))


def _remove(document: tomlkit.TOMLDocument, own: str) -> bool:
    """Remove a token; tell whether it was there."""
    for principal in document.get("principal", ()):
        tokens = principal.get("token", ())
        for index, token in enumerate(tokens):
            if token["id"] == own:
                del tokens[index]
                if not tokens:
                    del principal["token"]
                return True
    return False


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one command at a time change the files of a folder."""
    try:
        number = os.open(path.resolve().parent, os.O_RDONLY)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _begun(listed: Any, name: str) -> Any:
    table = tomlkit.table()
    table["name"] = name
    listed.append(table)
    return listed[-1]


def _document(path: Path) -> tomlkit.TOMLDocument:
    """Read the file, which must be right; a new one if there is none."""
    if not path.exists():
        document = tomlkit.document()
        for line in _HEAD.splitlines():
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
        return document
    parse_access_file(path)
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8"))
    except ParseError as error:
        raise AccessFileError(f"access.file: {path}: {error}", remedy="Mend it there.") from error


def _replace(path: Path, text: str) -> None:
    """Check the new text, and put it in place of the file in one step, for its owner alone."""
    parse_access_file(path, text)
    # A link stays what it is: its target is replaced.
    target = path.resolve()
    try:
        number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            os.fchmod(number, _MODE)
            file.write(text)
            file.flush()
            os.fsync(number)
        Path(name).replace(target)
    except OSError as error:
        with suppress(OSError):
            Path(name).unlink()
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"access.file: {path} cannot be written ({error.strerror}).",
        remedy="Name a file in a folder that you may write.",
    )
