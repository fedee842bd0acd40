"""The file with the key that seals what clients carry from gateway to gateway."""

import secrets
import stat
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError

__all__ = ["KEY_BYTES_MIN", "is_open_to_others", "read_key"]

KEY_BYTES_MIN: Final = 32
_MAKE: Final = "Make it with `openssl rand -hex 32`, readable by this user alone."


def read_key(file: str) -> bytes:
    """Return the key; without a file a new one.

    Raises:
        EnvironmentMissingError: the file cannot be read, or the key is too short.
    """
    if not file:
        return secrets.token_bytes(KEY_BYTES_MIN)
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise EnvironmentMissingError(
            f"gateway.key_file: {file} cannot be read ({error.strerror}).", remedy=_MAKE
        ) from error
    # Random bytes may look like a line's end; what is left of a written key lacks only that.
    key = content if len(content) == KEY_BYTES_MIN else content.strip()
    if len(key) < KEY_BYTES_MIN:
        raise EnvironmentMissingError(
            f"gateway.key_file: {file} has only {len(key)} bytes; a key has {KEY_BYTES_MIN}.",
            remedy=_MAKE,
        )
    return key


def is_open_to_others(file: str) -> bool:
    """Tell whether users beside the owner and the group may read or change the file.

    Raises:
        OSError: the file is not there.
    """
    mode = Path(file).stat().st_mode
    return bool(mode & (stat.S_IRWXG | stat.S_IRWXO) & ~stat.S_IRGRP)
