"""Ctrl-C and SIGTERM, sent to real processes: the first leaves in order, the second kills."""

import re
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fairlead_client import Consumer, Queue

from tests.kit.awaiting import child_process

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from tests.kit.gateway_server import Transport

ROOT = Path(__file__).parents[3]
WAIT_SECONDS = 60


def _program(page: Path, transport: "Transport", topic: str) -> str:
    """Return the first program of a page that uses a Consumer, as it stands there.

    It differs in where it connects to, as whom, and what it reads.
    """
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    program = next(block for block in blocks if "import Consumer" in block)
    place = [f"{name}={value!r}" for name, value in transport.settings(client_id="a").items()]
    named, count = re.subn(
        r'bootstrap="localhost:9092"',
        ", ".join(place),
        program,
    )
    assert count == 1
    named = named.replace('topics=["orders"]', f"topics=[{topic!r}]")
    return "def handle(value): print(value, flush=True)\n" + named


def _running(program: str) -> AbstractContextManager[subprocess.Popen[str]]:
    running: AbstractContextManager[subprocess.Popen[str]] = child_process(
        [sys.executable, "-u", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return running


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
@pytest.mark.parametrize(
    "page, transport",
    [("README.md", "direct"), ("client/README.md", "direct"), ("client/README.md", "gateway")],
    indirect=["transport"],
)
def test_the_snippet_of_the_readme_releases_and_leaves(
    engine: "ScriptedEngine",
    transport: "Transport",
    data_topic: str,
    *,
    page: str,
    number: signal.Signals,
) -> None:
    """The program of the README ends without a traceback, with its queue released and its leave."""
    queue = Queue(data_topic, "main", 0)
    with _running(_program(ROOT / page, transport, data_topic)) as process:
        engine.grant(engine.heartbeat("a"), queue, 1)
        assert process.stdout is not None
        for _ in range(20):
            assert process.stdout.readline().strip().startswith("b'")
        process.send_signal(number)
        _, said = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, "Traceback" in said) == (0, False), said
    # The successor may begin at once, at the next message: it waits for no lease.
    assert engine.release(queue, 1)["position"] == [0, 20]
    assert engine.await_record("leave", lambda record: record["client_id"] == "a")


def test_second_signal_kills(engine: "ScriptedEngine", data_topic: str) -> None:
    """A program that is stuck in its work outlives the first Ctrl-C, and not the second one."""
    program = f"""if True:
        import time
        from fairlead_client import Consumer
        consumer = Consumer(bootstrap={engine.bootstrap!r}, prefix={engine.prefix!r},
                            group="orders", topics=[{data_topic!r}], client_id="a")
        with consumer.signals(), consumer:
            for message in consumer:
                print("in hand", flush=True)
                while not consumer.stopping:
                    time.sleep(0.02)
                print("told to leave", flush=True)
                time.sleep(600)
    """
    with _running(program) as process:
        engine.grant(engine.heartbeat("a"), Queue(data_topic, "main", 0), 1)
        assert process.stdout is not None
        assert process.stdout.readline() == "in hand\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "told to leave\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == -signal.SIGINT


def test_handlers_come_back() -> None:
    """After the block the handlers of before are there again, whether or not a signal came."""
    consumer = Consumer(bootstrap="127.0.0.1:1", group="orders", topics=["orders"])
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with consumer.signals():
        assert signal.getsignal(signal.SIGINT) not in before
        signal.raise_signal(signal.SIGTERM)
        assert consumer.stopping
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_on_another_thread_the_error_says_what_to_do() -> None:
    """On another thread than the main one the error says what to do instead."""
    program = """if True:
        import threading
        from fairlead_client import Consumer, LifecycleError
        consumer = Consumer(bootstrap="127.0.0.1:1", group="orders", topics=["orders"])
        def enter():
            try:
                with consumer.signals():
                    pass
            except LifecycleError as error:
                print(error)
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    """
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert "call stop() from your own handler" in told.stdout
