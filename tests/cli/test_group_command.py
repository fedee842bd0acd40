"""`fairlead group` on a real broker without an engine: what it checks, writes and shows."""

from pathlib import Path

import orjson
import pytest

from fairlead.cli.main import main
from fairlead.core.records import RuleSet
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import raw_record
from strategies.registry import STRATEGIES
from strategies.sticky.strategy import Sticky
from tests.kit.command import Command
from tests.kit.kafka_log import SHARDS, Log
from tests.kit.wire_records import example

Capture = pytest.CaptureFixture[str]

MEANT = ("--new-group", "--absent-ok")
"""No client is in these groups, and nobody knows them."""


class Mine(Sticky):
    """A strategy of the user's own."""

    name = "MINE"


@pytest.fixture
def command(settings: Settings, capsys: Capture) -> Command:
    """The command of the test."""
    return Command("group", settings, capsys)


def _rules(log: Log) -> list[RuleSet]:
    """Return what stands in the control topic, read as the engine reads it."""
    found = []
    for record in log.records("control"):
        rule = decode("control", raw_record(record), WireLimits(SHARDS))
        assert isinstance(rule, RuleSet)
        found.append(rule)
    return found


def test_without_an_engine_the_rule_stands_in_the_log(command: Command, log: Log) -> None:
    """Without an engine the rule stands in the log, and the command says that nobody answered."""
    (row,) = command(
        *("set", "orders", *MEANT, "--strategy", "STICKY", "--options", '{"damping": 0.2}'),
        *("--because", "zones", "--by", "alice", "--wait", "1"),
        code=ExitCode.ENVIRONMENT,
    )
    assert (row["answer"], row["led_to"]) == ("unanswered", [])
    assert "strategy: no answer within 1 s; the rule stands in the log all the same" in command.text
    assert "No engine runs" in command.text
    value = {"name": "STICKY", "options": {"damping": "0.2"}}
    assert _rules(log) == [RuleSet("orders", "strategy", (), value, "alice", "zones")]
    (place,) = row["places"]
    record = log.records("control")[0]
    assert place == [record.topic, record.partition, record.offset]


@pytest.mark.parametrize(
    "arguments",
    [
        ["set", "order", "--slots", "group"],
        ["set", "order", "--drain", "c1", "--absent-ok"],
        ["drain", "order", "c1"],
        ["drain", "order", "c1", "--until-empty", "5"],
        ["pause", "order"],
    ],
    ids=lambda words: " ".join(words[:1] + words[2:]),
)
def test_unknown_groups_are_refused(command: Command, log: Log, arguments: list[str]) -> None:
    """A typing error makes no group: the command refuses it and names the nearest groups."""
    command("set", "orders", *MEANT, "--slots", "group", "--wait", "0", code=ExitCode.ENVIRONMENT)
    written = len(log.records("control"))
    assert command(*arguments, code=ExitCode.USAGE) == []
    assert "there is no group order at" in command.text
    assert "The nearest is orders" in command.text
    assert "--new-group" in command.text
    assert len(log.records("control")) == written


@pytest.mark.parametrize(
    "arguments",
    [
        ["drain", "orders", "c1"],
        ["set", "orders", "--drain", "c1"],
        ["set", "orders", "--pin", "orders/main/3=c1"],
        ["set", "orders", "--ban", "orders/main/3=c1"],
        ["set", "orders", "--capacity", "c1=2"],
    ],
    ids=" ".join,
)
def test_absent_clients_must_be_meant(command: Command, log: Log, arguments: list[str]) -> None:
    """A rule of a client that is not in the group is refused unless it is said to be meant."""
    known = [*MEANT, "--lease-ms", "20000", "--wait", "0"]
    command("set", "orders", *known, code=ExitCode.ENVIRONMENT)
    written = len(log.records("control"))
    assert command(*arguments, code=ExitCode.USAGE) == []
    assert "c1: is not in the group orders, and nothing is written" in command.text
    assert "The group has no members now" in command.text
    assert "--absent-ok" in command.text
    assert len(log.records("control")) == written
    (row,) = command(*arguments, "--absent-ok", "--dry-run")
    assert row["answer"] == "not_written"


def test_a_dry_run_writes_nothing(command: Command, log: Log) -> None:
    """A dry run shows what would be written, and writes nothing."""
    rows = command(
        *(
            "set",
            "orders",
            *MEANT,
            "--strategy",
            "STICKY",
            "--pin",
            "orders/main/3=c1",
            "--dry-run",
        ),
        *("--lease-ms", "20000", "--slots", "group", "--weigh-by", "rate", "--only", "10.0.0.0/8"),
    )
    assert {row["answer"] for row in rows} == {"not_written"}
    assert [row["rule"] for row in rows] == [
        *("strategy", "timing", "slots", "weighing", "designated", "pin"),
    ]
    assert rows[-1]["for"] == "orders/main/3"
    assert log.records("control") == []


REFUSED = [
    (["--strategy", "STICKIER"], [*STRATEGIES, "there is no strategy 'STICKIER'"]),
    (["--strategy", "STICKY", "--options", '{"dumping": 1}'], ["dumping: unknown"]),
    (["--strategy", "STICKY", "--options", '{"current": {}}'], ["current: unknown"]),
    (["--options", '{"virtual_nodes": 1}'], ["virtual_nodes: no such option"]),
    (["--lease-ms", "5"], ["timing: lease_ms", "1000"]),
    (["--margin-ms", "1000"], ["group.orders.margin_ms: 1000 is shorter than two ticks"]),
    (["--slots", "everybody"], ["slots: ", "subscribers, group"]),
    (["--weigh-by", "size"], ["weighing: by: ", "count, rate, lag"]),
    (["--only", "10.0.0.300"], ["designated: only[0]: '10.0.0.300' is no address"]),
    (["--pin", "../main/3=c1"], ["pin of ../main/3", "no queue or client"]),
    (["--pin", "orders/main/3=c 1"], ["pin of orders/main/3: client_id"]),
    (["--weight", "orders/main/3=-1"], ["weight of orders/main/3: weight", "digits as text"]),
    (["--capacity", "c1=0"], ["capacity of c1: capacity", "drain a client"]),
    (["--drain", "c 1"], ["drain of c 1", "no queue or client"]),
    (["--slots", "group", "--because", "two\nlines"], ["slots: because"]),
    ([], ["nothing to do"]),
]


def test_the_flag_is_named(command: Command, log: Log) -> None:
    """What the engine would refuse is refused by its flag, before anything is written."""
    for flags, said in REFUSED:
        drain = ["--drain", "c9"] if flags else []
        rows = command("set", "orders", *MEANT, *drain, *flags, code=ExitCode.USAGE)
        assert not flags or rows == []
        for words in said:
            assert words in command.text, flags
    assert log.records("control") == []


def test_a_change_in_part_keeps_the_rest(command: Command, log: Log) -> None:
    """Another time keeps those that were set; what is in force already is not written again."""
    without_wait = ("--wait", "0", "--by", "alice")
    command(
        "set", "orders", *MEANT, "--lease-ms", "20000", *without_wait, code=ExitCode.ENVIRONMENT
    )
    rows = command(
        *("set", "orders", *MEANT, "--margin-ms", "5000", "--slots", "subscribers", *without_wait),
        code=ExitCode.ENVIRONMENT,
    )
    assert rows[0]["value"] == {"lease_ms": 20_000, "margin_ms": 5_000}
    written = len(log.records("control"))
    (row,) = command("set", "orders", *MEANT, "--margin-ms", "5000", *without_wait)
    assert (row["answer"], row["places"]) == ("unchanged", [])
    assert len(log.records("control")) == written


def test_each_rule_is_shown_with_its_origin_until_unset(command: Command, log: Log) -> None:
    """Each rule is shown with where it is from, who set it and why, until it is unset."""
    wait = ("--wait", "0")
    everybody = RuleSet("*", "timing", (), {"lease_ms": 30_000, "trigger_ms": 9_000}, "conf")
    for partition in range(SHARDS):
        log.append("control", _value(everybody), b'["*","timing"]', partition)
    command(
        *("set", "orders", *MEANT, "--lease-ms", "20000"),
        *("--pin", "orders/main/3=c1", "--by", "alice"),
        *("--because", "its cache is warm", *wait),
        code=ExitCode.ENVIRONMENT,
    )
    rows = command("show", "orders")
    assert [(row["rule"], row["origin"], row.get("by"), row["says"]) for row in rows] == [
        ("strategy", "default", None, "AVG"),
        ("slots", "default", None, "subscribers"),
        ("mode", "default", None, "cooperative"),
        ("on_mute", "default", None, "wait"),
        ("react", "default", None, "on_change"),
        ("start_policy", "default", None, "fairlead"),
        ("retry_topics", "default", None, "on_failure"),
        ("take_over", "default", None, "all_attached"),
        ("timing", "rule", "alice", "lease_ms=20000"),
        ("timing", "setting", "conf", "trigger_ms=9000"),
        (
            *("timing", "default", None),
            (
                "margin_ms=3000 drain_deadline_ms=30000 pull_max_idle_ms=120000 restart_grace_ms=0 "
                "settle_ms=0"
            ),
        ),
        ("weighing", "default", None, "by=count over_ms=60000 change_percent=50"),
        (
            *("quota", "default", None),
            "members=1000 topics=100 queues=20000 records_per_second=1000 state_bytes=8000000",
        ),
        ("pin", "rule", "alice", "c1"),
    ]
    assert (rows[-1]["for"], rows[-1]["because"]) == ("orders/main/3", "its cache is warm")
    assert rows[-1]["append_ms"] > 1_700_000_000_000
    assert "pin: AVG does not use this rule" in command.text
    command("unset", "orders", "--pin", "orders/main/3", *wait, code=ExitCode.ENVIRONMENT)
    (row,) = command("unset", "orders", "--pin", "orders/main/3", *wait)
    assert row["answer"] == "unchanged"
    command("unset", "orders", "--all", "--by", "bob", *wait, code=ExitCode.ENVIRONMENT)
    own = [rule for rule in _rules(log) if rule.group == "orders"]
    assert own[-1] == RuleSet("orders", "timing", (), None, "bob")
    log.append_of("heartbeats", "orders", example("heartbeat") | {"group": "orders"})
    assert [row["origin"] for row in command("show", "orders")] == [
        *("default",) * 8,
        *("setting", "default", "default", "default"),
    ]


def test_words_write_their_rules_once_and_take_them_back(command: Command, log: Log) -> None:
    """The words write the rules that they stand for, each once, and take them back."""
    said = ("--by", "alice", "--wait", "0")
    command(
        "pause",
        "orders",
        "--new-group",
        "--because",
        "rebuilding",
        *said,
        code=ExitCode.ENVIRONMENT,
    )
    command("drain", "orders", *MEANT, "c1", "c2", "c1", *said, code=ExitCode.ENVIRONMENT)
    rows = command("show", "orders")
    assert [(row["rule"], row["for"], row["says"]) for row in rows if row["origin"] == "rule"] == [
        ("pause", None, "paused"),
        ("drain", "c1", "drained"),
        ("drain", "c2", "drained"),
    ]
    assert rows[0]["because"] == "rebuilding"
    assert [row["answer"] for row in command("pause", "orders", "--new-group", *said)] == [
        "unchanged"
    ]
    command("undrain", "orders", "c1", *said, code=ExitCode.ENVIRONMENT)
    command("resume", "orders", *said, code=ExitCode.ENVIRONMENT)
    rows = command("show", "orders")
    assert [(row["rule"], row["for"]) for row in rows if row["origin"] == "rule"] == [
        ("drain", "c2")
    ]
    assert [(rule.rule, rule.subject, rule.value) for rule in _rules(log)] == [
        ("pause", (), True),
        ("drain", ("c1",), {"client_id": "c1"}),
        ("drain", ("c2",), {"client_id": "c2"}),
        ("drain", ("c1",), None),
        ("pause", (), None),
    ]


def test_pause_of_all_groups(command: Command, log: Log) -> None:
    """A group cannot be resumed out of the pause of all groups, which is said with the way out."""
    command("pause", "*", "--wait", "0", code=ExitCode.ENVIRONMENT)
    assert len(log.records("control")) == SHARDS
    strategy = ("--strategy", "AVG", "--wait", "0")
    command("set", "orders", *MEANT, *strategy, code=ExitCode.ENVIRONMENT)
    (row,) = command("resume", "orders", "--wait", "0")
    assert row["answer"] == "unchanged"
    assert "this one stays so until: fairlead group resume" in command.text
    command("drain", "*", "c1", code=ExitCode.USAGE)


def test_times_of_restarts(command: Command) -> None:
    """A restart grace and a window are times like the others; out of bounds they are refused."""
    flags = ("--restart-grace-ms", "60000", "--settle-ms", "0")
    (row,) = command("set", "orders", *MEANT, *flags, "--dry-run")
    assert row["value"] == {"restart_grace_ms": 60_000, "settle_ms": 0}
    command("set", "orders", *MEANT, "--settle-ms", "600001", code=ExitCode.USAGE)
    assert "timing: settle_ms" in command.text
    command("set", "orders", *MEANT, "--restart-grace-ms", "-1", code=ExitCode.USAGE)


def _value(rule: RuleSet) -> bytes:
    body = {"v": 1, "kind": "rule", "group": rule.group, "rule": rule.rule}
    return orjson.dumps(body | {"value": rule.value, "by": rule.by})


def test_refused_record_is_shown(command: Command, log: Log) -> None:
    """The command shows a refused record beside what is in force, once until it is mended."""
    bad = RuleSet("*", "strategy", (), {"name": "STICKIER"}, "carol")
    log.append("control", _value(bad), b'["*","strategy"]', 0)
    rows = command("show", "*")
    assert rows[0]["says"] == "AVG"
    assert "strategy by carol at 20" in command.text
    assert "is refused (there is no strategy 'STICKIER')" in command.text


def test_a_rule_of_all_groups_goes_to_every_partition(command: Command, log: Log) -> None:
    """A rule of all groups goes to every partition; conf/ has it too, which is said."""
    command("set", "*", "--slots", "group", "--wait", "1", code=ExitCode.ENVIRONMENT)
    assert sorted(record.partition for record in log.records("control")) == list(range(SHARDS))
    assert "conf/ has slots in [group_defaults]" in command.text
    strategy = ("--strategy", "AVG", "--wait", "0")
    command("set", "payments", *MEANT, *strategy, code=ExitCode.ENVIRONMENT)
    rows = command("show", "payments")
    (slots,) = (row for row in rows if row["rule"] == "slots")
    assert (slots["group"], slots["origin"], slots["says"]) == ("*", "rule", "group")
    command("set", "*", "--drain", "c1", code=ExitCode.USAGE)
    assert "drain of c1: it is for one group" in command.text


def test_conf_of_the_group(command: Command, tmp_path: Path) -> None:
    """A rule that conf/ has for this very group is said to come back at the next start."""
    given = tmp_path / "conf.toml"
    given.write_text('[group.orders]\nslots = "subscribers"\n')
    flags = ("--slots", "group", "--drain", "c1", "--config", str(given), "--dry-run")
    command("set", "orders", *MEANT, *flags)
    assert "conf/ has slots in [group.orders]: the next start of the engine" in command.text
    command("set", "payments", *MEANT, *flags)
    assert "conf/" not in command.text


def test_a_strategy_of_ones_own_is_known_by_conf(command: Command, tmp_path: Path) -> None:
    """A strategy of one's own is known by conf/, as the engine knows it."""
    given = tmp_path / "conf.toml"
    given.write_text(f'[engine]\nstrategies = ["{__name__}:Mine"]\n')
    command("set", "orders", *MEANT, "--strategy", "MINE", "--dry-run", code=ExitCode.USAGE)
    (row,) = command(
        "set", "orders", *MEANT, "--strategy", "MINE", "--config", str(given), "--dry-run"
    )
    assert row["says"] == "MINE"


def test_a_table_names_rule_and_outcome(settings: Settings, log: Log, capsys: Capture) -> None:
    """A table names the rule, whom it is for, what it says and what came of it."""
    assert log.records("control") == []
    place = ["--bootstrap", settings.kafka.bootstrap, "--topic-prefix"]
    place.append(settings.kafka.topic_prefix)
    with pytest.raises(SystemExit):
        main(["group", "set", "orders", *MEANT, "--ban", "orders/main/3=c1", "--dry-run", *place])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if "ban" in line] == [
        ["ban", "orders/main/3", "c1", "not_written", "-", "-"]
    ]


def test_a_missing_control_topic_is_named(settings: Settings, capsys: Capture) -> None:
    """Another prefix is another Fairlead: its control topic is missing, which is named."""
    place = ["--bootstrap", settings.kafka.bootstrap, "--topic-prefix", "nowhere."]
    with pytest.raises(SystemExit) as end:
        main(["group", "show", "orders", *place])
    assert end.value.code == ExitCode.ENVIRONMENT
    told = capsys.readouterr().err
    assert "nowhere.control" in told
    assert "missing" in told


def test_live_problems_are_listed(command: Command, log: Log, settings: Settings) -> None:
    """What is wrong with a live group is listed, and the exit code says that something is."""
    command("check", "nobody", code=ExitCode.USAGE)
    assert "there is no group nobody" in command.text
    beat = example("heartbeat") | {"group": "orders"}
    beat["subscriptions"] = [{**beat["subscriptions"][0], "topic": "never-made"}]
    log.append_of("heartbeats", "orders", beat)
    log.append_of("heartbeats", "orders", beat | {"client_id": "c2", "ordered": True})
    said = command("check", "orders", code=ExitCode.VERDICT_NEGATIVE)
    assert (said["group"], said["verdict"], said["members"]) == ("orders", "problems", 2)
    assert said["engine"]["silent"] is True
    assert all(row["remedy"] for row in said["problem_list"])
    found = {(row["problem"], row["for"]): row["says"] for row in said["problem_list"]}
    says = f"topic never-made does not exist on cluster {settings.kafka.bootstrap}"
    assert found["unassigned", "never-made"] == says
    assert found["disagreement", None] == f"ordered: false: {beat['client_id']}; true: c2"
    assert "no engine has ever run" in found["engine_silent", None]
    command("set", "bills", *MEANT, "--slots", "group", "--wait", "0", code=ExitCode.ENVIRONMENT)
    every = command("check", "--all", code=ExitCode.VERDICT_NEGATIVE)
    assert every["verdict"] == "problems"
    verdicts = {each["group"]: each["verdict"] for each in every["verdict_list"]}
    assert verdicts == {"bills": "nobody", "orders": "problems"}
