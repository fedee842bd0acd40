"""Members with RocketMQ's own consumers, whose queues a test moves from one to another."""

import json
import subprocess
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.java_client.one_member_group import OneMemberGroup
from tests.java_client.scripted_gateway import scripted_gateway
from tests.rocketmq_java.consumer import JavaConsumer, java_consumer
from tools.rocketmq_java import RocketMQJava

__all__ = ["BROKER", "Call", "Journal", "Member", "Moves", "calls_in", "moves"]

BROKER: Final = "broker-a"
CALLS: Final = frozenset({"held", "consumed", "failed"})
"""The lines of a journal about calls of a listener."""
Message = tuple[int, int]
"""Queue and offset."""


@dataclass(slots=True)
class Call:
    """A call of a listener: when it began, and ended, in ns of the machine's clock."""

    message: Message
    owner: str
    began: int
    ended: int | None = None
    failed: bool = False


@dataclass(slots=True)
class Journal:
    """What all members have written."""

    calls: list[Call] = field(default_factory=list)

    def seen(self) -> set[Message]:
        """Return the messages that have begun."""
        return {call.message for call in self.calls}

    def begun_again(self) -> list[Message]:
        """Return the messages that began more than once."""
        seen: dict[Message, int] = defaultdict(int)
        for call in self.calls:
            seen[call.message] += 1
        return sorted(message for message, times in seen.items() if times > 1)

    def overlaps(self) -> list[tuple[Call, Call]]:
        """Return calls of one queue by two owners at one time."""
        found = []
        queues: dict[int, list[Call]] = defaultdict(list)
        for call in sorted(self.calls, key=lambda call: call.began):
            for other in queues[call.message[0]]:
                at_once = other.ended is None or other.ended > call.began
                if other.owner != call.owner and at_once:
                    found.append((other, call))
            queues[call.message[0]].append(call)
        return found

    def gaps_ms(self) -> list[float]:
        """Return how long each moved queue stood still: from the last end to the first begin."""
        gaps = []
        queues: dict[int, list[Call]] = defaultdict(list)
        for call in sorted(self.calls, key=lambda call: call.began):
            before = queues[call.message[0]]
            if before and before[-1].owner != call.owner:
                gaps.append((call.began - max(each.ended or 0 for each in before)) / 1e6)
            before.append(call)
        return sorted(gaps)


@dataclass(frozen=True, slots=True)
class Member:
    """A member: its process, and the gateway that a test leads."""

    name: str
    process: JavaConsumer
    group: OneMemberGroup


class Moves:
    """A topic with messages, and members that read it."""

    def __init__(self, java: RocketMQJava, namesrv: str, folder: Path, **settings: Any) -> None:
        self._java, self._namesrv, self._folder = java, namesrv, folder
        self._settings = settings
        self.topic = f"orders-{uuid.uuid4().hex[:8]}"
        self.group = f"g-{self.topic}"
        self._lease_ms = settings.pop("lease_ms", 9_000)
        self.stack = ExitStack()

    def write(self, queues: int, messages: int) -> None:
        """Make the topic, and write messages to its queues in turns."""
        command = self._java.command(
            "ProducerProbe", self._namesrv, self.topic, str(queues), str(messages)
        )
        subprocess.run(command, check=True, capture_output=True, timeout=100)

    def member(self, name: str) -> Member:
        """Start a member; return when its consumer has started."""
        gateway = self.stack.enter_context(scripted_gateway())
        group = OneMemberGroup(gateway, self.topic, self._lease_ms, broker=BROKER)
        self.stack.callback(group.close)
        settings = {**self._settings, "group": self.group, "topic": self.topic}
        place = {"namesrv": self._namesrv, "gateway": gateway.address}
        process = self.stack.enter_context(
            java_consumer(self._java, self._folder, name, **settings, **place)
        )
        process.join()
        return Member(name, process, group)

    def move(self, queue: int, source: Member, target: Member) -> int:
        """Hand a queue over as the engine does; return the offset at which it went."""
        source.group.stopped.pop(queue, None)
        source.group.take(queue)
        offset = source.group.await_stopped(queue)
        target.group.give(queue, offset=offset)
        return offset

    def journal(self) -> Journal:
        """Return what the members have written until now, without topics of retries."""
        return calls_in(self._folder, self.topic)


def calls_in(folder: Path, topic: str, broker: str = BROKER) -> Journal:
    """Return the calls with messages of a topic on a broker, by the journals of a folder."""
    result = Journal()
    for path in sorted(folder.glob("*.jsonl")):
        under_way: dict[Message, Call] = {}
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["kind"] not in CALLS or line["queue"][:2] != [topic, broker]:
                continue
            message = line["queue"][2], line["offset"]
            if line["kind"] == "held":
                call = Call(message, path.stem, line["t"])
                under_way[message] = call
                result.calls.append(call)
            else:
                call = under_way.pop(message)
                call.ended, call.failed = line["t"], line["kind"] == "failed"
    return result


@contextmanager
def moves(java: RocketMQJava, namesrv: str, folder: Path, **settings: Any) -> Iterator[Moves]:
    """Have a topic and members until the block ends."""
    made = Moves(java, namesrv, folder, **settings)
    with made.stack:
        yield made
