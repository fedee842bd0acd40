"""The file with one member's offsets: locked while it lives, and never half written."""

import fcntl
import logging
import os
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time_ns
from typing import IO, Final
from urllib.parse import quote

from fairlead_client.consume.broadcast.local_offsets import (
    LocalOffsets,
    decode_local_offsets,
    encode_local_offsets,
)
from fairlead_client.errors import MalformedRecordError, OffsetFileError

logger = logging.getLogger(__name__)

DEFAULT_FOLDER: Final = "~/.fairlead_offsets"
"""RocketMQ's is ~/.rocketmq_offsets (LocalFileOffsetStore.LOCAL_OFFSET_STORE_DIR)."""
NAME_MAX: Final = 100


class OffsetFile:
    """`<folder>/<client id>/<group>.json`, with the version before it as `….json.bak`.

    A write is a new file that takes the place of the old one when all of it is on the disk, so
    whatever kills the process leaves one or the other. For one process at a time: the second of one
    client id and group is refused.

    Args:
        folder: where the files of all members on this machine stand; made if it is not there.
        group: the group.
        client_id: the member; the same after a restart, or nothing is found.
    """

    def __init__(self, folder: str | Path, group: str, client_id: str) -> None:
        self._group = group
        self._client_id = client_id
        home = Path(folder).expanduser() / _file_name(client_id)
        self.path = home / f"{_file_name(group)}.json"
        self._backup = self.path.with_name(f"{self.path.name}.bak")
        self._lock: IO[bytes] | None = None

    def open(self) -> tuple[LocalOffsets, OffsetFileError | None]:
        """Lock the file and read it.

        Returns:
            What it holds, nothing if there is none; and what was wrong with it, if its text was
            not as it was written: then it was kept aside, and what holds is the version before it.

        Raises:
            OffsetFileError: another process has it; it cannot be read or written; or neither it nor
                the version before it is as it was written, which stays as it is.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            text = self.path.read_bytes() if self.path.exists() else None
        except OSError as error:
            self.close()
            raise OffsetFileError(
                str(self.path), f"cannot be used: {error}", "give a folder that may be written"
            ) from error
        if text is None:
            return LocalOffsets(self._group, self._client_id), None
        try:
            return self._read(text), None
        except MalformedRecordError as broken:
            try:
                return self._recover(broken)
            except OSError as error:
                self.close()
                raise OffsetFileError(
                    str(self.path), f"cannot be mended: {error}", "give a folder with room"
                ) from error
            except BaseException:
                self.close()
                raise

    def write(self, local: LocalOffsets) -> None:
        """Put these offsets in the place of the old ones, for sure.

        Raises:
            OSError: they could not be written; the old ones stand.
        """
        self._put(local, keeps_backup=True)

    def _put(self, local: LocalOffsets, *, keeps_backup: bool = False) -> None:
        fresh = self.path.with_name(f"{self.path.name}.new")
        with fresh.open("wb") as out:
            out.write(encode_local_offsets(local))
            out.flush()
            os.fsync(out.fileno())
        if keeps_backup:
            self._keep_backup()
        fresh.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _take_lock(self) -> None:
        # Not the file itself: each write makes it another one.
        lock = self.path.with_name(f"{self.path.name}.lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise OffsetFileError(
                str(self.path),
                f"another process is {self._client_id!r} of group {self._group!r} here",
                "give each process a client id of its own",
            ) from None
        self._lock = lock

    def _read(self, text: bytes) -> LocalOffsets:
        local = decode_local_offsets(text)
        for name in ("group", "client_id"):
            wanted = getattr(self, f"_{name}")
            if getattr(local, name) != wanted:
                raise MalformedRecordError(name, f"is not {wanted!r}")
        return local

    def _recover(self, broken: MalformedRecordError) -> tuple[LocalOffsets, OffsetFileError]:
        try:
            local = self._read(self._backup.read_bytes())
        except (OSError, MalformedRecordError):
            raise OffsetFileError(
                str(self.path),
                f"is not as it was written ({broken}), nor is the version before it",
                "mend it, or move it away to begin where consume_from says",
            ) from broken
        aside = self.path.with_name(f"{self.path.name}.broken-{time_ns()}")
        shutil.copyfile(self.path, aside)
        # At once: a start that fails now must find it again, and not nothing.
        self._put(local)
        told = OffsetFileError(
            str(self.path),
            f"was not as it was written ({broken}) and is now {aside.name}",
            "the version before it holds: its last messages are read again",
        )
        logger.error("%s", told)
        return local, told

    def _keep_backup(self) -> None:
        """Keep the version before; where there are no hard links there is none."""
        link = self.path.with_name(f"{self.path.name}.link")
        with suppress(OSError):
            link.unlink(missing_ok=True)
            os.link(self.path, link)
            link.replace(self._backup)


def _file_name(text: str) -> str:
    """Return a name for any text, readable, legal everywhere, and of no other text."""
    name = quote(text, safe="").replace(".", "%2E", 1) if text[:1] == "." else quote(text, safe="")
    if len(name) <= NAME_MAX:
        return name
    return f"{name[: NAME_MAX // 2]}%{sha256(text.encode()).hexdigest()[: NAME_MAX // 2 - 1]}"
