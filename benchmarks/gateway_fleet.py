"""Clients of the gateway, thousands of them on one event loop, for a process of its own.

Each polls over its own connection as a client library does: it echoes the state, names what it
works on, and measures how old the news of an answer are. Commands are lines of JSON on the standard
input, and answers on the standard output: ``{"join": 5000, "port": …}`` says each session as it
joins; ``{"measure": 20}`` says what came in so many seconds.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

POLL_MS: Final = 3_000
MEMBERS: Final = 10
"""Clients of one group."""
_AT_ONCE: Final = 20


@dataclass(slots=True)
class Figures:
    """What was seen since the last look."""

    polls: int = 0
    news_ms: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)

    def fail(self, what: str) -> None:
        """Count an answer that is none."""
        self.errors[what] = self.errors.get(what, 0) + 1


class Client:
    """One client."""

    def __init__(self, number: int, figures: Figures) -> None:
        self.group, self.name = f"group-{number // MEMBERS:05}", f"client-{number:05}"
        self.session = ""
        self._figures, self._sequence, self._state = figures, 0, ""
        self._working: dict[tuple[Any, ...], dict[str, Any]] = {}

    async def join(self, port: int) -> None:
        """Join over a connection that stays."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        body = {"client_id": self.name, "topics": [{"topic": f"of-{self.group}"}]}
        status, answer = await self._ask(f"/v1/groups/{self.group}/members", body)
        if status != 201:
            raise RuntimeError(f"{status}: {answer}")
        self.session, self._state = answer["session"], answer["state"]

    async def poll_on(self, since_s: float) -> None:
        """Poll until the session is lost; the first poll comes at this time."""
        await asyncio.sleep(max(0.0, since_s - time.monotonic()))
        while True:
            self._sequence += 1
            body = {
                "state": self._state, "sequence": self._sequence, "wait_ms": POLL_MS,
                "working": [*self._working.values()],
            }  # fmt: skip
            status, answer = await self._ask(f"/v1/sessions/{self.session}/poll", body)
            self._figures.polls += 1
            if status != 200:
                self._figures.fail(f"{status} {answer.get('reason') or answer.get('type')}")
                return
            self._state = answer["state"]
            now_ms = time.time() * 1_000
            for each in answer["start"]:
                name = {key: each[key] for key in ("queue", "epoch")}
                work = name | {"position": each["offset"], "end": each["offset"]}
                if tuple(each["queue"]) not in self._working:
                    # The offset of a grant says when the bench appended it.
                    self._figures.news_ms.append(now_ms - each["offset"])
                self._working[tuple(each["queue"])] = work
            for work in self._working.values():
                work["position"] += 7
                work["end"] += 9

    async def _ask(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        data = orjson.dumps(body)
        head = (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"content-length: {len(data)}\r\n\r\n"
        )
        self._writer.write(head.encode() + data)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        at = answer.index(b"content-length: ") + 16
        length = int(answer[at : answer.index(b"\r", at)])
        return int(answer[9:12]), orjson.loads(await self._reader.readexactly(length))


async def _join(client: Client, port: int, few: asyncio.Semaphore) -> asyncio.Task[None]:
    """Let a client join and say so; return its polling."""
    async with few:
        await client.join(port)
    # Polls are spread evenly, as those of clients that joined at any time.
    number = int(client.name.rpartition("-")[2])
    first_s = time.monotonic() + (number % 997) / 997 * POLL_MS / 1_000
    _say(session=client.session, group=client.group, client_id=client.name)
    return asyncio.create_task(client.poll_on(first_s))


async def _main() -> None:
    figures, few = Figures(), asyncio.Semaphore(_AT_ONCE)
    loop = asyncio.get_running_loop()
    polling: list[asyncio.Task[None]] = []
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        if "join" in command:
            clients = [Client(number, figures) for number in range(command["join"])]
            joins = (_join(client, command["port"], few) for client in clients)
            polling += await asyncio.gather(*joins)
            _say(joined=len(clients))
        else:
            figures.polls, figures.news_ms, figures.errors = 0, [], {}
            await asyncio.sleep(command["measure"])
            _say(polls=figures.polls, news_ms=figures.news_ms, errors=figures.errors)


def _say(**words: object) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main())
