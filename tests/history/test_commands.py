"""`fairlead explain` and `fairlead moves` as they are typed, on recordings of whole lives."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import ExitCode, FairleadError, NothingProvedError, UsageError, VerdictError
from fairlead.wire.raw import RawRecord
from tests.answers.schema import assert_answers
from tests.kit.memory_topics import shard_of
from tests.kit.moving_world import GROUP, moving_life, recorded, timed_rows
from tests.kit.world import World

STORIES = Path(__file__).parent / "stories"
QUEUES = ("--queue", "orders/main/2", "--queue", "5")


@pytest.fixture(scope="module")
def life() -> World:
    """A life in which queues moved for many reasons."""
    return moving_life()


@pytest.fixture(scope="module")
def folder(life: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of it."""
    return recorded(life, tmp_path_factory.mktemp("run") / "recording").folder


def _run(*words: str | Path) -> tuple[str, FairleadError | None]:
    """Run a command; return what it wrote, and the error that it ended with."""
    ended = CliRunner().invoke(app, [str(word) for word in words])
    if ended.exception is None or isinstance(ended.exception, FairleadError):
        return ended.stdout, ended.exception
    raise ended.exception


def _told(*words: str | Path) -> Any:
    text, error = _run(*words, "-o", "json")
    assert error is None
    found = orjson.loads(text)
    assert_answers({"explain": "Story", "moves": "Move"}[str(words[0])], found)
    return found


@pytest.mark.parametrize(
    "story, words",
    [
        ("explain", ["explain", GROUP, *QUEUES, "--all"]),
        ("moves", ["moves", GROUP]),
        ("moves_of_a_client", ["moves", GROUP, "--since", "20s", "--client", "c3"]),
    ],
)
def test_a_story_reads_as_its_page(folder: Path, story: str, words: list[str]) -> None:
    """What a person reads is what was read and found good: tests/history/stories has it."""
    text, error = _run(*words, "--dump", folder)
    assert error is None
    assert text == (STORIES / f"{story}.txt").read_text(encoding="utf-8")


def test_programs_get_every_cause_with_its_record(folder: Path) -> None:
    """Programs get owner, position and every cause with the state of its record."""
    two, five = _told("explain", GROUP, *QUEUES, "--dump", folder)
    assert (two["owner"], two["state"], two["draining"]) == ("c3", "held", [])
    newest, before = two["owners"]
    # Where it began is one thing, where it is now another.
    assert (newest["start_position"], newest["start_why"]) == ([0, 63], "release")
    assert (two["position"], two["why"]) == ([0, 70], "progress")
    assert [each["status"] for each in newest["given_by"]["cause"]] == ["verified", "verified"]
    assert [each["kind"] for each in newest["given_by"]["cause"]] == ["client_left", "released"]
    assert newest["handover"]["released_offset"] == 63
    assert before["client_id"] == "c1"
    assert [each["kind"] for each in before["given_by"]["cause"]] == ["client_expired"]
    assert "longer than lease 10 s + margin 3 s" in before["given_by"]["cause"][0]["record"]
    assert (five["owners_earlier"], len(five["owners"])) == (3, 2)
    lines, _ = _run("explain", GROUP, *QUEUES, "--dump", folder, "-o", "jsonl")
    assert [orjson.loads(line) for line in lines.splitlines()] == [two, five]


def test_rows(folder: Path) -> None:
    """Each move is one object; whoever ordered it, and because of what, stands in its cause."""
    rows = _told("moves", GROUP, "--dump", folder, "--since", "1h")
    pinned = next(row for row in rows if (row["chief_cause"] or {}).get("rule") == "pin")
    assert (
        pinned["chief_cause"]["by"],
        pinned["chief_cause"]["because"],
        pinned["from"],
        pinned["to"],
    ) == (
        "alice",
        "warm cache",
        "c1",
        "c3",
    )
    assert [row["kind"] for row in rows].count("renewed") == 1


def _forged(
    rows: dict[tuple[str, int], list[RawRecord]], suffix: str, old: bytes, new: bytes
) -> None:
    for place, log in rows.items():
        if place[0] == suffix:
            rows[place] = [row._replace(value=(row.value or b"").replace(old, new)) for row in log]


def test_a_forged_record_ends_the_command_with_1(life: World, tmp_path: Path) -> None:
    """A record that is another event than the decision says ends the command with 1."""
    rows = timed_rows(life)
    _forged(rows, "control", b'"by":"alice"', b'"by":"mallory"')
    folder = recorded(life, tmp_path / "forged", rows).folder
    text, error = _run("explain", GROUP, "--queue", "0", "--dump", folder)
    assert "DOES NOT AGREE: t.control/0@1: its by is 'mallory'" in text
    assert isinstance(error, VerdictError)
    assert error.exit_code == ExitCode.VERDICT_NEGATIVE
    assert "1 record is not what the decisions say, such as t.control/0@1" in error.message


def test_records_gone_are_no_contradiction(life: World, tmp_path: Path) -> None:
    """The command says that a record is gone from its topic; that is no contradiction."""
    rows = timed_rows(life)
    end = max(row.append_ms for row in rows["heartbeats", 0])
    rows["heartbeats", 0] = [row for row in rows["heartbeats", 0] if row.append_ms > end - 2_000]
    rows["control", 0] = [row for row in rows["control", 0] if b'"pin"' not in (row.key or b"")]
    folder = recorded(life, tmp_path / "gone", rows).folder
    text, error = _run("explain", GROUP, "--queue", "0", "--queue", "2", "--all", "--dump", folder)
    assert error is None
    assert "record gone (compacted): t.control/0@1" in text
    assert "record gone (retention): t.heartbeats/0@22" in text
    assert "the log no longer has its last heartbeat" in text


def test_without_decisions_assignments_name_the_owner(life: World, tmp_path: Path) -> None:
    """Without decisions assignments name the owner, and `moves` proves nothing."""
    rows = timed_rows(life)
    rows["decisions", 0] = []
    folder = recorded(life, tmp_path / "undecided", rows).folder
    text, error = _run("explain", GROUP, "--queue", "2", "--dump", folder)
    assert error is None
    assert "owner    c3 (held)" in text
    assert "The decision that granted it is not in the log any more." in text
    _, error = _run("moves", GROUP, "--dump", folder)
    assert isinstance(error, NothingProvedError)
    assert "orders: there is no decision of it in the recording" in error.message


@pytest.mark.parametrize(
    "words, message, remedy",
    [
        (["explain", "order", "--queue", "1"], "no group order in the rec", "nearest is orders"),
        (["moves", "order"], "there is no group order in the rec", "nearest is orders"),
        (["moves", "a b"], "'a b' is no group", "characters"),
        (["explain", GROUP, "--queue", "7"], "7: the group has no such queue", "orders/main/0-5"),
        (["explain", GROUP, "--queue", "orders/mian/1"], "no such queue", "orders/main/0-5"),
        (["moves", GROUP, "--queue", "9"], "9: the group has no such queue", "orders/main/0-5"),
        (["moves", GROUP, "--since", "yesterday"], "'yesterday' is no time", "30m, 1h, 2d"),
        (
            ["moves", GROUP, "--since", "2026-06-09T10:14"],
            "is a time without its zone",
            "Add its zone",
        ),
    ],
)
def test_a_missing_name_is_refused_with_what_there_is(
    folder: Path, words: list[str], message: str, remedy: str
) -> None:
    """A name that is not there is refused with what there is, a time that is none with examples."""
    _, error = _run(*words, "--dump", folder)
    assert isinstance(error, UsageError)
    assert message in error.message
    assert remedy in error.remedy


def test_number_of_two_topics(tmp_path: Path) -> None:
    """A bare number that queues of two topics have is refused with both."""
    world = World()
    world.topics.tick(1)
    world.join("c1", subscribed=("orders", "payments"))
    world.pass_seconds(4)
    folder = recorded(world, tmp_path / "two").folder
    _, error = _run("explain", GROUP, "--queue", "2", "--dump", folder)
    assert "2: it may be orders/main/2 or payments/main/2" in str(error)
    (story,) = _told("explain", GROUP, "--queue", "3", "--dump", folder)
    assert story["queue"] == ["orders", "main", 3]
    (story,) = _told("explain", GROUP, "--queue", "payments/2", "--dump", folder)
    assert story["queue"] == ["payments", "main", 2]


def test_a_queue_in_handover_has_its_next_owner_and_its_holder(tmp_path: Path) -> None:
    """The owner of a queue in a handover is the next one, which waits for its holder."""
    world = World(queues={"orders": 2})
    world.topics.tick(1)
    world.join("c1")
    world.pass_seconds(4)
    world.join("c2")
    world.run(0)
    world.run(1)
    folder = recorded(world, tmp_path / "open").folder
    text, _ = _run("explain", GROUP, "--queue", "1", "--dump", folder)
    assert "owner    c2 (gated: it waits for c1)" in text
    assert "holder   c1 (draining: it has not released it yet)" in text
    assert "                    c1 has not released it yet" in text
    assert "c2 still waits" in text
    (story,) = _told("explain", GROUP, "--queue", "1", "--dump", folder)
    handover = story["owners"][0]["handover"]
    assert (handover["from"], handover["ended"]) == ("c1", None), "its grant goes on"
    assert story["owner_since_ms"] == story["owners"][0]["given_ms"]
    text, _ = _run("moves", GROUP, "--dump", folder, "--client", "c2")
    assert "orders/main/1  c1 → c2" in text
    assert "still waits" in text


def test_a_queue_without_an_owner_has_a_reason(tmp_path: Path) -> None:
    """The text gives the reason why a queue has no owner."""
    world = World(queues={"orders": 2})
    world.topics.tick(1)
    world.join("c1")
    world.join("c2")
    world.pass_seconds(4)
    world.topics.rule(GROUP, "designated", {"only": ["c7"]}, by="alice")
    world.pass_seconds(4)
    folder = recorded(world, tmp_path / "nobody").folder
    text, _ = _run("explain", GROUP, "--queue", "1", "--dump", folder)
    assert "owner    nobody" in text
    assert "because  no designated client subscribes to its topic" in text
    assert "waits    at offset 7: c2 stopped (t.releases/" in text
    assert "  why c2 lost it\n    decision " in text
    assert "alice set the rule designated" in text
    assert "the engine told c2 to stop" in text
    assert "  before: c2 from " in text
    (story,) = _told("explain", GROUP, "--queue", "1", "--dump", folder)
    lost = story["loss"]
    assert (lost["from"], lost["released_offset"]) == ("c2", 7)
    assert [each["status"] for each in lost["taken_by"]["cause"]] == ["verified"]
    assert story["owner_since_ms"] is None
    assert lost["ended_ms"] > lost["dropped_ms"]
    rows = _told("moves", GROUP, "--dump", folder, "--since", "5s")
    assert [(row["kind"], row["to"], row["chief_cause"].get("by")) for row in rows] == [
        ("given_up", None, "alice"),
        ("given_up", None, "alice"),
    ]
    text, _ = _run("moves", GROUP, "--dump", folder, "--since", "1s")
    assert text.startswith("orders: no queue moved since 2026-")


def test_an_owner_that_is_dead(tmp_path: Path) -> None:
    """The text says since when a silent owner is silent, and when the engine takes its queues."""
    world = World(queues={"orders": 2})
    world.topics.tick(1)
    world.join("c1")
    world.pass_seconds(6)
    world.clients[0].gone = True
    world.pass_seconds(7)
    folder = recorded(world, tmp_path / "lease").folder
    (story,) = _told("explain", GROUP, "--queue", "1", "--dump", folder)
    assert (story["owner"], story["silence"]) == ("c1", None)
    world.pass_seconds(2)
    folder = recorded(world, tmp_path / "silent").folder
    text, _ = _run("explain", GROUP, "--queue", "1", "--dump", folder)
    assert "owner    c1 (held)" in text
    assert "  silent   for 12 s: its last heartbeat was appended at " in text
    assert "an engine takes its queues 13 s after that (lease and margin)" in " ".join(text.split())
    world.pass_seconds(6)
    folder = recorded(world, tmp_path / "dead").folder
    text, _ = _run("explain", GROUP, "--queue", "1", "--dump", folder)
    assert "owner    nobody" in text
    assert "  why c1 lost it\n    decision " in text
    assert "c1 was taken for dead" in text
    assert "waits " not in text


def test_resets_of_many_queues_are_one_headline(tmp_path: Path) -> None:
    """What one person orders of many queues is one headline; a queue's story has its own."""
    world = World(queues={"orders": 6})
    world.topics.tick(1)
    world.join("c1")
    world.pass_seconds(4)
    for number in range(6):
        key = orjson.dumps([GROUP, "reset", "orders", "main", number])
        order = {"kind": "reset", "group": GROUP, "queue": ["orders", "main", number]}
        world.topics.append("control", shard_of(GROUP), key, {**order, "offset": 3, "by": "bob"})
    world.pass_seconds(4)
    folder = recorded(world, tmp_path / "resets").folder
    text, _ = _run("moves", GROUP, "--dump", folder)
    assert "Z  bob reset 6 queues: 6 queues (epoch " in text
    text, _ = _run("explain", GROUP, "--queue", "4", "--dump", folder)
    assert text.count("bob reset") == 1
    assert "      bob reset orders/main/4\n        verified: t.control/0@4" in text
    assert "      and 5 of other queues; -o json has them all" in text
    (story,) = _told("explain", GROUP, "--queue", "4", "--dump", folder)
    causes = story["owners"][0]["given_by"]["cause"]
    assert [each["kind"] for each in causes] == ["reset"] * 6


def test_beyond_what_is_kept(life: World, tmp_path: Path) -> None:
    """Where decisions of the asked time are gone, the command says from when on it has any."""
    rows = timed_rows(life)
    rows["decisions", 0] = rows["decisions", 0][4:]
    folder = recorded(life, tmp_path / "kept", rows).folder
    words = ["moves", GROUP, "--dump", str(folder), "--since"]
    ended = CliRunner().invoke(app, [*words, "1h"], catch_exceptions=False)
    assert "decisions before 2026-06-09 10:13:48Z are not kept any more" in ended.stderr
    ended = CliRunner().invoke(app, [*words, "5s"], catch_exceptions=False)
    assert ended.stderr == ""


def test_a_topic_that_is_deleted(tmp_path: Path) -> None:
    """Queues that go with their topic are gone, with the record that deleted it as the cause."""
    world = World(queues={"orders": 2})
    world.topics.tick(1)
    world.join("c1")
    world.pass_seconds(4)
    world.topics.route("orders", None)
    world.pass_seconds(4)
    folder = recorded(world, tmp_path / "deleted").folder
    text, _ = _run("moves", GROUP, "--dump", folder)
    assert "queues of orders gone: 2 queues" in text
    assert "c1 → nobody" in text


def test_a_queue_that_never_had_an_owner_has_a_reason(tmp_path: Path) -> None:
    """Of a queue that was never granted the command says why nobody has it."""
    world = World(queues={"orders": 2})
    world.topics.tick(1)
    world.topics.rule(GROUP, "pause", value=True, by="alice")
    world.join("c1")
    world.pass_seconds(4)
    folder = recorded(world, tmp_path / "paused").folder
    text, error = _run("explain", GROUP, "--queue", "orders/main/1", "--dump", folder)
    assert error is None
    assert "because  the group is paused: no queue moves until it is resumed" in text
    (story,) = _told("explain", GROUP, "--queue", "1", "--dump", folder)
    assert (story["owner"], story["loss"], story["owners"]) == (None, None, [])

    world = World(queues={})
    world.topics.tick(1)
    world.join("c1")
    world.pass_seconds(4)
    folder = recorded(world, tmp_path / "unrouted").folder
    _, error = _run("explain", GROUP, "--queue", "orders/main/1", "--dump", folder)
    assert isinstance(error, UsageError)
    assert "no such queue, and no bridge has told the route of orders" in error.message


def test_a_release_that_no_engine_has_read(tmp_path: Path) -> None:
    """Who released a queue without an engine lost it, and the release says where it waits."""
    world = World(queues={"orders": 2})
    world.topics.tick(1)
    world.join("c1")
    world.join("c2")
    world.pass_seconds(6)
    world.clients[0].leave()
    folder = recorded(world, tmp_path / "left").folder
    (story,) = _told("explain", GROUP, "--queue", "0", "--dump", folder)
    assert (story["owner"], story["state"]) == (None, "unassigned")
    lost = story["loss"]
    assert (lost["from"], lost["taken_by"], lost["ended"]) == ("c1", None, None)
    assert lost["released_offset"] == story["position"][1]
    text, _ = _run("explain", GROUP, "--queue", "0", "--dump", folder)
    assert "no decision that was read took it" in text
    assert "owner    nobody" in text


def test_decisions_that_moved_nothing_are_not_counted(tmp_path: Path) -> None:
    """The last line of `moves` counts the decisions that gave a queue to another client."""
    world = World(queues={"orders": 2})
    world.topics.tick(1)
    world.join("c1")
    world.pass_seconds(4)
    key = orjson.dumps([GROUP, "reset", "orders", "main", 0])
    order = {"kind": "reset", "group": GROUP, "queue": ["orders", "main", 0]}
    world.topics.append("control", shard_of(GROUP), key, {**order, "offset": 3, "by": "bob"})
    world.pass_seconds(4)
    folder = recorded(world, tmp_path / "reset").folder
    text, _ = _run("moves", GROUP, "--dump", folder)
    assert "orders: 2 queues moved by 1 decision since" in text
    assert "1 taken again by the same client" in " ".join(text.split())
    text, _ = _run("moves", GROUP, "--dump", folder, "--since", "4s")
    assert "orders: no queue moved to another client since" in text
