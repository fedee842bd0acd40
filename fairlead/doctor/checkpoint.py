"""Checks the checkpoint: who uses it, whether it is writable, whether it fits these topics."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.context import CheckContext
from fairlead.doctor.endpoints import engine_answers
from fairlead.doctor.liveness import live_tick
from fairlead.errors import RefusedError
from fairlead.kafka.topic_ids import check_topic_ids, read_topic_ids
from streaming.checkpoint import Checkpoint, Layout, check_layout
from streaming.inspection import inspect
from streaming.lost_input import check_input

__all__ = ["checkpoint", "checkpoint_topics"]

_LOCKS: Final = Path("/proc/locks")
_OTHER_FOLDER: Final = (
    "check that folder: fairlead doctor --checkpoint FOLDER, on the engine's machine; a relative "
    "engine.checkpoint depends on the folder in which a program starts"
)


def checkpoint(context: CheckContext) -> Iterator[Answer]:
    """Check the folder and its locks. Take no lock: it would stop a starting driver."""
    here = Checkpoint(context.settings.engine.checkpoint)
    folder = here.folder
    if not folder.exists():
        yield from _absent(context, folder)
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield fail(
            f"this user may not write to {folder}",
            f"run as its owner, or chown it; only the engine needs it (chmod 0700 {folder})",
        )
    elif stat.S_IMODE(folder.stat().st_mode) & 0o077:
        yield warn(f"other users may read or change {folder}", f"chmod 0700 {folder}")
    driver, jvm = _holder(folder / "lock"), _holder(here.jvm_lock)
    if driver is not None:
        yield ok(f"the engine with process id {driver} uses {folder}")
    elif jvm is not None:
        yield warn(
            f"the JVM with process id {jvm} still uses {folder} without a driver, which was killed "
            "a moment ago",
            f"wait some seconds; if the JVM stays, kill {jvm}",
        )
    else:
        yield from _unused(here)


def checkpoint_topics(context: CheckContext) -> Iterator[Answer]:
    """Compare the checkpoint with the cluster, as an engine does at its start."""
    here, kafka, cluster = (
        Checkpoint(context.settings.engine.checkpoint),
        context.settings.kafka,
        context.cluster,
    )
    try:
        # In a folder in use a batch may be half written.
        if _holder(here.folder / "lock") is None:
            inspect(here)
        if not here.folder.exists() or not here.has_state():
            yield from _no_state(context, here)
            return
        stored = here.stored_layout()
        current = Layout.of(
            context.nodes().cluster_id,
            kafka.topic_prefix,
            (cluster.partitions("heartbeats"), cluster.partitions("assignments")),
            context.settings.engine.shuffle_partitions,
        )
        if stored is not None:
            check_layout(stored, current)
        check_topic_ids(here.stored_topic_ids(), read_topic_ids(kafka))
        check_input(kafka, here, accept_lost=False)
    except PermissionError as error:
        yield unknown(f"this user may not read {error.filename}", "run as its owner")
    except RefusedError as error:
        yield fail(error.message, error.remedy)
    else:
        batch = here.newest_commit()
        yield ok(f"it fits these topics, which hold the input of the next batch (after {batch})")


def _no_state(context: CheckContext, here: Checkpoint) -> Iterator[Answer]:
    """Judge a folder without state: it is the wrong one if an engine runs elsewhere."""
    tick = None if _holder(here.folder / "lock") is not None else live_tick(context)
    if tick is None:
        yield ok("there is no state: an engine starts empty, or recovers from what clients claim")
        return
    yield warn(
        f"an engine ticks (generation {tick.generation}), and {here.folder} has no state: its "
        "state is in another folder, or on another machine",
        _OTHER_FOLDER,
    )


def _absent(context: CheckContext, folder: Path) -> Iterator[Answer]:
    """Judge a missing folder: whether it could be created, and whether it is the wrong one."""
    above = next(parent for parent in folder.parents if parent.exists())
    answers_at = engine_answers(context)
    if answers_at is not None:
        yield warn(
            f"{folder} does not exist, and an engine answers at {answers_at}: its state is in "
            "another folder",
            _OTHER_FOLDER,
        )
    elif os.access(above, os.W_OK | os.X_OK):
        yield ok(f"{folder} does not exist: an engine creates it and recovers from clients' claims")
    else:
        yield fail(
            f"{folder} does not exist, and this user may not create it in {above}",
            "set engine.checkpoint to a writable folder on a local disk",
        )


def _unused(here: Checkpoint) -> Iterator[Answer]:
    """Judge a folder that no process of this machine uses."""
    try:
        last = (here.folder / "lock").read_text(encoding="ascii").strip()
    except OSError:
        last = ""
    used = f"; the last one was process {last}" if last else ""
    if not _LOCKS.exists():
        yield unknown(f"this system does not show who uses {here.folder}{used}")
        return
    yield ok(f"{here.folder} is free: no engine on this machine uses it{used}")


def _holder(path: Path) -> int | None:
    """Return the process that holds a lock of this file, by the kernel's list; None: none."""
    try:
        inode = path.stat().st_ino
        lines = _LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        # 1: FLOCK  ADVISORY  WRITE 4121 08:01:131 0 EOF; a waiting process has "->".
        fields = line.split()
        if "->" not in fields and fields[5].rpartition(":")[2] == str(inode):
            return int(fields[4])
    return None
