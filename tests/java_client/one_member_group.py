"""A gateway for a group of one member: it answers by itself, and gives and takes as a test says."""

import threading
from collections import deque
from dataclasses import dataclass, field
from queue import Empty
from typing import Any

from tests.java_client.scripted_gateway import JOINED, Asked, ScriptedGateway
from tests.kit.awaiting import await_seen, ended

__all__ = ["OneMemberGroup"]

HOLD_SECONDS = 0.2
"""How long a poll waits for news."""
Work = dict[str, Any]


@dataclass(slots=True)
class _Wishes:
    """What the next answer says."""

    starts: list[Work] = field(default_factory=list)
    stops: list[Work] = field(default_factory=list)
    omit: set[int] = field(default_factory=set)
    silent: bool = False
    lost: str = ""


class OneMemberGroup:
    """The group.

    Attributes:
        stopped: what the member says that it has stopped: partition -> position.
        positions: its newest words: partition -> (position, end).
        leaving: whether it leaves, and works on until its queues are taken.
        left: whether it has ended its session.
        joins: how many joins were answered.
        joined: what the newest join said.
        frozen: the newest answer to a freeze: its epoch, and partition -> position.
        standing: where the member says it is: "wait", "follow", "freeze" or "own".
    """

    def __init__(
        self, gateway: ScriptedGateway, topic: str, lease_ms: int = 9_000, broker: str = "main"
    ) -> None:
        self._gateway, self._topic, self._lease_ms = gateway, topic, lease_ms
        self._broker = broker
        self._wishes = _Wishes()
        self._news = threading.Condition()
        self._waiting: deque[Asked] = deque()
        self._held: dict[int, list[int]] = {}
        self._told_stops: dict[int, Work] = {}
        self._numbers = 0
        self._over = False
        self.stopped: dict[int, int] = {}
        self.positions: dict[int, tuple[int, int | None]] = {}
        self.leaving = self.left = False
        self.joins = 0
        self.joined: dict[str, Any] = {}
        self.frozen: tuple[list[int], dict[int, int]] | None = None
        self.standing = ""
        self._told: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    # What a test says.
    def give(self, *partitions: int, offset: int = 0) -> None:
        """Let the member start these partitions."""
        with self._news:
            for partition in partitions:
                self._numbers += 1
                self._held[partition] = [1, self._numbers]
                self._wishes.starts.append({**self._name(partition), "offset": offset, "why": ""})
            self._news.notify_all()

    def take(self, partition: int, deadline_ms: int = 30_000) -> None:
        """Let the member stop a partition; with 0 at once."""
        with self._news:
            stop = {**self._name(partition), "deadline_ms": deadline_ms}
            self._wishes.stops.append(stop)
            if deadline_ms == 0:
                del self._held[partition]
            self._news.notify_all()

    def stand(self, word: str, freeze: tuple[int, int] | None = None) -> None:
        """Say from now on who decides: "follow", or "freeze" under an epoch."""
        with self._news:
            self._told = {"standby": word} | ({"freeze": list(freeze)} if freeze else {})
            self._held.clear()
            self._news.notify_all()

    def take_over(self, *partitions: int) -> None:
        """Grant what the member holds frozen; from now on the gateway decides."""
        with self._news:
            self._told = {}
            self._numbers += 100
            self.give(*partitions)
            self._wishes.starts = [{**each, "former": True} for each in self._wishes.starts]

    def be_silent(self, *, silent: bool = True) -> None:
        """Answer nothing, or answer again."""
        with self._news:
            self._wishes.silent = silent
            self._news.notify_all()

    def lose(self, reason: str) -> None:
        """Say that the session is over."""
        with self._news:
            self._wishes.lost = reason
            self._held.clear()
            self._news.notify_all()

    def await_stopped(self, partition: int) -> int:
        """Return where the member has stopped a partition."""
        await_seen(lambda: partition in self.stopped, what=f"stop of {partition}")
        return self.stopped[partition]

    def await_position(self, partition: int, wanted: tuple[int, int | None]) -> None:
        """Wait until the member says this position and end."""
        await_seen(
            lambda: self.positions.get(partition),
            lambda seen: seen == wanted,
            what=f"position {wanted} of {partition}",
        )

    def close(self) -> None:
        """End; nobody answers any more."""
        self._over = True
        ended(self._thread)

    # What it does.
    def _run(self) -> None:
        while not self._over:
            try:
                asked = self._gateway.asked.get(timeout=HOLD_SECONDS)
            except Empty:
                asked = None
            with self._news:
                if asked is not None:
                    self._take_words(asked)
                self._answer(over=asked is None)

    def _take_words(self, asked: Asked) -> None:
        if asked.path.endswith("/members"):
            if not self._wishes.silent:
                self.joins += 1
                self.joined = asked.body
                self._wishes.lost = ""
                self._told_stops.clear()
                asked.answer(201, {**JOINED, "lease_ms": self._lease_ms})
            return
        self.standing = asked.body.get("standby", "")
        self.leaving = asked.body.get("leaving", False)
        if "frozen" in asked.body:
            queues = asked.body["frozen"]["queues"]
            named = {
                each["queue"][2]: each["position"]
                for each in queues
                if each["queue"][0] == self._topic
            }
            self.frozen = asked.body["frozen"]["epoch"], named
        for work in asked.body["stopped"]:
            partition = work["queue"][2]
            self.stopped[partition] = work["position"]
            self._told_stops.pop(partition, None)
            if self._held.get(partition) == work["epoch"]:
                del self._held[partition]
        if asked.method == "DELETE":
            self.left = True
            asked.answer(204)
            return
        for work in asked.body["working"]:
            self.positions[work["queue"][2]] = work["position"], work.get("end")
        while self._waiting:
            self._waiting.popleft().answer(409, {"reason": "session_elsewhere"})
        self._waiting.append(asked)

    def _answer(self, *, over: bool) -> None:
        wishes = self._wishes
        news = wishes.starts or wishes.stops or wishes.lost or self._has_word()
        if not self._waiting or wishes.silent or not (over or news):
            return
        asked = self._waiting.popleft()
        if wishes.lost:
            asked.answer(409, {"reason": wishes.lost})
            return
        working = [self._name(partition) for partition in self._held]
        # As a gateway does: a stop comes again until the member has said that it has stopped.
        again = [stop for stop in self._told_stops.values() if stop not in wishes.stops]
        body = {
            **self._told,
            "start": wishes.starts,
            "stop": [*wishes.stops, *again],
            "working": working,
        }
        self._told_stops |= {
            stop["queue"][2]: stop for stop in wishes.stops if stop["deadline_ms"] > 0
        }
        self._wishes = _Wishes()
        asked.answer(200, {"state": f"t{asked.sequence}", "lease_ms": self._lease_ms, **body})

    def _has_word(self) -> bool:
        return bool(self._waiting) and bool(self._waiting[0].body["stopped"])

    def _name(self, partition: int) -> Work:
        return {"queue": [self._topic, self._broker, partition], "epoch": self._held[partition]}
