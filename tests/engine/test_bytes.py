"""No bytes stop a shard: what is not what the protocol says is refused, one letter for each row."""

from contextlib import suppress
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.engine.errors import HigherGenerationError
from fairlead.engine.shard import run_shard
from tests.kit.memory_topics import NAMES, Topics
from tests.kit.world import World, context_of

SUFFIXES = ("heartbeats", "releases", "control", "routes", "offsets")
nonsense = st.none() | st.binary(max_size=40) | st.sampled_from([b"{}", b"[]", b"null", b'{"v":1}'])


def _valid() -> list[tuple[str, bytes | None, bytes]]:
    """Return (topic, key, value) of every kind of record that a short life leaves behind."""
    world = World()
    world.topics.tick(1)
    world.topics.rule("orders", "timing", {"lease_ms": 9_000})
    for client_id in ("a", "b"):
        world.join(client_id)
        world.pass_seconds(4)
    world.clients[0].leave()
    return [
        (NAMES.suffix(row.topic) or "", row.key, row.value)
        for row in world.topics.rows_of(0)
        if row.value is not None
    ]


VALID = _valid()


def _letters(topics: Topics) -> tuple[int, int]:
    """Run a shard over topics; return how many rows it refused and how many letters it wrote."""
    result = run_shard(None, topics.rows_of(0), context_of(0))
    refused = sum(number for name, number in result.counts.items() if name.startswith("rejects/"))
    letters = [record for record in result.records if record.topic == NAMES.name("rejects")]
    assert result.counts.get("steps/failed", 0) == 0
    return refused, len(letters)


@given(st.lists(st.tuples(st.sampled_from(SUFFIXES), nonsense, nonsense), max_size=8))
def test_each_row_of_nonsense_gets_one_letter(
    rows: list[tuple[str, bytes | None, bytes | None]],
) -> None:
    """Whatever bytes stand in the topics, each refused row gets one letter and the rest goes on."""
    topics = Topics()
    topics.tick(1)
    for suffix, key, value in rows:
        topics.append(suffix, 0, key, value)
    refused, letters = _letters(topics)
    assert refused == letters <= len(rows)


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_spoilt_records_stop_nobody(seed: int) -> None:
    """Valid records with some bytes changed, dropped or moved to other topics stop nobody."""
    chance = Random(seed)
    topics = Topics()
    for suffix, key, value in VALID:
        spoilt = bytearray(value)
        for _ in range(chance.randint(0, 2)):
            spoilt[chance.randrange(len(spoilt))] = chance.choice(b'0129",:[]{}-ae \xff')
        elsewhere = chance.choice(SUFFIXES) if chance.random() < 0.1 else suffix
        topics.append(elsewhere, 0, key, bytes(spoilt))
    # A digit of a tick may become a higher generation: that stops the shard, and must.
    with suppress(HigherGenerationError):
        refused, letters = _letters(topics)
        assert refused == letters
