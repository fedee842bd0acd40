"""The gate, the offsets and what is refused: each rule holds, and whoever drops one is caught."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.mutants.mutant import Edit, patched
from tools.rocketmq_java import CLIENT_SETS, SOURCES, RocketMQJava, built_rocketmq_java

pytestmark = [pytest.mark.java, pytest.mark.slow]

_MAIN = "main/java/io/fairlead/rocketmq"
_GATE, _OFFSETS = f"{_MAIN}/gate/QueueGate.java", f"{_MAIN}/GrantedOffsets.java"
_STARTS, _LISTENERS = f"{_MAIN}/AskedStarts.java", f"{_MAIN}/GatedListeners.java"
_HELD, _LEAVING = f"{_MAIN}/HeldQueues.java", f"{_MAIN}/Leaving.java"
_CHECKS = sorted((SOURCES / "test/java/io/fairlead/rocketmq").glob("*Checks.java"))
RULES = {
    rule for path in _CHECKS for rule in re.findall(r"void (rule\w+)\(", path.read_text("utf-8"))
}
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
    "one-way commit": (
        (Edit(_OFFSETS, "(work.queue, position, false)", "(work.queue, position, true)"),),
        "ruleACommitAwaitsTheBroker",
    ),
    "a commit keeps messages out": (
        (Edit(_OFFSETS, "synchronized (work.commit)", "synchronized (work)"),),
        "ruleMessagesThatComeDoNotWaitForACommit",
    ),
    "a commit puts back what came meanwhile": (
        (
            Edit(_OFFSETS, "      long position = work.gate.position();\n      if", "      if"),
            Edit(
                _OFFSETS,
                "    synchronized (work.commit) {",
                "    long position = work.gate.position();\n    synchronized (work.commit) {",
            ),
        ),
        "ruleACommitThatHadToWaitPutsNothingBack",
    ),
    "a shutdown hurries nobody": (
        (Edit(_LEAVING, "hurried = !running;", "hurried = true;"),),
        "ruleAShutdownHurriesAClose",
    ),
    "an old share stays wanted": (
        (Edit(_HELD, "wanted.put(topic, new ArrayList<>(of(topic)));", ""),),
        "ruleAShareFromBeforeTheWayBackIsForgotten",
    ),
    "an old start counts": (
        (Edit(_STARTS, "asked.keySet().retainAll(queues);", ""),),
        "ruleAStartFromBeforeTheQueueWasAnothersIsForgotten",
    ),
    "only exceptions are failures": (
        (
            Edit(
                _LISTENERS,
                "Throwable error) {\n        //",
                "RuntimeException error) {\n        //",
            ),
        ),
        "ruleAnErrorKeepsNothingElseOfAClosedGateBack",
    ),
    "a reset counts as progress": (
        (Edit(_OFFSETS, "work.messages.isDropped() && !increaseOnly", "false"),),
        "ruleAResetIsNoProgress",
    ),
}


def outcomes(built: RocketMQJava) -> Mapping[str, str]:
    """Run all rules; return what became of each."""
    done = subprocess.run(
        built.command("Rules"), capture_output=True, text=True, check=True, timeout=100
    )
    lines = (line.partition(" ") for line in done.stdout.splitlines())
    return {name: outcome for name, _, outcome in lines}


@pytest.mark.parametrize("client", CLIENT_SETS)
def test_each_rule_holds(client: str) -> None:
    """Each rule holds in the source as it is, with each of RocketMQ's clients."""
    found = outcomes(built_rocketmq_java(CLIENT_SETS[client]))
    assert found == dict.fromkeys(RULES, "holds")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_source_without_a_rule_is_caught(tmp_path: Path, name: str) -> None:
    """Whoever drops a rule breaks the check that tells it."""
    edits, rule = MUTANTS[name]
    sources = tmp_path / "src"
    shutil.copytree(SOURCES, sources)
    for path, text in patched(sources, edits).items():
        path.write_text(text, encoding="utf-8")
    broken = outcomes(built_rocketmq_java(sources=sources, build=tmp_path / "build"))
    assert broken[rule].startswith("broken")
