"""What a run of the demo leaves behind."""

import io
from pathlib import Path

import pytest
from fairlead_proof.demo.run import _evidence
from fairlead_proof.demo.screen import Screen
from rich.console import Console


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("negative", [False, True])
def test_a_negative_verdict_keeps_the_evidence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, told: bool, negative: bool
) -> None:
    """It is kept if somebody said so beforehand, or if it turned out to be needed, and told."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = io.StringIO()
    with _evidence(Screen(Console(file=said)), keep=told) as evidence:
        (evidence.folder / "engine.log").write_text("why", encoding="utf-8")
        evidence.keep |= negative
    kept = [path.name for path in tmp_path.rglob("engine.log")]
    assert kept == (["engine.log"] if told or negative else [])
    assert (str(evidence.folder) in said.getvalue()) is bool(kept)
