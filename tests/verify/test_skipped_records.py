"""A dead letter of what an operator skipped, or an older engine did not know, accuses nobody."""

from pathlib import Path

import orjson
import pytest

from fairlead.verify.conservation import judge_conservation, read_letters
from fairlead.verify.verdicts import Verdicts
from fairlead.wire.raw import RawRecord
from tests.kit.journaled_world import Life, rich_life


@pytest.fixture(scope="module")
def life() -> Life:
    """A life in which everything happens, and nothing wrong."""
    return rich_life()


def _told(life: Life, folder: Path, reason: str, offset: int) -> str:
    """Return what is found of a letter for a row of heartbeats that is as the protocol says."""
    rows = life.rows()
    log: list[RawRecord] = next(
        log for (suffix, _), log in rows.items() if suffix == "rejects" and log
    )
    letter = orjson.loads(log[-1].value or b"") | {"reason": reason}
    letter["at"] = ["t.heartbeats", 0, offset]
    log.append(log[-1]._replace(offset=log[-1].offset + 1, value=orjson.dumps(letter)))
    recording, verdicts = life.record(folder, rows), Verdicts()
    judge_conservation(recording, (), read_letters(recording, verdicts), {}, verdicts)
    return "\n".join(finding.text for finding in verdicts.findings.get("S11", ()))


@pytest.mark.parametrize("reason", ["skipped", "unsupported_kind", "unsupported_rule"])
def test_a_skipped_record_may_be_sound(life: Life, tmp_path: Path, reason: str) -> None:
    """Its form is no reason: it may be what the protocol says."""
    assert "t.heartbeats/0@9 " not in _told(life, tmp_path / "r", reason, 9)


@pytest.mark.parametrize(
    "reason, offset, words",
    [
        (
            "not_json",
            9,
            "the engine refused t.heartbeats/0@9 for not_json, though it is well formed",
        ),
        ("skipped", 10**6, "where there is no record"),
        ("unknown_queue", -1, "where there is no record"),
    ],
    ids=["another reason", "behind the end", "before the begin"],
)
def test_a_wrong_letter_is_found_as_ever(
    life: Life, tmp_path: Path, reason: str, offset: int, words: str
) -> None:
    """A letter that cannot be right is found as ever."""
    assert words in _told(life, tmp_path / "r", reason, offset)
