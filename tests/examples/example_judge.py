"""Judges the journals of the examples: nobody works beside the owner, no message is left out."""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.settings import Settings
from tests.examples.example_clients import ExampleClient

__all__ = ["Verdict", "judged", "verified"]


@dataclass(slots=True)
class _Tenure:
    """One client's work on one queue: from its start to its last act."""

    client_id: str
    begin_ms: int
    last_ms: int
    offset: int


@dataclass(slots=True)
class Verdict:
    """What the journals show."""

    overlaps: list[str]
    holes: list[str]
    repeated: int
    handovers: int


def judged(clients: Sequence[ExampleClient]) -> Verdict:
    """Judge the journals by themselves.

    What a client does counts, not what it has been told: a process that was frozen is no owner
    meanwhile, unless it goes on afterwards.
    """
    tenures, seen = defaultdict(list), defaultdict(list)
    for client in clients:
        now: dict[int, _Tenure] = {}
        for line in client.lines():
            queue = line["queue"][2]
            if line["event"] == "start":
                begun = _Tenure(client.client_id, line["time"], line["time"], line["offset"])
                now[queue] = begun
                tenures[queue].append(begun)
            elif line["event"] != "lost":
                now[queue].last_ms = line["time"]
            if line["event"] == "message":
                seen[queue].append(line["offset"])
    verdict = Verdict([], [], 0, 0)
    for queue, found in sorted(tenures.items()):
        found.sort(key=lambda each: each.begin_ms)
        for one, other in itertools.pairwise(found):
            verdict.handovers += one.client_id != other.client_id
            if other.begin_ms < one.last_ms:
                verdict.overlaps.append(f"queue {queue}: {one} beside {other}")
        wanted = set(range(found[0].offset, max(seen[queue], default=found[0].offset - 1) + 1))
        if wanted != set(seen[queue]):
            verdict.holes.append(f"queue {queue}: {sorted(wanted - set(seen[queue]))[:10]}")
        verdict.repeated += len(seen[queue]) - len(wanted)
    return verdict


_KINDS: Final = {"start": "start", "message": "consumed", "stopped": "stop", "lost": "stop"}
"""An example's event -> what docs/journals.md calls it."""


def verified(
    settings: Settings, group: str, clients: Sequence[ExampleClient], folder: Path
) -> list[str]:
    """Let the project's judge look at journals and topics together; return what is broken."""
    journals = folder / f"{group}-journals"
    journals.mkdir()
    for client in clients:
        opened = {"kind": "opened", "client_id": client.client_id, "pid": client.process.pid}
        lines, at = [opened], 0
        for line in client.lines():
            at = max(at + 1, line["time"] * 1_000_000)
            kind = _KINDS[line["event"]]
            more = {"number": line["offset"]} if kind == "consumed" else {"epoch": line["epoch"]}
            body = {"kind": kind, "queue": line["queue"], "offset": line["offset"], "t": at}
            lines.append(body | more)
        _write(journals / f"{client.client_id}.jsonl", lines)
    faults = journals / "faults"
    _write(faults, [fault for client in clients for fault in client.faults])
    place = ["--bootstrap", settings.kafka.bootstrap, "--topic-prefix", settings.kafka.topic_prefix]
    asked = ["--journals", str(journals), "--faults", str(faults), "--group", group]
    ended = CliRunner().invoke(app, ["verify", *place, *asked, "-o", "json"])
    document = orjson.loads(ended.stdout)
    assert document["counts"]["decisions"] > 0
    return [str(each) for each in document["invariants"] if each["outcome"] == "broken"]


def _write(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
