"""What a wrong setting is answered with: the key, where it stands, and what would be right."""

import contextlib
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from fairlead.errors import ExitCode
from fairlead.settings import Problem, SettingsError, load_settings
from fairlead.settings.known_keys import ANY_GROUP, KnownKey, known_keys
from fairlead.settings.loading import examine


def _refused(text: str, folder: Path) -> dict[str, Problem]:
    """Return the problems of a file, by key."""
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refusal:
        load_settings(files=[path])
    assert {problem.source for problem in refusal.value.problems} == {str(path)}
    return {problem.key: problem for problem in refusal.value.problems}


@pytest.mark.parametrize(
    "text, key, nearest",
    [
        ('[kafka]\nbootstrp = "a:1"', "kafka.bootstrp", "kafka.bootstrap"),
        ('[kaffka]\nbootstrap = "a:1"', "kaffka", "kafka"),
        ("[kafka]\ntick_ms = 1000", "kafka.tick_ms", "engine.tick_ms"),
        (
            "[kafka.security]\nssl_hostname = true",
            "kafka.security.ssl_hostname",
            "kafka.security.ssl_check_hostname",
        ),
        ("[group_defaults]\nlease = 9000", "group_defaults.lease", "group_defaults.lease_ms"),
        ("[group.orders]\nlease = 9000", "group.orders.lease", "group.orders.lease_ms"),
        ("[kafka.security]\nsasl_password_file = 'x'", "kafka.security.sasl_password_file",
         "kafka.security.sasl_plain_password_file"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_refused_with_the_nearest(
    text: str, key: str, nearest: str, tmp_path: Path
) -> None:
    """An unknown key is refused with the nearest key that exists."""
    problems = _refused(text, tmp_path)
    assert set(problems) == {key}
    assert problems[key].reason == "unknown key"
    assert problems[key].remedy == f"the nearest known key is {nearest}"


@pytest.mark.parametrize(
    "text, key, wanted",
    [
        ('[kafka]\nbootstrap = "a b"', "kafka.bootstrap", "host:port"),
        ('[kafka]\nbootstrap = "a:1,"', "kafka.bootstrap", "host:port"),
        ('[kafka]\ntopic_prefix = "a/b"', "kafka.topic_prefix", "letters, digits"),
        ('[engine]\njava_heap = "much"', "engine.java_heap", "512m"),
        ("[topics]\nheartbeats_partitions = 0", "topics.heartbeats_partitions", "1"),
        ('[topics]\nheartbeats_partitions = "x"',
         "topics.heartbeats_partitions", "a whole number, 1 to 1,024"),
        ("[group_defaults]\ndrain_deadline_ms = -1", "group_defaults.drain_deadline_ms", "1,000"),
        ("[group_defaults]\ndrain_deadline_ms = 3600001",
         "group_defaults.drain_deadline_ms", "3,600,000"),
        ("[group_defaults]\nmargin_ms = 600001", "group_defaults.margin_ms", "600,000"),
        ("[group_defaults]\ntrigger_ms = 999", "group_defaults.trigger_ms", "1,000"),
        ("[group_defaults]\nsettle_ms = 600001", "group_defaults.settle_ms", "600,000"),
        ("[group_defaults]\nrestart_grace_ms = -1", "group_defaults.restart_grace_ms", "0"),
        ('[group.orders]\npause = "yes please"', "group.orders.pause", "true or false"),
        ("[group.orders]\ntrigger_ms = 3600001", "group.orders.trigger_ms", "3,600,000"),
        ("[topics]\nheartbeats_retention_ms = 599999", "topics.heartbeats_retention_ms", "600,000"),
        ('[group_defaults]\nmode = "fast"', "group_defaults.mode", "cooperative"),
        ('[group."a b"]\nlease_ms = 20000', "group.a b", "a group is"),
        ("[group.orders]\nlease_ms = 5", "group.orders.lease_ms", "1,000"),
        ("kafka = 3", "kafka", "[kafka] with keys below it"),
        ("[topics]\nassignments_compaction_lag_ms = 1",
         "topics.assignments_compaction_lag_ms", "600,000"),
    ],
)  # fmt: skip
def test_a_bad_value_is_named_once_with_what_fits(
    text: str, key: str, wanted: str, tmp_path: Path
) -> None:
    """A value that does not fit is named once, with what would fit."""
    problems = _refused(text, tmp_path)
    assert set(problems) == {key}
    assert "does not fit" in problems[key].reason
    assert wanted in problems[key].remedy


@pytest.mark.parametrize("known", known_keys(), ids=lambda known: known.dotted)
@pytest.mark.parametrize(
    "value",
    [
        *(-7, "\n", [[]]),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ({"a": [1]}, 0.25, date(2026, 1, 1))
        ),
    ],
    ids=str,
)
def test_every_setting_refuses_in_our_own_words(known: KnownKey, value: Any) -> None:
    """A refusal names type and bounds, and never in the words of a library."""
    key = known.dotted.replace(ANY_GROUP, "orders")
    with contextlib.suppress(SettingsError):
        load_settings(overrides={key: value})
        return
    for problem in examine(overrides={key: value}).problems:
        assert not re.search("(?i)input|instance|mapping|dictionary|valid|string", str(problem))
        own = problem.key == key and "does not fit" in problem.reason
        assert not own or problem.remedy.startswith("give ")


@pytest.mark.parametrize(
    "text, key, wanted",
    [
        ("[group_defaults]\nlease_ms = 8999", "group_defaults.lease_ms", "at least 9000"),
        ("[group.orders]\nlease_ms = 8999", "group.orders.lease_ms", "at least 9000"),
        ("[group_defaults]\nmargin_ms = 1999", "group_defaults.margin_ms", "at least 2000"),
        (
            "[engine]\ntick_ms = 1500\n[group_defaults]\ntrigger_ms = 1499",
            "group_defaults.trigger_ms",
            "at least 1500",
        ),
        (
            "[group_defaults]\npause = true\n[group.orders]\npause = false",
            "group.orders.pause",
            "in the table of each group",
        ),
        ("[kafka]\nreplication_factor = 0", "kafka.replication_factor", "-1"),
        ('[kafka.security]\nssl_certfile = "a.pem"', "kafka.security.ssl_keyfile", "ssl_keyfile"),
        ('[kafka.security]\nssl_keyfile = "a.pem"', "kafka.security.ssl_certfile", "ssl_certfile"),
    ],
)
def test_a_contradiction_is_refused_with_the_bound(
    text: str, key: str, wanted: str, tmp_path: Path
) -> None:
    """Values that are wrong beside each other are refused, with the bound."""
    problems = _refused(text, tmp_path)
    assert set(problems) == {key}
    assert wanted in problems[key].remedy


@pytest.mark.parametrize(
    "text",
    [
        "[group_defaults]\nlease_ms = 9000",
        "[group_defaults]\nmargin_ms = 2000",
        "[group_defaults]\ntrigger_ms = 1000",
    ],
)
def test_bounds_are_allowed(text: str, tmp_path: Path) -> None:
    """The bound itself is allowed."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    rules = load_settings(files=[path]).group_defaults.model_dump()
    assert rules.items() >= tomllib.loads(text)["group_defaults"].items()


def test_sasl_names_everything_it_lacks(tmp_path: Path) -> None:
    """SASL names everything that it lacks, at once."""
    problems = _refused('[kafka.security]\nsecurity_protocol = "SASL_SSL"', tmp_path)
    assert set(problems) == {
        "kafka.security.sasl_mechanism",
        "kafka.security.sasl_plain_username",
        "kafka.security.sasl_plain_password_file",
    }


def test_every_problem_at_once(tmp_path: Path) -> None:
    """One error has all problems, each with its own key."""
    problems = _refused('[kafka]\nbootstrp = "a"\n[engine]\ntick_ms = 1\n[grop]\na = 1', tmp_path)
    assert set(problems) == {"kafka.bootstrp", "engine.tick_ms", "grop"}


def test_an_unknown_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable with our prefix that sets nothing is refused, also in an unknown section."""
    monkeypatch.setenv("FAIRLEAD__KAFKA__BOOTSTRP", "a:1")
    monkeypatch.setenv("FAIRLEAD__KAFFKA__BOOTSTRAP", "a:1")
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    found = {problem.key: problem.source for problem in refusal.value.problems}
    assert found == {
        "kafka.bootstrp": "environment FAIRLEAD__KAFKA__BOOTSTRP",
        "kaffka": "environment FAIRLEAD__KAFFKA__BOOTSTRAP",
    }


def test_variable_below_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that names something inside a setting, or in a table too many, is refused."""
    monkeypatch.setenv("FAIRLEAD__KAFKA__BOOTSTRAP__HOST", "a")
    monkeypatch.setenv("FAIRLEAD__KAFKA__SECURITY__TLS__CAFILE", "a")
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    assert {problem.source for problem in refusal.value.problems} == {
        "environment FAIRLEAD__KAFKA__BOOTSTRAP__HOST",
        "environment FAIRLEAD__KAFKA__SECURITY__TLS__CAFILE",
    }


def test_a_mistake_in_a_file_has_its_line(tmp_path: Path) -> None:
    """The error for a mistake in a file has its line, also for one between two values."""
    text = '# mine\n[group."a.b"]\nmode = "eager"\nlease_ms = 8999\n[engine]\n\ntick_ms = 0\n'
    problems = _refused(text.replace("[engine]\n\ntick_ms = 0\n", ""), tmp_path)
    assert problems["group.a.b.lease_ms"].line == 4
    problem = _refused(text, tmp_path)["engine.tick_ms"]
    assert problem.place == f"{tmp_path / 'mine.toml'}:7"
    assert str(problem).startswith(f"engine.tick_ms ({tmp_path / 'mine.toml'}:7): ")


def test_names_that_spark_ignores_are_refused(tmp_path: Path) -> None:
    """What Spark would ignore among its settings is refused: Kafka's have a block of their own."""
    problems = _refused('[engine.spark]\n"kafka.security.protocol" = "SSL"', tmp_path)
    assert "[kafka]" in problems["engine.spark.kafka.security.protocol"].remedy


def test_every_source_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be read hides no mistake in another, or in the environment."""
    monkeypatch.setenv("FAIRLEAD__GROUP", "{}")
    path = tmp_path / "mine.toml"
    path.write_text("[kafka]\nbootstrp = 1", encoding="utf-8")
    with pytest.raises(SettingsError) as refusal:
        load_settings(profile="rabbit", files=[tmp_path / "none.toml", path])
    keys = [problem.key for problem in refusal.value.problems]
    assert keys == ["profile", "config", "group", "kafka.bootstrp"]


@pytest.mark.parametrize("name", ["GROUP__ORDERS__LEASE_MS", "ENGINE__SPARK__X", "GROUP"])
def test_a_table_of_free_names_is_for_files_only(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table with free, case-sensitive names cannot be set in the environment."""
    monkeypatch.setenv(f"FAIRLEAD__{name}", "{}")
    with pytest.raises(SettingsError, match=f"FAIRLEAD__{name}.*in a file"):
        load_settings()


def test_a_section_in_the_environment_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole section in the environment is JSON, or refused."""
    monkeypatch.setenv("FAIRLEAD__METRICS", '{"port": ')
    with pytest.raises(SettingsError, match=r"metrics.*as JSON"):
        load_settings()


def test_an_unknown_profile_is_refused_with_those_there_are() -> None:
    """An unknown profile is answered with those that exist."""
    with pytest.raises(SettingsError, match=r"no profile 'rabbit'; one of: rocketmq"):
        load_settings(profile="rabbit")


@pytest.mark.parametrize(
    "content, wanted",
    [
        (None, "No such file"),
        (b"a = 1\n[kafka\n", "line 2"),
        (b'a = "\xff"', "is not UTF-8"),
    ],
)
def test_an_unreadable_file_is_named_with_the_reason(
    content: bytes | None, wanted: str, tmp_path: Path
) -> None:
    """A file that is missing, no TOML or no text is named with the reason."""
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=wanted) as refusal:
        load_settings(files=[path])
    assert [problem.source for problem in refusal.value.problems] == [str(path)]


def test_an_error_has_its_lines_and_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the exit code of usage, and a line for the problem and one for the remedy."""
    monkeypatch.setenv("FAIRLEAD__KAFKA__BOOTSTRP", "a:1")
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    assert refusal.value.exit_code is ExitCode.USAGE
    assert refusal.value.lines() == [
        "the settings cannot be used",
        "  kafka.bootstrp (environment FAIRLEAD__KAFKA__BOOTSTRP): unknown key",
        "    the nearest known key is kafka.bootstrap",
    ]


@pytest.mark.parametrize(
    "text, key",
    [
        ('[kafka]\nbootstrap = "SASL_SSL://me:geheim@h:9092"', "kafka.bootstrap"),
        ('[kafka]\nbootstrap = "a:1,me:geheim@h:9092"', "kafka.bootstrap"),
        ('[kafka]\nbootstrap = "geheim@h:9092"', "kafka.bootstrap"),
        ('[serve]\nurl = "http://me:geheim@h:9465"', "serve.url"),
    ],
)
def test_a_login_in_an_address(text: str, key: str, tmp_path: Path) -> None:
    """It is refused, and not shown."""
    problem = _refused(text, tmp_path)[key]
    assert "geheim" not in str(problem)
    assert "@h:9" in problem.reason


@pytest.mark.parametrize(
    "variable, value, key, said",
    [
        ("FAIRLEAD__SERVE__QUEUE_SERIES", "orders", "serve.queue_series", """'["a", "b"]'"""),
        ("FAIRLEAD__SERVE", "{", "serve", """'{"key": 1}'"""),
    ],
)
def test_a_variable_that_is_no_json(
    variable: str, value: str, key: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable is named, with what JSON looks like."""
    monkeypatch.setenv(variable, value)
    (problem,) = examine().problems
    assert (problem.key, problem.source) == (key, f"environment {variable}")
    assert problem.reason.startswith("is no JSON: ")
    assert said in problem.remedy
