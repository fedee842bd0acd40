"""The rows of the dashboard of one group: how it is, what happened, who is behind, its queues."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from tools.dashboards import conditions
from tools.dashboards.conditions import (
    BLUE,
    GREEN,
    NOBODY_TELLS,
    ORANGE,
    PURPLE,
    RED,
    counted,
)
from tools.dashboards.grid import Row
from tools.dashboards.panel import (
    Face,
    PanelSize,
    Question,
    Word,
    bars,
    lines,
    note,
    points,
    tile,
    timeline,
)
from tools.dashboards.promql import (
    UNKNOWN,
    firing,
    most,
    of_clients,
    of_groups,
    of_the_group,
    or_unknown,
    or_zero,
)
from tools.dashboards.rows.rebalances import MISHAPS
from tools.dashboards.table import Column, table

_TILE: Final = PanelSize(3, 4)
_HALF: Final = PanelSize(12)
_WIDE: Final = PanelSize(24, 4)

PHASES: Final = (
    ("stable", GREEN),
    ("handing_over", BLUE),
    ("settling", BLUE),
    ("waiting_for_route", ORANGE),
    ("waiting_for_offsets", ORANGE),
    ("waiting_for_clients", ORANGE),
    ("taking_over", BLUE),
    ("giving_back", BLUE),
    ("standby", ORANGE),
    ("paused", ORANGE),
    ("barrier", ORANGE),
    ("recovering", ORANGE),
    ("quarantined", RED),
    ("empty", PURPLE),
    ("unknown", PURPLE),
)
"""What docs/protocol.md §3.14 calls where a group stands, and the colour of each."""

_PHASE_WORDS: Final = tuple(
    Word(number, colour, word) for number, (word, colour) in enumerate(PHASES)
)


def _phase_number() -> str:
    """Return which word the phase is, as a number: a panel shows numbers as words, not labels."""
    numbered = [
        f"{number} * {of_the_group('fairlead_group_phase', phase=word)}"
        for number, (word, _) in enumerate(PHASES)
    ]
    return " or ".join(numbered)


def how_it_is() -> Row:
    """Return the first row: the state now, and what to ask next."""
    return Row("How is it?", [*_tiles(), _ask(), _what_it_is(), _alarms()])


def _tiles() -> list[Panel]:
    phase = Face(
        "Phase",
        "Where the group stands, in the words of the protocol.",
        "none",
        words=(NOBODY_TELLS, *_PHASE_WORDS),
    )
    two_owners = Face(
        "Two owners",
        "Queues that two clients may be reading now, and overlaps seen in the last 5 minutes.",
        "suffix:queues",
        words=(NOBODY_TELLS, Word(0, GREEN, "none"), Word(1, RED)),
    )
    no_owner = Face(
        "No owner",
        "Queues that nobody reads although the group has members.",
        "suffix:queues",
        words=(NOBODY_TELLS, Word(0, GREEN, "none"), Word(1, ORANGE)),
    )
    converged = Face(
        "Converged",
        "Whether every member holds exactly its assignment, and nothing is on its way.",
        "none",
        words=(NOBODY_TELLS, Word(0, BLUE, "MOVING"), Word(1, GREEN, "yes")),
    )
    members = Face(
        "Members",
        "Live members.",
        "suffix:members",
        words=(NOBODY_TELLS, Word(0, ORANGE, "OFFLINE"), Word(1, GREEN)),
    )
    idle = Face(
        "Idle",
        "Live members without a queue: more members than queues, a drain, or a designation.",
        "suffix:members",
        words=(NOBODY_TELLS, Word(0, GREEN, "none"), Word(1, BLUE)),
    )
    skew = Face(
        "Skew",
        "Most queues of a member, less fewest.",
        "suffix:queues",
        words=(NOBODY_TELLS, Word(0, GREEN, "even"), Word(2, BLUE)),
    )
    lag = Face(
        "Oldest message",
        "Age of the oldest message that is not processed, over all topics.",
        "s",
        words=(Word(UNKNOWN, PURPLE, "UNKNOWN"), Word(0, GREEN), Word(300, ORANGE)),
    )
    seconds = f"{of_the_group('fairlead_group_lag_seconds')}"
    return [
        tile(phase, or_unknown(_phase_number()), _TILE),
        tile(two_owners, counted(conditions.UNSAFE), _TILE),
        tile(no_owner, counted(conditions.OWNERLESS), _TILE),
        tile(converged, or_unknown(f"{of_the_group('fairlead_group_converged')}"), _TILE),
        tile(members, or_unknown(f"{of_the_group('fairlead_group_members')}"), _TILE),
        tile(idle, or_unknown(f"{of_the_group('fairlead_group_members_idle')}"), _TILE),
        tile(skew, or_unknown(f"{of_the_group('fairlead_group_assignment_skew')}"), _TILE),
        tile(lag, or_unknown(seconds), _TILE),
    ]


def _ask() -> Panel:
    commands = (
        ("is it safe now", "fairlead group check $group"),
        ("who holds what", "fairlead group describe $group --queues"),
        ("what moved, and why", "fairlead moves $group --since 1h"),
        ("it, live", "fairlead watch $group"),
    )
    lines_of_text = [f"| {what} | `{command}` |" for what, command in commands]
    markdown = "\n".join(("| ask | with |", "|---|---|", *lines_of_text))
    return note("Ask further", "Commands that say what no number does.", markdown, PanelSize(8, 6))


def _what_it_is() -> Panel:
    face = Face(
        "What it is",
        "The strategy and modes in force; `fairlead group show GROUP` says who set them, and why.",
        "none",
        no_value="no such group",
    )
    info = of_groups("fairlead_group_info", "strategy", "mode", "message_model")
    columns = [
        Column("Strategy", f"{info}", label="strategy"),
        Column("Mode", label="mode"),
        Column("Model", label="message_model"),
        Column("Group", label="group"),
    ]
    return table(face, columns, PanelSize(7, 6))


def _alarms() -> Panel:
    face = Face(
        "Alarms and alerts",
        "Alarms in the group's last decision, and alerts about it that fired, over time.",
        "none",
        no_value="no alarm and no alert in this time",
        words=(Word(1, ORANGE, "on"),),
    )
    alarms = of_groups("fairlead_group_alarm", "alarm")
    disagree = of_groups("fairlead_subscription_mismatch")
    questions = [
        Question(f"{alarms} > 0", "{{alarm}}"),
        Question(f"{disagree} > 0", "members subscribe differently"),
        Question(f"{firing('alertname', match='$group')}", "alert {{alertname}}"),
    ]
    return timeline(face, questions, PanelSize(9, 6))


def what_happened() -> Row:
    """Return the second row: phases, members, decisions and moves over time."""
    return Row(
        "What happened?", [_phase(), _members(), _on_their_way(), _why(), _moves(), _mishaps()]
    )


def _phase() -> Panel:
    face = Face(
        "Phase over time",
        "Where the group stood; each mark is a decision. A phase other than stable for more than"
        " seconds has its reason in `fairlead group describe`.",
        "none",
        no_value="not known in this time",
        words=_PHASE_WORDS,
    )
    return timeline(face, [Question(_phase_number(), "phase")], _WIDE)


def _members() -> Panel:
    face = Face("Members", "Live members, and those of them without a queue.", "none")
    questions = [
        Question(f"{of_the_group('fairlead_group_members')}", "live"),
        Question(f"{of_the_group('fairlead_group_members_idle')}", "without a queue"),
    ]
    return lines(face, questions, _HALF)


def _on_their_way() -> Panel:
    face = Face(
        "Queues on their way",
        "draining: given up, not released yet. gated: granted, and waiting for that release."
        " Of all queues, those without owner.",
        "none",
    )
    moving = of_groups("fairlead_group_queues_in_handover", "state")
    free = of_groups("fairlead_group_queues_unassigned", "topic")
    questions = [
        Question(f"sum by (state) ({moving})", "{{state}}"),
        Question(f"sum({free})", "no owner"),
    ]
    return lines(face, questions, _HALF)


def _why() -> Panel:
    face = Face(
        "Decisions by trigger",
        "Decisions in each step of time, once for each of their triggers.",
        "none",
        no_value="no decision in this time",
    )
    decided = of_groups("fairlead_rebalances_total", "trigger").grown()
    return bars(face, [Question(f"sum by (trigger) ({decided})", "{{trigger}}")], _HALF)


def _moves() -> Panel:
    face = Face(
        "Queues moved, by trigger",
        "Queues whose owner changed in each step of time, and the fewest moves for an even share.",
        "none",
    )
    moved = of_groups("fairlead_queue_moves_total", "trigger").grown()
    least = of_groups("fairlead_queue_moves_minimum_total", "trigger").grown()
    questions = [
        Question(f"sum by (trigger) ({moved})", "{{trigger}}"),
        Question(or_zero(f"sum({least})"), "least possible"),
    ]
    return points(face, questions, _HALF)


def _mishaps() -> Panel:
    face = Face(
        "What went wrong",
        "What should not happen, in each step of time; and queues that started without a known"
        " position, by what said where.",
        "none",
    )
    fallbacks = of_groups("fairlead_offset_fallbacks_total", "why").grown()
    questions = [
        Question(or_zero(f"sum({of_groups(metric).grown()})"), legend) for metric, legend in MISHAPS
    ]
    started = Question(f"sum by (why) ({fallbacks})", "started at {{why}}")
    return bars(face, [*questions, started], PanelSize(24))


def how_far() -> Row:
    """Return the third row: lag by topic, and what the applications say."""
    return Row("How far is it?", [_lag("messages"), _lag("seconds"), _polls(), _owned()])


def _lag(unit: str) -> Panel:
    """Return the lag by topic."""
    face = {
        "messages": Face("Lag in messages", "By topic: messages not processed yet.", "short"),
        "seconds": Face(
            "Lag in time",
            "By topic: age of the oldest message that is not processed.",
            "s",
            words=(Word(0, GREEN), Word(300, ORANGE)),
        ),
    }[unit]
    lag = of_groups(f"fairlead_group_lag_{unit}", "topic")
    return lines(face, [Question(f"{lag}", "{{topic}}")], _HALF)


def _polls() -> Panel:
    face = Face(
        "Messages asked for",
        "Per second, by process, as the applications say.",
        "cps",
        no_value="no application exports its client's metrics",
    )
    polls = of_clients("fairlead_client_polls_total").rate()
    return lines(face, [Question(f"sum by (instance) ({polls})", "{{instance}}")], _HALF)


def _owned() -> Panel:
    face = Face(
        "Queues worked on",
        "By process, as the applications say.",
        "none",
        no_value="no application exports its client's metrics",
    )
    owned = of_clients("fairlead_client_owned_queues")
    return lines(face, [Question(f"sum by (instance) ({owned})", "{{instance}}")], _HALF)


def single_queues() -> Row:
    """Return the fourth row: there for groups that serve.queue_series names."""
    return Row("Its queues (groups that serve.queue_series names)", [_queues(), _queue_lag()])


_QUEUE: Final = ("topic", "broker_name", "queue_id")
_NOT_NAMED: Final = "serve.queue_series does not name this group"


def _queues() -> Panel:
    face = Face(
        "Queues",
        "Each queue: how long its owner has had it, and how far behind it is.",
        "none",
        no_value=_NOT_NAMED,
    )
    since = of_groups("fairlead_queue_owner_since_timestamp_seconds", *_QUEUE)
    columns = [
        Column("Topic", label="topic"),
        Column("Broker", label="broker_name"),
        Column("Queue", label="queue_id", width=80),
        Column("Owned for", f"time() - {since}", unit="s", width=120),
        Column(
            "Lag", f"{of_groups('fairlead_queue_lag_messages', *_QUEUE)}", unit="short", width=100
        ),
        Column(
            "Lag in time",
            f"{of_groups('fairlead_queue_lag_seconds', *_QUEUE)}",
            unit="s",
            width=100,
        ),
    ]
    return table(face, columns, _HALF, sort_by=["Lag in time", "Lag"])


def _queue_lag() -> Panel:
    face = Face(
        "Lag of the ten queues farthest behind",
        "Messages not processed, of the queues that have most of them at the end of the time.",
        "short",
        no_value=_NOT_NAMED,
    )
    lag = of_groups("fairlead_queue_lag_messages", *_QUEUE)
    question = Question(most(10, lag.at), "{{topic}}/{{broker_name}}/{{queue_id}}")
    return lines(face, [question], _HALF)
