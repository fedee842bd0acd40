"""The checkpoint: who has it, whether it can be written, and whether it belongs to these topics."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.endpoints import engine_answers
from fairlead.doctor.liveness import live_tick
from fairlead.doctor.surroundings import Surroundings
from fairlead.errors import RefusedError
from fairlead.kafka.topic_ids import check_topic_ids, read_topic_ids
from streaming.checkpoint import Checkpoint, Layout, check_layout
from streaming.inspection import inspect
from streaming.lost_input import check_input

__all__ = ["checkpoint", "checkpoint_topics"]

_LOCKS: Final = Path("/proc/locks")
_OTHER_FOLDER: Final = (
    "look at that one: fairlead doctor --checkpoint FOLDER, on the machine of the engine; "
    "a relative engine.checkpoint is another folder wherever a program is started"
)


def checkpoint(around: Surroundings) -> Iterator[Answer]:
    """Look at the folder and its locks, and take none: a driver that starts would be refused."""
    here = Checkpoint(around.settings.engine.checkpoint)
    folder = here.folder
    if not folder.exists():
        yield from _absent(around, folder)
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield fail(
            f"{folder} may not be written by this user",
            f"run as its owner, or chown it; the engine wants it for itself (chmod 0700 {folder})",
        )
    elif stat.S_IMODE(folder.stat().st_mode) & 0o077:
        yield warn(f"others may look into {folder}", f"chmod 0700 {folder}")
    driver, jvm = _holder(folder / "lock"), _holder(here.jvm_lock)
    if driver is not None:
        yield ok(f"{folder} is in use by the engine with process id {driver}")
    elif jvm is not None:
        yield warn(
            f"{folder}: no driver has it, and the JVM with process id {jvm} still does: its driver "
            "was killed a moment ago",
            f"wait some seconds; if it stays, kill {jvm}",
        )
    else:
        yield from _unused(here)


def checkpoint_topics(around: Surroundings) -> Iterator[Answer]:
    """Compare what the checkpoint was made for with the cluster, as a start would."""
    here, kafka, cluster = (
        Checkpoint(around.settings.engine.checkpoint),
        around.settings.kafka,
        around.cluster,
    )
    try:
        # Of a folder in use a batch may be half written.
        if _holder(here.folder / "lock") is None:
            inspect(here)
        if not here.folder.exists() or not here.has_state():
            yield from _no_state(around, here)
            return
        stored = here.stored_layout()
        found = Layout.of(
            around.nodes().cluster_id,
            kafka.topic_prefix,
            (cluster.partitions("heartbeats"), cluster.partitions("assignments")),
            around.settings.engine.shuffle_partitions,
        )
        if stored is not None:
            check_layout(stored, found)
        check_topic_ids(here.stored_topic_ids(), read_topic_ids(kafka))
        check_input(kafka, here, accept_lost=False)
    except PermissionError as error:
        yield unknown(f"{error.filename} may not be read by this user", "run as its owner")
    except RefusedError as error:
        yield fail(error.message, error.remedy)
    else:
        batch = here.newest_commit()
        yield ok(f"it belongs to these topics, and they hold what it reads next (batch {batch})")


def _no_state(around: Surroundings, here: Checkpoint) -> Iterator[Answer]:
    """Tell of a folder without state: it is the wrong one, if an engine runs that has another."""
    tick = None if _holder(here.folder / "lock") is not None else live_tick(around)
    if tick is None:
        yield ok("there is no state: an engine begins anew, or recovers from what clients claim")
        return
    yield warn(
        f"an engine ticks (generation {tick.generation}), and {here.folder} has no state: its own "
        "is in another folder, or on another machine",
        _OTHER_FOLDER,
    )


def _absent(around: Surroundings, folder: Path) -> Iterator[Answer]:
    """Tell whether a folder that is not there could be made, and whether it is the wrong one."""
    above = next(parent for parent in folder.parents if parent.exists())
    answers_at = engine_answers(around)
    if answers_at is not None:
        yield warn(
            f"{folder} is not there, and an engine answers at {answers_at}: it has its state in "
            "another folder",
            _OTHER_FOLDER,
        )
    elif os.access(above, os.W_OK | os.X_OK):
        yield ok(f"{folder} is not there: an engine makes it, and recovers from what clients claim")
    else:
        yield fail(
            f"{folder} is not there, and this user may not make it in {above}",
            "set engine.checkpoint to a folder on a local disk that may be written",
        )


def _unused(here: Checkpoint) -> Iterator[Answer]:
    """Tell of a folder that nobody on this machine has."""
    try:
        last = (here.folder / "lock").read_text(encoding="ascii").strip()
    except OSError:
        last = ""
    used = f"; the last was process {last}" if last else ""
    if not _LOCKS.exists():
        yield unknown(f"{here.folder}: this system does not tell who holds a lock{used}")
        return
    yield ok(f"{here.folder} is free: no engine on this machine has it{used}")


def _holder(path: Path) -> int | None:
    """Return the process that holds a lock of this file, as the kernel lists it; None: nobody."""
    try:
        inode = path.stat().st_ino
        lines = _LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        # 1: FLOCK  ADVISORY  WRITE 4121 08:01:131 0 EOF; a lock that is waited for has "->".
        fields = line.split()
        if "->" not in fields and fields[5].rpartition(":")[2] == str(inode):
            return int(fields[4])
    return None
