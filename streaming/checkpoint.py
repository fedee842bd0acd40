"""The checkpoint folder: who owns it, which layout it belongs to, and whether it holds any state.

<checkpoint>/lock          held by the driver that uses the folder, as long as it lives
<checkpoint>/jvm.lock      held by that driver's JVM, which outlives a killed driver by a moment
<checkpoint>/layout.json   what must never change while this state is in use
<checkpoint>/topics.json   the ids of the topics that the engine has read
<checkpoint>/errors.json   failed attempts to publish, by reason, over all drivers
<checkpoint>/query/        Spark's own files

ADR 0104 gives the reasons.
"""

import contextlib
import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeVar

from fairlead.errors import EnvironmentMissingError, RefusedError
from streaming.damage import DamagedError, not_permitted
from streaming.keys import shard_keys

_OWNER_ONLY: Final = 0o700
_LAYOUT_VERSION: Final = 1
_TOPICS_VERSION: Final = 1
_OFFSETS_VERSION: Final = "v1"
_NOT_PERMITTED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_FOLDER: Final = frozenset(
    {
        *(errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR),
        *(errno.EINVAL, errno.ENAMETOOLONG, errno.ELOOP, errno.EOPNOTSUPP),
    }
)
"""Errors that only another path solves; a full or absent disk may recover by itself."""

_Read = TypeVar("_Read")

Offsets = Mapping[tuple[str, int], int]
"""One offset per partition, by topic and partition number."""


class _OtherVersionError(Exception):
    """One of our files has a format version that this engine does not read."""

    def __init__(self, version: int, known: int) -> None:
        super().__init__(f"{version} and not {known}")
        self.version = version
        self.known = known


@dataclass(frozen=True, slots=True)
class Layout:
    """What a checkpoint belongs to; it cannot be used with another layout.

    Attributes:
        cluster_id: the Kafka cluster whose offsets it holds.
        topic_prefix: the prefix of the topics on that cluster.
        shards: partitions of heartbeats, releases and control (N).
        assignments_partitions: partitions of the assignments topic (M).
        shuffle_partitions: Spark's tasks per batch.
        keys: the grouping key of each shard.
    """

    cluster_id: str
    topic_prefix: str
    shards: int
    assignments_partitions: int
    shuffle_partitions: int
    keys: tuple[int, ...]

    @classmethod
    def of(
        cls,
        cluster_id: str,
        topic_prefix: str,
        partitions: tuple[int, int],
        shuffle_partitions: int,
    ) -> "Layout":
        """Return the layout of a new checkpoint; ``partitions`` is (N, M)."""
        shards, assignments = partitions
        keys = shard_keys(shards, shuffle_partitions)
        return cls(cluster_id, topic_prefix, shards, assignments, shuffle_partitions, keys)


class Checkpoint:
    """One checkpoint folder on a local POSIX path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    @property
    def query(self) -> Path:
        """Where Spark keeps offsets, commits and state."""
        return self.folder / "query"

    @property
    def jvm_lock(self) -> Path:
        """The file that the JVM locks."""
        return self.folder / "jvm.lock"

    @property
    def publish_errors(self) -> Path:
        """The file that counts failed attempts to publish; only metrics use it."""
        return self.folder / "errors.json"

    @contextlib.contextmanager
    def owned(self) -> Iterator[None]:
        """Hold the folder while the context is open; create it first if it is missing.

        Raises:
            RefusedError: another driver holds it, this user may not write it, or its path cannot
                be a folder.
            EnvironmentMissingError: the disk is full or does not answer.
        """
        path = self.folder / "lock"
        try:
            self.folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
            # mkdir applies the umask to its mode, and leaves an existing folder as it is.
            self.folder.chmod(_OWNER_ONLY)
            handle = path.open("a+", encoding="ascii")
        except OSError as error:
            if error.errno in _NOT_PERMITTED:
                raise not_permitted(self.folder, self.folder, "written") from error
            text = f"engine.checkpoint: {self.folder} cannot be used ({error.strerror})."
            remedy = "Set engine.checkpoint to a writable folder on a local disk."
            if error.errno in _NO_FOLDER:
                raise RefusedError(text, remedy=remedy) from error
            raise EnvironmentMissingError(text, remedy=remedy) from error
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RefusedError(
                    f"engine.checkpoint: {self.folder} is in use by the driver with process id "
                    f"{_first_line(path)}.",
                    remedy="Stop that driver first, or give this one its own checkpoint.",
                ) from error
            handle.truncate(0)
            handle.write(f"{os.getpid()}\n")
            handle.flush()
            yield

    def newest_commit(self) -> int | None:
        """Return the number of the newest committed batch; None if there is none."""
        return self._newest("commits")

    def newest_plan(self) -> int | None:
        """Return the number of the newest planned batch, committed or not; None if none."""
        return self._newest("offsets")

    def has_state(self) -> bool:
        """Tell whether at least one batch was committed; until then the state is empty.

        Raises:
            DamagedError: the commits are gone although later files are there. Spark would begin at
                batch 0, and later meet state files of batches that have the same numbers.
        """
        if self.newest_commit() is not None:
            return True
        planned = self._newest("offsets")
        states = self.query / "state"
        kept = planned is None and any(path.is_file() for path in states.rglob("*"))
        if kept or (planned or 0) > 0:
            held = "state" if kept else f"the plan of batch {planned}"
            raise DamagedError(self.folder, self.query, f"holds no commit, but {held}")
        return False

    def forget_first_batch(self) -> None:
        """Remove the remains of a first batch that was never committed. There must be no state.

        Spark would run that batch again from its old start offsets, which may be gone by now.
        """
        shutil.rmtree(self.query, ignore_errors=True)

    def next_offsets(self) -> Offsets:
        """Return where the query reads on: at the end of the newest committed batch.

        Spark runs a batch that is planned but not committed again from there. There must be state.

        Raises:
            DamagedError: Spark's files cannot be parsed.
        """
        return self._offsets(self.newest_commit())

    def planned_offsets(self) -> Offsets:
        """Return where the newest batch ends, committed or not. There must be state.

        Raises:
            DamagedError: Spark's files cannot be parsed.
        """
        return self._offsets(self._newest("offsets"))

    def plan_up_to(self, topic: str, partition: int, end: int) -> None:
        """Plan the next batch so that it reads a partition up to this offset, exclusive.

        An already planned batch still reads the other partitions as planned; a new plan reads
        nothing of them. There must be state, and no query may use it.
        """
        commit, planned = self.newest_commit(), self._newest("offsets")
        assert commit is not None, "without state nothing can be planned"
        batch = commit + 1
        source = batch if planned is not None and planned > commit else commit
        self._write_offset(batch, source, topic, partition, end)

    def read_on_from(self, topic: str, partition: int, offset: int) -> None:
        """Let the query continue at this offset of a partition, as if it had read all before it.

        A planned batch that ends earlier is extended to it. There must be state, and no query may
        use it.
        """
        commit, planned = self.newest_commit(), self._newest("offsets")
        assert commit is not None, "without state nothing was read"
        if planned is not None and planned > commit:
            end = max(self._offsets(planned)[topic, partition], offset)
            self._write_offset(planned, planned, topic, partition, end)
        self._write_offset(commit, commit, topic, partition, offset)

    def _write_offset(
        self, batch: int, source: int, topic: str, partition: int, offset: int
    ) -> None:
        """Write a batch's plan: a copy of another batch's plan with one offset changed."""
        folder = self.query / "offsets"
        self._offsets(source)
        version, settings, line = (folder / str(source)).read_text(encoding="utf-8").split("\n")
        offsets = json.loads(line)
        offsets[topic][str(partition)] = offset
        staged = folder / f".{batch}.skip"
        with staged.open("w", encoding="utf-8") as handle:
            handle.write("\n".join((version, settings, json.dumps(offsets))))
            handle.flush()
            os.fsync(handle.fileno())
        # Spark checks a file only if its checksum file exists.
        (folder / f".{batch}.crc").unlink(missing_ok=True)
        staged.rename(folder / str(batch))

    def _newest(self, folder: str) -> int | None:
        try:
            # Spark writes hidden checksum files beside its own; only numbers are batches.
            names = [path.name for path in (self.query / folder).iterdir()]
        except FileNotFoundError:
            return None
        return max((int(name) for name in names if name.isdigit()), default=None)

    def _offsets(self, batch: int | None) -> Offsets:
        path = self.query / "offsets" / str(batch)
        try:
            return _read_offsets(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, AttributeError) as error:
            raise DamagedError(self.folder, path, f"cannot be parsed ({error})") from error

    def stored_layout(self) -> Layout | None:
        """Return the layout that the checkpoint belongs to; None if it is new.

        Raises:
            DamagedError: the file is not a layout.
            RefusedError: another version of Fairlead has written it.
        """
        return self._stored("layout.json", _read_layout)

    def store_layout(self, layout: Layout) -> None:
        """Write the layout of a new checkpoint, atomically."""
        self._store("layout.json", {"version": _LAYOUT_VERSION, **asdict(layout)})

    def stored_topic_ids(self) -> dict[str, str]:
        """Return the ids of the topics that the engine has read; empty if none are stored.

        Raises:
            DamagedError: the file cannot be parsed.
            RefusedError: another version of Fairlead has written it.
        """
        return self._stored("topics.json", _read_topic_ids) or {}

    def store_topic_ids(self, ids: Mapping[str, str]) -> None:
        """Write the ids of the topics that the engine reads from now on."""
        self._store("topics.json", {"version": _TOPICS_VERSION, "topics": dict(ids)})

    def _stored(self, name: str, read: Callable[[str], _Read]) -> _Read | None:
        """Return the content of one of our files; None if the file is missing."""
        path = self.folder / name
        if not path.exists():
            return None
        try:
            return read(path.read_text(encoding="utf-8"))
        except _OtherVersionError as error:
            raise RefusedError(
                f"engine.checkpoint: another version of Fairlead has written {path} (format "
                f"{error.version}; this version reads format {error.known}).",
                remedy="Run that version, or set engine.checkpoint to an empty folder: the engine "
                "then recovers from the clients' claims.",
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedError(self.folder, path, f"cannot be parsed ({error})") from error

    def _store(self, name: str, document: Mapping[str, object]) -> None:
        staged = self.folder / f"{name}.new"
        with staged.open("w", encoding="utf-8") as handle:
            json.dump(document, handle, indent=1)
            handle.flush()
            os.fsync(handle.fileno())
        staged.rename(self.folder / name)


def check_layout(stored: Layout, current: Layout) -> None:
    """Compare a checkpoint's layout with the current one.

    Raises:
        RefusedError: they differ; the message names every difference.
    """
    remedies = {
        "cluster_id": "kafka.bootstrap leads to another cluster",
        "topic_prefix": "set kafka.topic_prefix back",
        "shards": "the number of partitions of heartbeats, releases and control must not change",
        "assignments_partitions": "the number of partitions of assignments must not change",
        "shuffle_partitions": "set engine.shuffle_partitions back",
    }
    differences = [
        f"{name} was {getattr(stored, name)} and is {getattr(current, name)} ({remedy})"
        for name, remedy in remedies.items()
        if getattr(stored, name) != getattr(current, name)
    ]
    if differences:
        raise RefusedError(
            f"engine.checkpoint: it belongs to another layout: {'; '.join(differences)}.",
            remedy="Restore the old values, or start afresh: new topics (another "
            "kafka.topic_prefix) and a new engine.checkpoint.",
        )


def _read_layout(text: str) -> Layout:
    """Read what `store_layout` wrote; anything else raises one of several errors."""
    document = json.loads(text)
    _check_version(document.pop("version"), _LAYOUT_VERSION)
    return Layout(**{**document, "keys": tuple(document["keys"])})


def _check_version(version: object, known: int) -> None:
    """Refuse a file of another version: it is not damaged, and the other version can use it."""
    if version == known:
        return
    if not isinstance(version, int):
        raise TypeError(f"{version!r} is no version")
    raise _OtherVersionError(version, known)


def _read_topic_ids(text: str) -> dict[str, str]:
    document = json.loads(text)
    _check_version(document["version"], _TOPICS_VERSION)
    return {str(name): str(topic_id) for name, topic_id in document["topics"].items()}


def _read_offsets(text: str) -> Offsets:
    """Read Spark's plan of a batch: its version, its settings, one line for our only source."""
    version, _settings, source = text.strip().split("\n")
    if version != _OFFSETS_VERSION:
        raise ValueError(f"it has the version {version}")
    return {
        (topic, int(partition)): int(offset)
        for topic, partitions in json.loads(source).items()
        for partition, offset in partitions.items()
    }


def _first_line(path: Path) -> str:
    """Return what the holder of a lock has written into the lock file."""
    return path.read_text(encoding="ascii").strip() or "unknown"
