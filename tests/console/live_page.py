"""A page that follows a live stream: it holds what the stream has told, as a browser would."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, Final

from fairlead.access.authenticator import Presented
from fairlead.access.guard import Admitted
from fairlead.access.quotas import Quotas
from fairlead.console.live_reader import LiveReader
from fairlead.console.live_streams import LiveStreams
from fairlead.history.ribbons import Ribbons
from fairlead.observed.touched import Touched
from fairlead.serve.shared_view import SharedView
from fairlead.settings import load_settings
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.access.access_files import access_settings, authenticator
from tests.kit.memory_topics import NAMES, PARTITIONS

__all__ = ["NOTHING_OF_THE_PAST", "LivePage", "LookedView", "Serving", "caller"]

_WAIT_S: Final = 20.0
NOTHING_OF_THE_PAST: Final = 10**15
"""A window that begins after every record."""


def caller(path: Path | None = None, name: str = "anonymous") -> Admitted:
    """Return whom the guard admits; ``path``: the access file that has the principal."""
    said = authenticator(path)
    principal = said.authenticate(Presented("127.0.0.1")) if path is None else None
    if principal is None:
        assert said._file is not None  # noqa: SLF001 - the guard reads tokens, and needs none here
        principal = said._file.current().principals[name]  # noqa: SLF001
    return Admitted(principal, Presented("127.0.0.1"), said, Quotas(access_settings().limits))


class LookedView(SharedView):
    """A view that notes how often somebody looks, and at what."""

    def __init__(self) -> None:
        super().__init__(load_settings().serve, 1_000, STRATEGIES)
        self.looks = 0
        self.lined: list[str] = []

    def group(self, name: str) -> dict[str, Any] | None:
        """Describe a group."""
        self.looks += 1
        return super().group(name)

    def lines(self, names: Iterable[str]) -> dict[str, dict[str, Any] | None]:
        """Return lines of groups."""
        wanted = [*names]
        self.lined += wanted
        return super().lines(wanted)


class Serving:
    """A view that has read some rows and follows from then on, and its live streams."""

    def __init__(self, rows: Iterable[RawRecord]) -> None:
        self.view = LookedView()
        self.view.begin(NAMES, PARTITIONS)
        self.view.apply([*rows])
        self.view.follow()
        self.trouble = ""
        self.streams = LiveStreams(self.view, Ribbons(self.view.query), self._head)

    def _head(self) -> dict[str, Any]:
        return {
            "bootstrap": "memory",
            "topic_prefix": "t.",
            "as_of_ms": self.view.newest_ms,
            "now_ms": 0,
            "ready": not self.trouble,
            "reason": self.trouble,
            "records_behind": self.view.looks,
            "bridges": self.view.bridges(),
        }

    def group(self, name: str, after: int | None = None, by: Admitted | None = None) -> "LivePage":
        """Open a page of a group."""
        reader = LiveReader(by or caller(), 1, NOTHING_OF_THE_PAST, after)
        return LivePage(self.streams.one_group(name, reader))

    def groups(self, by: Admitted | None = None) -> "LivePage":
        """Open a page of all groups."""
        return LivePage(self.streams.all_groups(LiveReader(by or caller(), 1)))

    def touch(self, touched: Touched) -> None:
        """Let the streams believe that records told of something."""
        self.view._tell(touched)  # noqa: SLF001 - rows that change nothing would do the same


class LivePage:
    """What a page has been told.

    Attributes:
        kinds: the events so far.
        last_id: the id of the newest event.
        head: the group or the list without its parts.
        parts: the parts by kind and name, as JSON.
        marks: the offsets of the decisions, in the order in which they came.
        data: the bytes of the newest event.
    """

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        self._events = events
        self._next: asyncio.Task[bytes] | None = None
        self.kinds: list[str] = []
        self.last_id = -1
        self.head: dict[str, Any] = {}
        self.parts: dict[str, dict[str, Any]] = {}
        self.marks: list[int] = []
        self.resumed: dict[str, Any] | None = None
        self.data = b""

    async def read(self) -> str:
        """Wait for the next event, take it, and return its kind."""
        kind = None
        while kind is None:
            task = self._asked()
            done, _ = await asyncio.wait([task], timeout=_WAIT_S)
            assert done, "no event came"
            self._next = None
            kind = self._take(task.result())
        return kind

    async def read_if_there(self, seconds: float) -> bool:
        """Take the next event if it comes in time; tell whether it came."""
        task = self._asked()
        done, _ = await asyncio.wait([task], timeout=seconds)
        if done:
            self._next = None
            self._take(task.result())
        return bool(done)

    async def ends(self) -> None:
        """Read until the stream ends."""
        with contextlib.suppress(StopAsyncIteration):
            while True:
                await self.read()

    async def close(self) -> None:
        """Go away."""
        if self._next is not None:
            self._next.cancel()
            await asyncio.wait([self._next], timeout=_WAIT_S)
        await self._events.aclose()  # type: ignore[attr-defined]

    def _asked(self) -> "asyncio.Task[bytes]":
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._events))
        return self._next

    def _take(self, data: bytes) -> str | None:
        lines = dict(
            line.split(": ", 1) for line in data.decode().strip().split("\n") if line[0] != ":"
        )
        if "event" not in lines:
            return None
        self.data, kind, told = data, lines["event"], json.loads(lines["data"])
        self.last_id = int(lines.get("id", self.last_id))
        self.kinds.append(kind)
        if kind == "snapshot":
            self._begin(told)
        elif kind == "change":
            self._change(told)
        return kind

    def _begin(self, told: dict[str, Any]) -> None:
        self.parts = {}
        if "groups" in told:
            self.head = {name: value for name, value in told.items() if name != "groups"}
            self._put("group", told["groups"])
            return
        lists = ("topic_list", "member_list", "queue_list")
        group = told["group"]
        self.head = {name: value for name, value in group.items() if name not in lists}
        for name in lists:
            self._put(name.removesuffix("_list"), group[name])
        self._put("row", told["ribbon"]["rows"])
        self._mark(told["ribbon"]["marks"])
        self.resumed = told["resumed"]

    def _change(self, told: dict[str, Any]) -> None:
        if "changed" in told:
            self.head |= {name: told[name] for name in told if name not in ("changed", "gone")}
            self._put("group", told["changed"])
            for name in told["gone"]:
                del self.parts["group"][json.dumps(name)]
            return
        self.head = told["head"]
        for kind in ("queue", "member", "row"):
            self._put(kind, told[f"{kind}s"])
            for name in told[f"{kind}s_gone"]:
                self.parts[kind].pop(json.dumps(name), None)
        if "topics" in told:
            self.parts["topic"] = {}
            self._put("topic", told["topics"])
        self._mark(told["marks"])

    def _put(self, kind: str, documents: Iterable[dict[str, Any]]) -> None:
        named = self.parts.setdefault(kind, {})
        for each in documents:
            named[json.dumps(_name(kind, each))] = each

    def _mark(self, marks: Iterable[dict[str, Any]]) -> None:
        self.marks += [each["at"][2] for each in marks]


def _name(kind: str, document: dict[str, Any]) -> Any:
    if kind == "member":
        return [document["client_id"], document["incarnation"]]
    return document["queue" if kind == "row" else kind]
