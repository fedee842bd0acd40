"""Starts are measured with an archive, or not at all."""

from pathlib import Path

import pytest
from fairlead_proof.bench import starts
from fairlead_proof.bench.starts import StartPlan, measure_starts

from fairlead.errors import EnvironmentMissingError


def test_without_an_archive_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an archive nothing is started: it would be measured under the archive's name."""
    monkeypatch.setattr(starts, "ensure_jars", lambda _name: tmp_path)
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path))
    said: list[str] = []
    plan = StartPlan(tmp_path, "127.0.0.1:9", "bench-start", count=1, keep=False)
    with pytest.raises(EnvironmentMissingError, match="archive: none fits") as refused:
        measure_starts(plan, said.append)
    assert "make setup" in refused.value.remedy
    assert (said, list(tmp_path.iterdir())) == ([], [])
