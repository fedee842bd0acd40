"""A generation is claimed once, and a newer claim is noticed."""

import threading

import pytest

from fairlead.core.records import Generation
from fairlead.errors import EnvironmentMissingError, ExitCode, SupersededError
from fairlead.settings import Settings
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import raw_record
from streaming.generation import (
    GenerationWatch,
    claim_generation,
    earlier_generations,
)
from tests.kit.kafka_log import Log


def test_each_claim_raises_the_generation(settings: Settings, log: Log) -> None:
    """Each claim is one record more, its offset + 1 is the generation, and readers accept it."""
    assert earlier_generations(settings.kafka) == 0
    assert [claim_generation(settings.kafka) for _ in range(3)] == [1, 2, 3]
    assert earlier_generations(settings.kafka) == 3
    records = log.records("generations")
    assert len({record.key for record in records}) == 3
    for record in records:
        assert isinstance(decode("generations", raw_record(record), WireLimits(4)), Generation)


def test_watch_tells_a_newer_claim(settings: Settings) -> None:
    """The watch reports a later claim once, with the code on which nobody restarts."""
    own = claim_generation(settings.kafka)
    told: list[SupersededError] = []
    heard = threading.Event()

    def superseded(error: SupersededError) -> None:
        told.append(error)
        heard.set()

    watch = GenerationWatch(settings.kafka, own, superseded)
    watch.start()
    try:
        claim_generation(settings.kafka)
        assert heard.wait(30)
    finally:
        watch.stop()
    assert [error.exit_code for error in told] == [ExitCode.SUPERSEDED]
    assert "generation 2 has taken over from generation 1" in str(told[0])


def test_watch_ignores_older_claims(settings: Settings) -> None:
    """Our own claim and those before it say nothing, up to the newest one there is."""
    claim_generation(settings.kafka)
    own = claim_generation(settings.kafka)
    told: list[SupersededError] = []
    watch = GenerationWatch(settings.kafka, own, told.append)
    watch.start()
    assert watch.followed.wait(30)
    watch.stop()
    assert told == []


def test_an_unreachable_broker_is_named_with_its_setting(settings: Settings) -> None:
    """A broker that is not there is an error that names the setting."""
    away = settings.kafka.model_copy(update={"bootstrap": "127.0.0.1:1"})
    with pytest.raises(EnvironmentMissingError, match=r"kafka\.bootstrap"):
        earlier_generations(away)
    with pytest.raises(EnvironmentMissingError, match=r"kafka\.bootstrap"):
        claim_generation(away)
