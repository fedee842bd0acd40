"""What is wrong with a group as it stands is found, with what to do; what takes its time is not."""

import re
import zlib
from dataclasses import replace

import orjson
import pytest

from fairlead.cli.group.check import folded_findings
from fairlead.cli.render.queue import queue_row
from fairlead.core.model import MessageQueue
from fairlead.observed.findings import standing_findings
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.verdict import check_group
from fairlead.wire.bodies import summary_body
from tests.kit.client import Client
from tests.kit.live_group import GROUP, claimed, heard_alone, remarks, rule, set_rules
from tests.kit.observations import (
    deafened,
    found_in,
    listed_in,
    standing_of,
    started_again,
    stubborn,
)
from tests.kit.observed_world import view_of
from tests.kit.world import World, world_of


def _problems(world: World) -> list[tuple[str, str | None]]:
    return [(each.problem, each.subject) for each in found_in(world)]


def _decided(found: GroupStanding, **changes: object) -> GroupStanding:
    observed = found.live.observed
    newest = observed.decided.newest
    assert newest is not None
    body = newest.body() | changes
    observed.decided.newest = replace(
        newest,
        phase=body["state"]["phase"],
        alarms=tuple(body["alarms"]),
        packed=zlib.compress(orjson.dumps(body)),
    )
    observed.changed()
    return found


def test_nothing_is_wrong() -> None:
    """A group at rest and one in a handover that is young have no findings."""
    world = world_of("c1", "c2", queues=6)
    assert found_in(world) == []
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(5)
    assert found_in(world) == []


def test_a_stalled_handover_and_a_mute_member() -> None:
    """A holder that is over its deadline is named with who waits; a lease later it is mute."""
    world = world_of("c1", "c2", queues=6)
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(35)
    (found,) = found_in(world)
    assert (found.problem, found.subject) == ("stalled_handover", "c1")
    words = r"the engine told it 3\d s ago to give up orders/main/2, and it has not; c2 waits. Its"
    assert re.match(words, found.text)
    assert "fairlead group set orders --on-mute force" in found.remedy
    world.pass_seconds(12)
    assert _problems(world) == [("mute_member", "c1")]


def test_a_holder_that_is_gone() -> None:
    """Of a holder that does not heartbeat, waiting is all that is to be done, with an engine."""
    world = world_of("c1", "c2", queues=6)
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(34)
    heard_alone(world, 14, *world.clients[1:])
    stalled = [each for each in found_in(world) if each.problem == "stalled_handover"]
    assert [each.subject for each in stalled] == ["c1"]
    assert stalled[0].remedy.startswith("wait: the engine takes its queues")
    heard_alone(world, 8, *world.clients[1:], ticking=False)
    (stalled_now,) = [each for each in found_in(world) if each.problem == "stalled_handover"]
    assert stalled_now.remedy.startswith("start an engine first")


def test_an_engine_that_is_silent() -> None:
    """Members heartbeat and no engine ticks: that is wrong although every queue has its owner."""
    world = world_of("c1", "c2", queues=6)
    claimed(world)
    heard_alone(world, 8, *world.clients, ticking=False)
    (found,) = found_in(world)
    assert (found.problem, found.subject) == ("engine_silent", None)
    assert (
        found.text == "no engine has ticked for 8.1 s: owners keep working, but nothing is decided"
    )
    heard_alone(world, 300, *world.clients, ticking=False)
    assert "no engine has ticked for 5 min 8 s: " in found_in(world)[0].text
    heard_alone(world, 400, *world.clients, ticking=False)
    assert "no engine has ticked for more than 10 min: " in found_in(world)[0].text
    assert "fairlead run" in found.remedy


def test_no_engine_has_ever_run() -> None:
    """Before the first generation the engine has no time: check, list and plan say so."""
    world = World(queues={"orders": 4})
    world.clients = [Client(world.topics, GROUP, "c1")]
    heard_alone(world, 700, *world.clients, ticking=False)
    says = "no engine has ever run"
    (engine,) = [each for each in found_in(world) if each.problem == "engine_silent"]
    assert engine.text.startswith(f"{says}: ")
    (listed,) = view_of(world).groups()
    assert (listed.engine.words(), listed.engine.silent_ms) == (says, None)
    assert remarks(world)[0].startswith(f"{says}; ")
    claimed(world)
    assert found_in(world)[0].text.startswith("no engine has ticked for more than 10 min")
    (listed,) = view_of(world).groups()
    assert listed.engine.words().startswith("no engine has ticked for more than ")


def test_paused_with_queues_of_nobody() -> None:
    """In a paused group the queues of who left are named, with the command that ends the pause."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("pause", value=True))
    world.pass_seconds(2)
    world.clients[0].leave()
    world.pass_seconds(3)
    found = found_in(world)
    assert {each.problem for each in found} == {"paused_unassigned"}
    assert len(found) == 3
    assert found[0].remedy == "fairlead group resume orders"


def test_queues_of_a_drained_group() -> None:
    """Where all are drained, each queue of nobody says whom to undrain."""
    world = world_of("c1", queues=6)
    set_rules(world, rule("drain", {"client_id": "c1"}))
    world.pass_seconds(5)
    found = found_in(world)
    assert {(each.problem, each.remedy) for each in found} == {
        ("unassigned", "undrain one of the members that subscribe to its topic")
    }


def test_queues_taken_from_a_mute_member() -> None:
    """Under on_mute force the queue has its new owner, and is unsafe until it is released."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("on_mute", "force"))
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(50)
    found = found_in(world)
    assert ("unsafe", "orders/main/2") in [(each.problem, each.subject) for each in found]
    assert "c2 was granted it without waiting for c1" in [each.text for each in found]


@pytest.mark.parametrize(
    "rules, seconds, problem, helps",
    [
        ({"on_mute": "wait"}, 35, "stalled_handover", "fairlead group set orders --on-mute force"),
        ({"on_mute": "wait"}, 50, "mute_member", "fairlead group set orders --on-mute force"),
        ({"on_mute": "force"}, 35, "stalled_handover", "wait: on_mute force takes its queues a"),
        ({"on_mute": "force"}, 50, "mute_member", "its queues go on without it"),
        (
            {"timing": {"drain_deadline_ms": "never"}},
            50,
            "stalled_handover",
            "with drain_deadline_ms never, no rule takes its queues",
        ),
    ],
)
def test_a_remedy_is_no_rule_that_is_in_force(
    rules: dict[str, object], seconds: int, problem: str, helps: str
) -> None:
    """What helps with a member that gives nothing up depends on the rules that are in force."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, *(rule(name, value) for name, value in rules.items()))
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(seconds)
    (remedy,) = [each.remedy for each in found_in(world) if each.problem == problem]
    assert helps in remedy
    assert "restart it" in remedy
    assert ("--on-mute" in remedy) == (rules == {"on_mute": "wait"})


def test_queues_that_are_kept_for_a_client_that_is_gone() -> None:
    """A queue that a restart grace keeps says for whom and how long, in check and in describe."""
    world = world_of("c1", "c2", queues={"orders": 4})
    set_rules(world, rule("timing", {"restart_grace_ms": 120_000}))
    world.pass_seconds(2)
    gone = world.clients.pop(0)
    world.pass_seconds(40)
    found = standing_of(world)
    (first, second) = found_in(world)
    assert first.text == second.text
    assert re.fullmatch(
        r"it is kept for c1, which is gone, for another 1 min \d+ s \(restart_grace_ms\)",
        first.text,
    )
    assert first.remedy.startswith("start c1 again;")
    assert first.remedy.endswith("fairlead group set orders --restart-grace-ms 0")
    remarks_of = {each.queue: queue_row(found, each, 0)["remark"] for each in found.queues}
    kept = {MessageQueue(*queue) for queue in gone.held}
    assert {queue for queue, remark in remarks_of.items() if remark} == kept
    assert {remarks_of[queue] for queue in kept} == {"kept for c1 (restart_grace_ms)"}


def test_nobody_takes_queues_from_who_wants_messages_in_order() -> None:
    """Whoever wants its messages in order keeps its queues: the remedy names no rule against it."""
    world = world_of("c1", "c2", queues=6)
    for client in world.clients:
        client.ordered = True
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(50)
    (remedy,) = [each.remedy for each in found_in(world) if each.subject == "c1"]
    assert remedy.endswith("no rule takes queues from a client that wants its messages in order")


@pytest.mark.parametrize("phase", ["recovering", "quarantined", "barrier"])
def test_phases_in_which_nothing_is_decided(phase: str) -> None:
    """A group that is recovering or in quarantine says so, and one whose barrier does not end."""
    world = world_of("c1", queues=6)
    found = standing_of(world)
    assert found.newest is not None
    found = _decided(found, state=summary_body(replace(found.newest.state, phase=phase)))
    for since_ms, expected in ((60_000, [phase]), (1_000, [] if phase == "barrier" else [phase])):
        found.live.observed.decided.phase_since_ms = found.now_ms - since_ms
        findings = standing_findings(found)
        assert [each.problem for each in findings] == expected


def test_a_member_that_reads_nothing() -> None:
    """A member that heartbeats and reads no assignment for longer than a lease is named."""
    world = world_of("c1", "c2", queues=6)
    deafened(world, "c1")
    world.join("c3")
    world.pass_seconds(16)
    assert ("not_followed", "c1") in _problems(world)


def test_a_topic_that_cannot_be_allocated() -> None:
    """A topic that keeps what it has is named with the reason of the strategy."""
    world = world_of("c1", queues=6)
    failures = [{"topic": "orders", "message": "two owners", "code": "bad_result"}]
    found = _decided(standing_of(world), failures=failures, alarms=["allocation_failed"])
    (finding,) = standing_findings(found)
    assert (finding.problem, finding.subject) == ("allocation_failed", "orders")
    assert "two owners" in finding.text


def test_a_topic_without_a_route() -> None:
    """A topic that no bridge tells is named itself."""
    world = world_of("c1", queues=6)
    (client,) = world.clients
    client.subscribed = (*client.subscribed, "unheard")
    client.beat()
    assert ("unassigned", "unheard") in _problems(world)


def test_a_retry_topic_that_nothing_has_failed_for() -> None:
    """The first failed message makes the group's own retry topic: no finding misses it before."""
    world = world_of("c1", "c2", queues={"orders": 4})
    one, two = world.clients
    one.subscribed = two.subscribed = ("orders", "%RETRY%orders")
    world.pass_seconds(4)
    world.join("c3").subscribed = ("orders", "%RETRY%orders")
    two.subscribed = ("orders",)
    world.pass_seconds(8)
    verdict = check_group(standing_of(world))
    assert (verdict.word, verdict.notes) == ("safe", ())
    assert standing_of(world).to_json()["unrouted"] == []
    assert not any("route" in remark for remark in remarks(world))
    assert listed_in(world)[GROUP] == ()


def test_who_has_nothing_waits_for_no_retry_topic() -> None:
    """A member without a queue hears that there is none left, not that a route is unknown."""
    world = world_of("c1", queues={"orders": 1})
    world.join("c2", subscribed=("orders", "%RETRY%orders"))
    world.pass_seconds(8)
    (idle,) = [each for each in standing_of(world).members if each.role == "idle"]
    assert idle.why.endswith("there is none left")


def test_a_retry_topic_that_is_made_on_subscription() -> None:
    """Where a rule has it made beforehand, it is missed like any other topic."""
    world = world_of("c1", queues={"orders": 4})
    set_rules(world, rule("retry_topics", "on_subscription"))
    world.clients[0].subscribed = ("orders", "%RETRY%orders")
    world.pass_seconds(4)
    assert ("unassigned", "%RETRY%orders") in _problems(world)
    assert "unassigned" in listed_in(world)[GROUP]
    assert any("%RETRY%orders is unknown" in remark for remark in remarks(world))


def test_queues_that_are_held_have_somebody() -> None:
    """Its owner still holds what nobody may own by a rule that no engine has read."""
    world = world_of("c1", "c2", queues=6)
    world.generation += 1
    for client_id in ("c1", "c2"):
        set_rules(world, rule("drain", {"client_id": client_id}))
    assert found_in(world) == []


def test_a_silent_member_whose_queues_nobody_takes() -> None:
    """An engine that ticks and does not take the queues of who is gone is found by that."""
    world = world_of("c1", "c2", queues=6)
    silent, *others = world.clients
    heard_alone(world, 16, *others)
    assert "silent_member" not in [problem for problem, _ in _problems(world)]
    heard_alone(world, 10, *others)
    (found,) = [each for each in found_in(world) if each.problem == "silent_member"]
    assert found.subject == silent.client_id
    assert re.fullmatch(r"it has sent no heartbeat for 2\d.* s, and still has 3 queues", found.text)
    heard_alone(world, 8, *others, ticking=False)
    assert "silent_member" not in [problem for problem, _ in _problems(world)]


def test_a_member_that_no_engine_answers() -> None:
    """A member that joins and gets no answer shows that an engine ticks but decides nothing."""
    world = world_of("c1", queues=6)
    held, joining = world.clients[0], world.join("c2")
    heard_alone(world, 10, held, joining)
    verdict = check_group(standing_of(world))
    assert verdict.word == "safe"
    assert "c2 has just joined and has no assignment yet" in verdict.notes
    heard_alone(world, 65, held, joining)
    (found,) = found_in(world)
    assert (found.problem, found.subject) == ("unanswered", "c2")
    assert found.text.startswith("it has heartbeat for 1 min 15 s and has no assignment")
    assert "/readyz" in found.remedy
    assert "fairlead doctor" in found.remedy
    (idle,) = (each for each in standing_of(world).members if each.role == "idle")
    assert idle.why == "it has heartbeat for 1 min 15 s and has no assignment yet"
    assert not any("c2" in note for note in check_group(standing_of(world)).notes)
    assert "c2 has heartbeat for more than 10 s and has no assignment yet" in remarks(world)
    heard_alone(world, 8, held, joining, ticking=False)
    assert _problems(world) == [("engine_silent", None)]
    world.pass_seconds(2)
    assert found_in(world) == []


def test_a_member_that_froze_has_just_come_back() -> None:
    """Who was silent for longer than its lease is counted from when it is heard again."""
    world = world_of("c1", queues=6)
    held, joining = world.clients[0], world.join("c2")
    heard_alone(world, 30, held)
    heard_alone(world, 5, held, joining)
    assert "unanswered" not in [problem for problem, _ in _problems(world)]
    assert "unanswered" not in listed_in(world)[GROUP]


def test_a_client_that_is_started_again_and_again() -> None:
    """Two processes that end each other are never seen together; their number tells, for a time."""
    world = world_of("c1", "c2", queues=6)
    for start in range(4):
        started_again(world, "c9", start, address=f"10.0.0.{start % 2}")
    (found,) = [each for each in found_in(world) if each.problem == "restarting"]
    assert found.subject == "c9"
    assert found.text.startswith(
        "it had 4 processes in the last 5 min, at 10.0.0.0, 10.0.0.1: it fails at its start, or "
    )
    world.topics.now_ms += 300_000
    world.pass_seconds(3)
    assert found_in(world) == []


def test_members_with_different_topics() -> None:
    """That members subscribe to different topics may be meant: a note says who lacks which."""
    world = world_of("c1", "c2")
    one, _ = world.clients
    one.subscribed = ("orders",)
    world.pass_seconds(4)
    verdict = check_group(standing_of(world))
    assert verdict.word == "safe"
    (note,) = [note for note in verdict.notes if "different topics" in note]
    assert note.endswith("each is shared by those that subscribe to it (payments: not c1)")


def test_a_table_says_once_what_is_said_of_many() -> None:
    """Findings that differ in their queues alone are one row; others stand by themselves."""
    world = world_of("c1", queues=6)
    set_rules(world, rule("drain", {"client_id": "c1"}))
    world.pass_seconds(5)
    found = found_in(world)
    (row,) = folded_findings(found)
    assert row["for"] == "orders/main/0, orders/main/1, orders/main/2 and 3 more"
    other = replace(found[0], text="something else")
    assert [each["for"] for each in folded_findings([*found[:2], other])] == [
        "orders/main/0, orders/main/1",
        "orders/main/0",
    ]
