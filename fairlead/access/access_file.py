"""Reads the access file, strictly: who may call, by which proof, and what each may do."""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import AwareDatetime, Field, ValidationError

from fairlead.access.principals import RIGHTS, Limits, Principal
from fairlead.access.tokens import TokenRecord
from fairlead.errors import UsageError
from fairlead.http.certificate_names import certificate_name
from fairlead.settings.values import Matching, Section

__all__ = ["AccessFile", "AccessFileError", "GroupGlob", "PrincipalName", "parse_access_file"]

GroupGlob = Annotated[
    str,
    Matching(
        r"[A-Za-z0-9_%|.*?!\[\]-]{1,120}",
        'give the name of a group, in which * and ? stand for others, such as "orders*"',
    ),
]
PrincipalName = Annotated[
    str,
    Matching(
        r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}",
        "give 1-100 letters, digits and _ . @ -, a letter or digit first",
    ),
]
_Hexadecimal = Annotated[str, Matching(r"([0-9a-f]{2}){16,64}", "give what `fairlead token` wrote")]
_Count = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
_HEADER: Final = re.compile(r"\s*\[+\s*([A-Za-z0-9_.-]+)\s*\]+")
_KEY: Final = re.compile(r"\s*\"?([A-Za-z0-9_-]+)\"?\s*=")
_LIKE_MIN: Final = 0.6

_Path = tuple[str | int, ...]


class AccessFileError(UsageError):
    """The access file is wrong; the message has every fault with its line."""


class _Token(Section):
    id: Annotated[str, Matching(r"[a-z0-9]{1,32}", "give what `fairlead token` wrote")]
    salt: _Hexadecimal
    hash: Annotated[str, Matching(r"[0-9a-f]{64}", "give what `fairlead token` wrote")]
    created: AwareDatetime
    expires: AwareDatetime | None = None
    note: str | None = None


class _Limits(Section):
    requests_per_second: _Count | None = None
    requests_at_once: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    sessions: _Count | None = None
    streams: _Count | None = None


class _Principal(Section):
    name: PrincipalName
    observe: tuple[GroupGlob, ...] = ()
    consume: tuple[GroupGlob, ...] = ()
    operate: tuple[GroupGlob, ...] = ()
    subjects: tuple[str, ...] = ()
    jwt_subjects: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    limits: _Limits = _Limits()
    token: tuple[_Token, ...] = ()


class _Document(Section):
    principal: tuple[_Principal, ...] = ()


_TABLES: Final[Mapping[str, type[Section]]] = {
    "principal": _Principal,
    "token": _Token,
    "limits": _Limits,
}


@dataclass(frozen=True, slots=True)
class AccessFile:
    """Who may call.

    Attributes:
        principals: all, by name.
        tokens: the principal and the record of each token, by id.
        certificates: the principal of each name of a certificate.
        jwt_subjects: the principal of each subject of a JWT.
    """

    principals: Mapping[str, Principal]
    tokens: Mapping[str, tuple[Principal, TokenRecord]]
    certificates: Mapping[str, Principal]
    jwt_subjects: Mapping[str, Principal]


def parse_access_file(path: Path, text: str | None = None) -> AccessFile:
    """Read the file, or ``text`` as its new content.

    Raises:
        AccessFileError: it cannot be read, or something in it is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8") if text is None else text
        document = tomllib.loads(text)
    except OSError as error:
        raise AccessFileError(
            f"access.file: {path} cannot be read ({error.strerror}).",
            remedy="Make it with `fairlead token new`, or name another file.",
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AccessFileError(
            f"access.file: {path} is no TOML ({error}).", remedy="Mend it there."
        ) from error
    try:
        listed = _Document.model_validate(document).principal
    except ValidationError as error:
        raise _error(path, text, _refused(error)) from None
    faults = list(_contradictions(listed))
    if faults:
        raise _error(path, text, faults)
    return _access(listed)


def _access(listed: Sequence[_Principal]) -> AccessFile:
    principals = {each.name: _principal(each) for each in listed}
    return AccessFile(
        principals,
        {
            token.id: (principals[each.name], TokenRecord(**token.model_dump()))
            for each in listed
            for token in each.token
        },
        {
            certificate_name(name): principals[each.name]
            for each in listed
            for name in each.subjects
        },
        {name: principals[each.name] for each in listed for name in each.jwt_subjects},
    )


def _principal(given: _Principal) -> Principal:
    rights = {right: getattr(given, right) for right in RIGHTS}
    return Principal(given.name, rights, Limits(**given.limits.model_dump()))


@dataclass(frozen=True, slots=True)
class _Fault:
    path: _Path
    reason: str
    remedy: str


def _refused(error: ValidationError) -> Iterator[_Fault]:
    """Yield what the models refuse; a value is never repeated, since it may be a secret."""
    for detail in error.errors(include_url=False, include_input=False):
        path = tuple(detail["loc"])
        if detail["type"] == "extra_forbidden":
            yield _Fault(path, "unknown key", _nearest(path))
        elif detail["type"] == "missing":
            yield _Fault(path, "is missing", "set it")
        elif detail["type"] == "value_error":
            yield _Fault(path, "does not fit", str(detail["ctx"]["error"]))
        else:
            yield _Fault(path, "does not fit", detail["msg"][:1].lower() + detail["msg"][1:])


def _nearest(path: _Path) -> str:
    """Return the known key that is nearest to an unknown one, or all."""
    table = next((part for part in reversed(path[:-1]) if isinstance(part, str)), "")
    model = _TABLES.get(table, _Document)
    known = list(model.model_fields)
    near = difflib.get_close_matches(str(path[-1]), known, 1, _LIKE_MIN)
    return f"the nearest known key is {near[0]}" if near else f"known are {', '.join(known)}"


def _contradictions(listed: Sequence[_Principal]) -> Iterator[_Fault]:
    seen: dict[tuple[str, str], str] = {}
    for index, each in enumerate(listed):
        path: _Path = ("principal", index)
        names: list[tuple[_Path, str, str]] = [((*path, "name"), "name", each.name)]
        names += [((*path, "token"), "token id", token.id) for token in each.token]
        names += [((*path, "jwt_subjects"), "JWT subject", name) for name in each.jwt_subjects]
        for name in each.subjects:
            try:
                names.append(((*path, "subjects"), "subject", certificate_name(name)))
            except ValueError as error:
                yield _Fault((*path, "subjects"), f"{name!r} does not fit", str(error))
        for place, kind, name in names:
            if (kind, name) in seen:
                reason = f"the {kind} {name!r} stands twice, here and at {seen[kind, name]}"
                yield _Fault(place, reason, "leave out one of the two")
            seen[kind, name] = each.name


def _error(path: Path, text: str, faults: Iterator[_Fault] | Sequence[_Fault]) -> AccessFileError:
    lines = _lines(text)
    words, remedies = [], []
    for fault in faults:
        place = fault.path
        while place and place not in lines:
            place = place[:-1]
        where = f"{path}:{lines[place]}" if place else str(path)
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.path)
        words.append(f"{where}: {key.lstrip('.')}: {fault.reason}")
        remedies.append(f"{fault.remedy}.")
    return AccessFileError(
        "\n".join(words),
        remedy=" ".join(dict.fromkeys(each[:1].upper() + each[1:] for each in remedies)),
    )


def _lines(text: str) -> dict[_Path, int]:
    """Return the line of each table and key, as far as one can see it by line."""
    lines: dict[_Path, int] = {}
    counts: dict[str, int] = {}
    table: _Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _table(header[1], counts, is_new=line.lstrip().startswith("[["))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, key[1]), number)
    return lines


def _table(name: str, counts: dict[str, int], *, is_new: bool) -> _Path:
    """Return the path of the table that a header begins, with the index of each list."""
    if is_new:
        counts[name] = counts.get(name, -1) + 1
        for inner in [each for each in counts if each.startswith(f"{name}.")]:
            del counts[inner]
    path: list[str | int] = []
    parts = name.split(".")
    for length, part in enumerate(parts, start=1):
        path.append(part)
        index = counts.get(".".join(parts[:length]))
        if index is not None:
            path.append(index)
    return tuple(path)
