"""The gate before a listener: its rules hold, and whoever drops one is caught."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.mutants.mutant import Edit, patched
from tools.rocketmq_java import SOURCES, RocketMQJava, built_rocketmq_java

pytestmark = pytest.mark.java

_GATE = "main/java/io/fairlead/rocketmq/gate/QueueGate.java"
_CHECKS = "test/java/io/fairlead/rocketmq/GateChecks.java"
RULES = re.findall(r"void (rule\w+)\(", (SOURCES / _CHECKS).read_text(encoding="utf-8"))
MUTANTS = {
    "release before in-flight is 0": (
        (Edit(_GATE, "closed && inside == 0 && !hasGap()", "closed"),),
        "ruleAReleaseWaitsForWhoIsInside",
    ),
    "gate without its lock": (
        (
            Edit(_GATE, "public synchronized boolean enter(", "public boolean enter("),
            Edit(_GATE, "public synchronized void close()", "public void close()"),
        ),
        "ruleWhoIsRefusedFindsTheQueueDropped",
    ),
    "no own book": (
        (Edit(_GATE, "      book.finish(finished);", "      if (!closed) book.finish(finished);"),),
        "ruleWhatEndsAfterTheDropIsFinished",
    ),
    "gaps stay": (
        (Edit(_GATE, "inside == 0 && !hasGap()", "inside == 0"),),
        "ruleWhatAClosingGateLeftOutIsProcessedBeforeARelease",
    ),
    "drop without gate": (
        (Edit(_GATE, "      closed = true;\n", ""),),
        "ruleAClosedGateLetsNobodyIn",
    ),
}


def outcomes(built: RocketMQJava) -> Mapping[str, str]:
    """Run all rules; return what became of each."""
    done = subprocess.run(
        built.command("GateChecks"), capture_output=True, text=True, check=True, timeout=60
    )
    lines = (line.partition(" ") for line in done.stdout.splitlines())
    return {name: outcome for name, _, outcome in lines}


@pytest.fixture(scope="module")
def found() -> Mapping[str, str]:
    """What became of each rule in the source as it is."""
    return outcomes(built_rocketmq_java())


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_of_the_gate_holds(found: Mapping[str, str], rule: str) -> None:
    """Each rule holds in the source as it is."""
    assert found[rule] == "holds"


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_gate_without_a_rule_is_caught(tmp_path: Path, name: str) -> None:
    """Whoever drops a rule of the gate breaks the check that tells it."""
    edits, rule = MUTANTS[name]
    sources = tmp_path / "src"
    shutil.copytree(SOURCES, sources)
    for path, text in patched(sources, edits).items():
        path.write_text(text, encoding="utf-8")
    broken = outcomes(built_rocketmq_java(sources=sources, build=tmp_path / "build"))
    assert broken[rule].startswith("broken")
