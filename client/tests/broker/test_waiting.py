"""Each kind of consumer says what the engine has told it to wait for, on a real broker."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import Consumer, PullConsumer, PushConsumer

from tests.kit.awaiting import await_seen

if TYPE_CHECKING:
    from fairlead_client.consume.member import Member
    from tests.broker.conftest import ScriptedEngine

pytestmark = pytest.mark.broker


def _waits(one: "Member") -> tuple[str, str] | None:
    waiting = one.waiting_for
    return None if waiting is None else (waiting.kind.value, waiting.words)


def test_a_client_waits_for_what_the_engine_says(
    engine: "ScriptedEngine", member: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    """What the engine says keeps them is what they wait for, until it says that it is over."""
    made = {
        kind.__name__: member(kind, kind.__name__, **more)
        for kind, more in (
            (Consumer, {}),
            (PullConsumer, {}),
            (PushConsumer, {"listener": lambda _messages, _context: None}),
        )
    }
    beats = {name: engine.heartbeat(name) for name in made}
    for reason in ("paused", "drained", "designated", "room", "topic", "bridge"):
        for beat in beats.values():
            engine.notice(beat, "waiting", winner=None, reason=reason)
        for name, one in made.items():
            wanted = (reason, "a message")
            what = f"{name} that waits for {reason}"
            await_seen(
                lambda one=one: _waits(one), lambda seen, wanted=wanted: seen == wanted, what=what
            )
    for beat in beats.values():
        engine.notice(beat, "waiting", winner=None, reason=None)
    for name, one in made.items():
        await_seen(
            lambda one=one: _waits(one),
            lambda seen: seen is None or seen[0] == "assignment",
            what=f"{name} that waits for nothing more",
        )
    assert "notice from the engine" not in caplog.text
