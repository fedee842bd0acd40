"""The record of an embedded cluster in its folder: one JSON document, replaced in one step."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from fairlead.errors import EnvironmentMissingError

__all__ = ["read_record", "write_record"]

_Record = TypeVar("_Record")


def read_record(
    path: Path, parse: Callable[[dict[str, Any]], _Record], what: str, servers: str
) -> _Record | None:
    """Return what stands in a file; None: it is not there.

    Args:
        path: the file.
        parse: reads the document, or raises ValueError, KeyError or TypeError.
        what: whose record it is, as errors begin.
        servers: what may run there, for the remedy.

    Raises:
        EnvironmentMissingError: the file cannot be parsed.
    """
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise EnvironmentMissingError(
            f"{what}: {path} cannot be read ({error}).",
            remedy=f"Stop its {servers} by hand if any run, and remove {path.parent}.",
        ) from error


def write_record(path: Path, document: Mapping[str, Any]) -> None:
    """Replace the file in one step."""
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    staging.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    staging.replace(path)
