"""Prepares a consumer in Node: the clients of examples/node with the packages of their lock.

``python -m tools.node_consumer`` prints the command that runs it, as a list in JSON. npm installs
the packages, checked by the hashes of package-lock.json, only if something has changed. Nothing
that is built natively is among them (ADR 0201).
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.lock import locked
from tools.wheel_programs import node_and_npm

__all__ = ["node_consumer"]

_ROOT: Final = Path(__file__).parents[1]
_CLIENTS: Final = _ROOT / "examples" / "node"
_PROGRAM: Final = Path(__file__).with_name("journaled_consumer.mjs")
_BUILD: Final = _ROOT / "build" / "node-consumer"
_SECONDS_MAX: Final = 300
_REMEDY: Final = "Let npm reach a registry (npm config get registry says which)."


def node_consumer() -> list[str]:
    """Return the command that runs the consumer, and prepare it first if need be.

    Raises:
        EnvironmentMissingError: no Node, or no packages and no network.
    """
    node, npm = node_and_npm(_say)
    sources = [*sorted(_CLIENTS.glob("*.*")), _PROGRAM]
    folder = _BUILD / _key(sources)
    if not folder.is_dir():
        _BUILD.mkdir(parents=True, exist_ok=True)
        with locked(_BUILD / ".lock", lambda: None):
            if not folder.is_dir():
                _build(npm, sources, folder)
    return [node, str(folder / _PROGRAM.name)]


def _key(sources: list[Path]) -> str:
    """Return the name of a build: another content has another name."""
    digest = hashlib.sha256()
    for path in sources:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def _build(npm: list[str], sources: list[Path], folder: Path) -> None:
    _say("node: the packages of examples/node/package-lock.json are fetched from npm's registry")
    with tempfile.TemporaryDirectory(dir=_BUILD, prefix=".building-") as name:
        work = Path(name) / "whole"
        work.mkdir()
        for path in sources:
            shutil.copy(path, work)
        command = [*npm, "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(
            command, cwd=work, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
        )
        if done.returncode != 0:
            words = done.stderr.strip().splitlines()[:3]
            raise EnvironmentMissingError(
                f"node: npm has installed nothing: {' '.join(words)}", remedy=_REMEDY
            )
        work.rename(folder)


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - progress


def main() -> int:
    """Print the command; return 1 if it cannot be prepared."""
    try:
        command = node_consumer()
    except EnvironmentMissingError as error:
        _say(str(error))
        return 1
    print(json.dumps(command))  # noqa: T201 - the answer
    return 0


if __name__ == "__main__":
    sys.exit(main())
