"""Whoever asks for the end of the generations has an answer, whatever fails."""

import asyncio
import uuid

import pytest

from fairlead.gateway import generation_ends
from fairlead.gateway.generation_ends import GenerationEnds
from fairlead.settings import load_settings


@pytest.mark.parametrize("failure", [ValueError("odd"), OSError("no file"), RuntimeError("odd")])
def test_a_failure_of_any_kind_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """The thread goes on: joins are refused for now, and none of them hangs."""

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(generation_ends, "consumer_of", fail)
    prefix = f"nowhere-{uuid.uuid4().hex[:8]}."
    ends = GenerationEnds(load_settings(overrides={"kafka.topic_prefix": prefix}).kafka)
    ends.start()
    try:
        for _ in range(2):
            assert asyncio.run(asyncio.wait_for(ends.ask(), 30)) is None
    finally:
        ends.stop()
