"""The file of one member's offsets, locked while the member runs and never half written."""

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
    """`<folder>/<client id>/<group>.json`, with the former version as `….json.bak`.

    A write creates a new file, which replaces the old one when all of it is on the disk. So a kill
    leaves one version or the other. Only one process at a time may use a client id and group.

    Args:
        folder: the folder for the members of this machine; created if it does not exist.
        group: the group.
        client_id: the member's id, which must stay the same after a restart.
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
            The offsets, empty without a file; and an error if the file was damaged. Then this keeps
            the damaged file aside, and the offsets are those of the former version.

        Raises:
            OffsetFileError: another process uses the file, it cannot be read or written, or both it
                and the former version are damaged.
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
                    str(self.path), f"cannot be repaired: {error}", "give a folder with free space"
                ) from error
            except BaseException:
                self.close()
                raise

    def write(self, local: LocalOffsets) -> None:
        """Replace the old offsets by these, safely on the disk.

        Raises:
            OSError: the write failed; the old offsets stay.
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
        """Unlock the file."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _take_lock(self) -> None:
        # The lock is a separate file, because each write replaces the file itself.
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
                f"is damaged ({broken}), and so is the former version",
                "repair it, or move it away to begin where consume_from says",
            ) from broken
        aside = self.path.with_name(f"{self.path.name}.broken-{time_ns()}")
        shutil.copyfile(self.path, aside)
        # At once: if this start fails, the next one must find these offsets.
        self._put(local)
        problem = OffsetFileError(
            str(self.path),
            f"was damaged ({broken}) and is now {aside.name}",
            "the member uses the former version and reads its last messages again",
        )
        logger.error("%s", problem)
        return local, problem

    def _keep_backup(self) -> None:
        """Keep the former version as a hard link, if the file system has hard links."""
        link = self.path.with_name(f"{self.path.name}.link")
        with suppress(OSError):
            link.unlink(missing_ok=True)
            os.link(self.path, link)
            link.replace(self._backup)


def _file_name(text: str) -> str:
    """Return a unique, readable file name for any text."""
    name = quote(text, safe="").replace(".", "%2E", 1) if text[:1] == "." else quote(text, safe="")
    if len(name) <= NAME_MAX:
        return name
    return f"{name[: NAME_MAX // 2]}%{sha256(text.encode()).hexdigest()[: NAME_MAX // 2 - 1]}"
