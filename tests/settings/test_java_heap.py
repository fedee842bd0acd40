"""A heap that Spark would refuse is refused before Spark starts, with the key and the remedy."""

from pathlib import Path

import pytest

from fairlead.errors import ExitCode
from fairlead.settings import SettingsError, load_settings
from fairlead.settings.java_heap import heap_given, heap_mib


@pytest.mark.parametrize("text", ["1m", "64m", "449m"])
def test_a_heap_too_small_for_spark_is_refused(text: str) -> None:
    """Below 450 MiB no Spark starts: a setting is wrong, and the message says which."""
    with pytest.raises(SettingsError) as refusal:
        load_settings(overrides={"engine.java_heap": text})
    (problem,) = refusal.value.problems
    assert refusal.value.exit_code == ExitCode.USAGE
    assert problem.key == "engine.java_heap"
    assert problem.reason.startswith(f"{text} is less than the 450m")
    assert "set engine.java_heap to at least 512m" in problem.remedy


def test_the_setting_of_spark_goes_before_ours(tmp_path: Path) -> None:
    """Spark's own name of the setting is above ours: it is the one that is looked at and named."""
    path = tmp_path / "mine.toml"
    path.write_text('[engine.spark]\n"spark.driver.memory" = "400m"\n', encoding="utf-8")
    with pytest.raises(SettingsError) as refusal:
        load_settings(files=[path])
    assert [problem.key for problem in refusal.value.problems] == [
        "engine.spark.spark.driver.memory"
    ]
    path.write_text('[engine.spark]\n"spark.driver.memory" = "2g"\n', encoding="utf-8")
    engine = load_settings(files=[path], overrides={"engine.java_heap": "64m"}).engine
    assert heap_given(engine) == ("engine.spark.spark.driver.memory", "2g")


@pytest.mark.parametrize(
    "text, mib",
    [("450m", 450), ("1g", 1_024), ("1GB", 1_024), ("471859200", 450), ("2t", 2**21), ("x", None)],
)
def test_sizes_are_read_as_java_and_spark_write_them(text: str, mib: float | None) -> None:
    """Sizes are read as Java and Spark write them; what is none of these is left to Spark."""
    assert heap_mib(text) == mib


@pytest.mark.parametrize("text", ["450m", "512m", "1g"])
def test_a_heap_that_spark_accepts_is_no_error(text: str) -> None:
    """What Spark takes is no error, however small."""
    assert load_settings(overrides={"engine.java_heap": text}).engine.java_heap == text
