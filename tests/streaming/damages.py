"""What is done to a checkpoint, and what comes of it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, NamedTuple

from streaming.checkpoint import Checkpoint

__all__ = ["DAMAGES", "Damage", "newest_delta", "without_sum"]

Seen = Literal["inspection", "spark", "nobody"]


class Damage(NamedTuple):
    """Something that is done to a checkpoint.

    Attributes:
        do: is given Spark's part of the checkpoint.
        stopped: who refuses the next start, if no engine runs meanwhile.
        running: who refuses the next start, if an engine works on for some batches meanwhile.
        named: what the refusal names.
    """

    do: Callable[[Path], object]
    stopped: Seen
    running: Seen
    named: str = ""


def newest(query: Path, folder: str, back: int = 0) -> Path:
    """Return the newest file of a batch, or one before it."""
    numbers = [int(path.name) for path in (query / folder).iterdir() if path.name.isdigit()]
    return query / folder / str(max(numbers) - back)


def newest_delta(query: Path) -> Path:
    """Return the changes of the newest committed batch."""
    commit = Checkpoint(query.parent).newest_commit()
    assert commit is not None
    return query / "state" / "0" / "0" / f"{commit + 1}.delta"


def sum_of(path: Path) -> Path:
    """Return the file with a file's checksums."""
    return path.with_name(f".{path.name}.crc")


def without_sum(path: Path) -> Path:
    """Take a file's checksums away."""
    sum_of(path).unlink(missing_ok=True)
    return path


def cut(path: Path) -> None:
    """Keep the first half of a file."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def empty(path: Path) -> None:
    """Leave nothing in a file."""
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    """Write something else into a file."""
    path.write_bytes(b"\x00garbage\xff" * 5)


def flip(path: Path) -> None:
    """Turn one bit of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(bytes(content))


def gone(path: Path) -> None:
    """Delete a file and its checksums."""
    without_sum(path).unlink()


def _wrong_sum(query: Path) -> None:
    path = sum_of(newest_delta(query))
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 4]))


def _huge_sum(query: Path) -> None:
    sum_of(newest_delta(query)).write_bytes(b"crc\0xxxx")


def _chain_gone(query: Path) -> None:
    """Delete the newest snapshot and the changes of the same batch, or those of the first batch."""
    store = query / "state" / "0" / "0"
    numbers = [int(path.stem) for path in store.glob("*.snapshot")]
    base = max(numbers, default=1)
    for name in (f"{base}.snapshot", f"{base}.delta"):
        if (store / name).exists():
            gone(store / name)


def _rmtree(*names: str) -> Callable[[Path], None]:
    def do(query: Path) -> None:
        for name in names:
            shutil.rmtree(query / name)

    return do


def _file_for_folder(query: Path) -> None:
    shutil.rmtree(query / "state")
    (query / "state").write_text("x", encoding="ascii")


_SCHEMA: Final = "state/0/0/_metadata/schema"

DAMAGES: Final = {
    # The state.
    "state file cut": Damage(lambda q: cut(newest_delta(q)), "inspection", "inspection", ".delta"),
    "state file cut, no checksum": Damage(
        lambda q: cut(without_sum(newest_delta(q))), "spark", "spark", "state"
    ),
    "state file empty": Damage(
        lambda q: empty(without_sum(newest_delta(q))), "inspection", "inspection", ".delta is empty"
    ),
    "state file flipped": Damage(
        lambda q: flip(newest_delta(q)), "inspection", "inspection", ".delta"
    ),
    "state file flipped, no checksum": Damage(
        lambda q: flip(without_sum(newest_delta(q))), "spark", "spark", "state"
    ),
    "state file gone": Damage(
        lambda q: gone(newest_delta(q)), "inspection", "inspection", ".delta is missing"
    ),
    "state file gone, checksum left": Damage(
        lambda q: newest_delta(q).unlink(), "inspection", "inspection", ".delta is missing"
    ),
    "checksum of a state file flipped": Damage(_wrong_sum, "inspection", "inspection", ".delta"),
    "checksum of a state file names a chunk of 2 GB": Damage(
        _huge_sum, "inspection", "inspection", ".crc"
    ),
    "checksum of a state file empty": Damage(
        lambda q: empty(sum_of(newest_delta(q))), "nobody", "nobody"
    ),
    "checksum of a state file gone": Damage(
        lambda q: without_sum(newest_delta(q)), "nobody", "nobody"
    ),
    "first of the chain gone": Damage(_chain_gone, "inspection", "inspection", "is missing"),
    "state gone": Damage(_rmtree("state"), "inspection", "inspection", "is missing"),
    "state of the operator gone": Damage(_rmtree("state/0"), "inspection", "inspection", "missing"),
    "state is a file": Damage(_file_for_folder, "inspection", "inspection", "is missing"),
    "schema empty": Damage(
        lambda q: empty(without_sum(q / _SCHEMA)), "inspection", "inspection", "schema is empty"
    ),
    "schema gone": Damage(_rmtree("state/0/0/_metadata"), "nobody", "nobody"),
    # The query.
    "metadata gone": Damage(
        lambda q: gone(q / "metadata"), "inspection", "inspection", "metadata is missing"
    ),
    "metadata empty": Damage(
        lambda q: empty(without_sum(q / "metadata")), "inspection", "inspection", "metadata"
    ),
    "metadata garbage": Damage(
        lambda q: garbage(without_sum(q / "metadata")), "inspection", "inspection", "metadata"
    ),
    # Commits: an engine that works on writes newer ones, and only the newest is read.
    "last commit gone": Damage(lambda q: gone(newest(q, "commits")), "nobody", "nobody"),
    "last commit gone, checksum left": Damage(
        lambda q: newest(q, "commits").unlink(), "nobody", "nobody"
    ),
    "last commit empty": Damage(
        lambda q: empty(without_sum(newest(q, "commits"))), "inspection", "nobody", "is empty"
    ),
    "last commit garbage": Damage(
        lambda q: garbage(without_sum(newest(q, "commits"))), "inspection", "nobody", "commits/"
    ),
    "last commit flipped": Damage(
        lambda q: flip(newest(q, "commits")), "inspection", "nobody", "not match its checksum"
    ),
    "an old commit empty": Damage(
        lambda q: empty(without_sum(newest(q, "commits", 2))), "nobody", "nobody"
    ),
    "commits gone": Damage(_rmtree("commits"), "inspection", "nobody", "holds no commit"),
    # Offsets: the newest and the one before it are read.
    "offsets of the last commit gone": Damage(
        lambda q: gone(q / "offsets" / newest(q, "commits").name), "inspection", "nobody", "missing"
    ),
    "last offsets empty": Damage(
        lambda q: empty(without_sum(newest(q, "offsets"))), "inspection", "nobody", "is empty"
    ),
    "last offsets garbage": Damage(
        lambda q: garbage(without_sum(newest(q, "offsets"))), "inspection", "nobody", "offsets/"
    ),
    "last offsets flipped": Damage(
        lambda q: flip(newest(q, "offsets")), "inspection", "nobody", "not match its checksum"
    ),
    "offsets before the last gone": Damage(
        lambda q: gone(newest(q, "offsets", 1)), "inspection", "nobody", "is missing"
    ),
    "old offsets empty": Damage(
        lambda q: empty(without_sum(newest(q, "offsets", 3))), "nobody", "nobody"
    ),
    "offsets gone": Damage(_rmtree("offsets"), "inspection", "nobody", "is missing"),
    "offsets and commits gone": Damage(
        _rmtree("offsets", "commits"), "inspection", "nobody", "holds no commit, but state"
    ),
    "sources gone": Damage(_rmtree("sources"), "nobody", "nobody"),
}
