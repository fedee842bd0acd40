"""How a group stands as a person reads it: whole ids, three sets side by side, and why."""

import pytest

from fairlead.cli.render.group import group_rows, state_lines
from fairlead.cli.render.member import member_row, shown_member_columns
from fairlead.cli.render.output import OutputFormat, write_fitting, write_pairs
from fairlead.cli.render.queue import QUEUE_COLUMNS, queue_row
from fairlead.durations import duration_words
from tests.kit.live_group import rule, set_rules
from tests.kit.observations import standing_of, stubborn
from tests.kit.world import World, world_of

LONG = "10.0.0.7@4121#" + "1" * 60
WIDE = 1_000


def _handing_over() -> World:
    world = world_of("c1", "c2", LONG, queues=6)
    stubborn(world, "c1")
    world.join("c0")
    world.pass_seconds(2)
    return world


def _table(text: str) -> list[list[str]]:
    """Return the rows of a table: cells stand apart by at least two spaces."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and "─" not in line]
    return [[cell for cell in line.split("   ") if cell.strip()] for line in lines]


def test_queues_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """Each queue has who holds it, who gives it up, who waits, where it goes, and its lag."""
    found = standing_of(_handing_over())
    write_fitting(
        (queue_row(found, each, found.now_ms) for each in found.queues),
        QUEUE_COLUMNS,
        OutputFormat.TABLE,
        width=WIDE,
    )
    head, *rows = _table(capsys.readouterr().out)
    assert [cell.strip() for cell in head] == list(QUEUE_COLUMNS)
    by_queue = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}
    on_its_way = [row for row in by_queue.values() if row[1] == "c1"]
    assert len(on_its_way) == 2
    held, draining, gated, target, waits_for = on_its_way[0][:5]
    assert (held, draining, waits_for) == ("-", "c1", "c1")
    assert gated == target
    assert len(by_queue) == 6
    assert any(LONG in row for row in by_queue.values())


def test_nothing_is_left_out_on_a_narrow_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the table does not fit, each row is a block that has every value, ids whole."""
    found = standing_of(_handing_over())
    write_fitting(
        (queue_row(found, each, found.now_ms) for each in found.queues),
        QUEUE_COLUMNS,
        OutputFormat.TABLE,
        width=60,
    )
    text = capsys.readouterr().out
    assert "orders/main/0\n    " in text
    assert "draining c1," in text
    assert LONG in text
    assert all(len(line) <= 60 for line in text.splitlines() if LONG not in line)


def test_each_member_has_its_id_lease_and_queues(capsys: pytest.CaptureFixture[str]) -> None:
    """Each member has its whole id, its lease, and what it has."""
    world = world_of("c1", "c2", queues=1)
    found = standing_of(world)
    rows = [member_row(each, found.now_ms) for each in found.members]
    assert [row["client"] for row in rows] == ["c1", "c2"]
    assert [row["held"] for row in rows] == [1, 0]
    assert rows[1]["why"] == "2 members share 1 queue: there is none left"
    columns = shown_member_columns(rows)
    assert {"client", "held", "role", "why"} <= set(columns)
    assert not {"zone", "capacity", "draining", "gated", "incarnation"} & set(columns)
    write_fitting(rows, columns, OutputFormat.TABLE, prose=("why",), width=WIDE)
    assert "there is none left" in capsys.readouterr().out


def test_two_lives_of_a_client() -> None:
    """Where a client has two lives their incarnations are shown, and whole: no two are the same."""
    world = world_of("c1", "c2", queues=6)
    world.join("c1", life=2)
    found = standing_of(world)
    rows = [member_row(each, found.now_ms) for each in found.members]
    assert [row["client"] for row in rows] == ["c1", "c1", "c2"]
    lives = {client.incarnation for client in world.clients}
    assert {row["incarnation"] for row in rows} == lives
    assert "incarnation" in shown_member_columns(rows)


def test_the_state_says_phase_counts_and_newest_decision(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The state says phase, counts, who has not followed, the newest decision, and own rules."""
    world = _handing_over()
    set_rules(world, rule("timing", {"settle_ms": 5_000, "lease_ms": 10_000}))
    world.pass_seconds(1)
    found = standing_of(world)
    write_pairs(state_lines(found), width=WIDE)
    lines = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    said = {word: text.strip() for word, text in lines.items()}
    assert said["group"] == "orders"
    assert said["phase"].startswith("handing_over for ")
    assert said["members"] == "4, 0 idle"
    assert "2 draining, 2 gated" in said["queues"]
    assert "2 moving to another member" in said["converged"]
    assert said["engine"].startswith("ticks, last ")
    assert "rules_changed timing by test" in said["decision"]
    assert said["rule timing"] == "settle_ms=5000 (rule, test)"


def test_a_wait_that_may_be_longer_says_so_everywhere() -> None:
    """Where a message may have waited longer than is known, list, state and queue say so with >."""
    world = world_of("c1", queues={"orders": 1})
    (client,) = world.clients
    ((queue, (epoch, _)),) = client.held.items()
    told = {"queue": [*queue], "epoch": epoch, "position": [0, 5], "end": 100}
    sender = {"group": "orders", "client_id": "c1", "incarnation": client.incarnation}
    world.topics.append_of("heartbeats", "orders", {"kind": "progress", **sender, "queues": [told]})
    world.pass_seconds(3)
    found = standing_of(world)
    (listed,) = group_rows([found.summary.to_json()], found.now_ms)
    (shown,) = [queue_row(found, each, found.now_ms) for each in found.queues]
    assert listed["waiting"] == shown["waiting"] == "> 10 s"
    said = dict(state_lines(found))
    assert said["lag"].endswith("messages, the oldest waits > 10 s")


def test_state_on_a_narrow_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Long texts go on below their beginning."""
    write_pairs([("phase", "word " * 30), ("x", "")], width=50)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("phase  word")
    assert lines[1].startswith("       word")
    assert max(map(len, lines)) <= 50


@pytest.mark.parametrize(
    "milliseconds, words",
    [
        (0, "0 ms"),
        (840, "840 ms"),
        (-2_000, "-2.0 s"),
        (59_999, "59 s"),
        (60_000, "1 min"),
        (95_000, "1 min 35 s"),
        (3_600_000, "1 h"),
        (93_900_000, "1 d 2 h"),
    ],
)
def test_a_span_is_written_in_its_two_greatest_units(milliseconds: int, words: str) -> None:
    """A span has its two greatest units."""
    assert duration_words(milliseconds) == words


def test_one_is_singular_and_several_are_plural() -> None:
    """One topic is no topics, and one queue no queues; of several it says several."""
    said = dict(state_lines(standing_of(world_of("c1", queues=1))))
    assert said["queues"].startswith("1 of 1 topic, 1 shared")
    assert said["decision"].endswith("; 1 queue moved")
    said = dict(state_lines(standing_of(world_of("c1", queues=4))))
    assert said["queues"].startswith("4 of 1 topic, 4 shared")
    assert said["decision"].endswith("; 4 queues moved")
