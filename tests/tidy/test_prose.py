"""Where a reader reads, sentences are whole and have an actor."""

from pathlib import Path

import pytest

from tests.tidy.prose import prose_faults
from tests.tidy.source_tree import ROOT, named, text_files

ROOMS = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "README.md",
    "SECURITY.md",
    "docs/adr",
    "docs/adoption.md",
    "docs/alerts.md",
    "docs/bridges.md",
    "docs/broker.md",
    "docs/configuration.md",
    "docs/conformance.md",
    "docs/dashboards.md",
    "docs/demo.md",
    "docs/doctor.md",
    "docs/exit-codes.md",
    "docs/explorer.md",
    "docs/glossary.md",
    "docs/groups.md",
    "docs/handover.md",
    "docs/journals.md",
    "docs/logging.md",
    "docs/mutants.md",
    "docs/offsets.md",
    "docs/planning.md",
    "docs/protocol.md",
    "docs/quotas.md",
    "docs/rocketmq.md",
    "docs/running.md",
    "docs/serve.md",
    "docs/simulator.md",
    "docs/strategy-benchmark.md",
    "docs/trust.md",
    "docs/verify.md",
    "docs/why.md",
    "docs/runbooks",
    "fairlead/bridges",
    "fairlead/broker",
    "fairlead/codec",
    "fairlead/control",
    "fairlead/doctor",
    "fairlead/http",
    "fairlead/jars",
    "fairlead/kafka",
    "fairlead/logs",
    "fairlead/planning",
    "fairlead/recording",
    "fairlead/replay",
    "fairlead/settings",
    "fairlead/wire",
    "proof/fairlead_proof/conformance",
    "proof/fairlead_proof/local",
    "proof/README.md",
    "sinks",
    "strategies/README.md",
    "strategies/laws",
    "client/fairlead_client/routes",
    "client/tests",
    "tests/README.md",
    "tests/answers",
    "tests/apt_tree.py",
    "tests/archive",
    "tests/assignors",
    "tests/bench",
    "tests/bridges",
    "tests/broker",
    "tests/cli",
    "tests/codec",
    "tests/conformance",
    "tests/conftest.py",
    "tests/control",
    "tests/core",
    "tests/demo",
    "tests/doctor",
    "tests/engine",
    "tests/explorer",
    "tests/faults",
    "tests/fixtures",
    "tests/fuzz",
    "tests/handover",
    "tests/http",
    "tests/jars",
    "tests/judge",
    "tests/kit",
    "tests/local",
    "tests/logs",
    "tests/monitoring",
    "tests/mutants",
    "tests/packaging",
    "tests/pitfalls",
    "tests/planning",
    "tests/recording",
    "tests/secure",
    "tests/serve",
    "tests/settings",
    "tests/shells.py",
    "tests/sim",
    "tests/sinks",
    "tests/sources",
    "tests/strategies",
    "tests/streaming",
    "tests/tidy",
    "tests/topics",
    "tests/verify",
    "tests/wire",
)
"""What is clean by now: files and folders."""

OWN = {ROOT / "tests" / "tidy" / name for name in ("prose.py", "test_prose.py")}


@pytest.mark.parametrize(
    "text",
    [
        '"""Nobody is told of it."""',
        "# The queue, of\n# which nothing is known.",
        'HELP = "it Is told"',
        '"""A topic that was made anew."""',
        '"""One (of two."""',
        '"""What one `step returns."""',
        '"""No end"""',
        '"""A whole line.\n\nNor is this one.\n"""',
    ],
)
def test_a_fault_is_found(tmp_path: Path, text: str) -> None:
    """The search finds each fault that it is there to find."""
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    assert list(prose_faults(path))


@pytest.mark.parametrize(
    "text",
    [
        '"""The engine tells the client (once)."""',
        '"""A whole line.\n\nNormal words follow.\n"""',
        '"""Is it told?"""',
        "of, which = 1, 2",
    ],
)
def test_plain_prose_is_left_alone(tmp_path: Path, text: str) -> None:
    """The search leaves plain sentences alone."""
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    assert not list(prose_faults(path))


def test_code_of_a_page_is_left_alone(tmp_path: Path) -> None:
    """What stands in a fence of a page is no prose, and the lines after it keep their numbers."""
    path = tmp_path / "page.md"
    path.write_text("# Page\n\n```sh\nof which\n```\n\nHe is told.\n", encoding="utf-8")
    assert list(prose_faults(path)) == [(7, "is told")]


def test_the_clean_rooms_stay_clean() -> None:
    """No file of these rooms has a fault; a new room joins the list when it is clean."""
    files = [
        path
        for path in text_files()
        if path.suffix in (".py", ".md") and path not in OWN
        if any(path.is_relative_to(ROOT / room) for room in ROOMS)
    ]
    assert files
    faults = [f"{named(path)}:{line} {what}" for path in files for line, what in prose_faults(path)]
    assert faults == []
