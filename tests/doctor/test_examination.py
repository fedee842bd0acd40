"""Checks are independent: one that fails, breaks or hangs stops no other."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from kafka.errors import KafkaConnectionError

from fairlead.cli.main import main
from fairlead.doctor import CHECKS, Answer, CheckContext, Status, examine_all
from fairlead.doctor.answer import fail, ok
from fairlead.doctor.catalogue import Check, Scope
from fairlead.doctor.page import doctor_page
from fairlead.errors import ExitCode, RefusedError
from fairlead.settings import load_settings

Ask = Callable[[CheckContext], Iterator[Answer]]


def _check(name: str, scope: Scope, ask: Ask, seconds: float = 5) -> Check:
    return Check(name, scope, seconds, ask, "about", "fails")


def _says(status: Callable[[str], Answer]) -> Ask:
    def ask(_context: CheckContext) -> Iterator[Answer]:
        yield status("said")

    return ask


def _raises(error: Exception) -> Ask:
    def ask(_context: CheckContext) -> Iterator[Answer]:
        raise error
        yield ok("never")

    return ask


def _hangs(event: threading.Event) -> Ask:
    def ask(_context: CheckContext) -> Iterator[Answer]:
        event.wait(60)
        yield ok("too late")

    return ask


@pytest.fixture
def context() -> CheckContext:
    """CheckContext that nothing is asked of."""
    return CheckContext(load_settings())


def test_none_stops_another(context: CheckContext) -> None:
    """The doctor reports what raises, and what hangs, in the order of the table."""
    never = threading.Event()
    first = context.cluster
    checks = [
        _check("hangs", Scope.MACHINE, _hangs(never), 0.2),
        _check("breaks", Scope.MACHINE, _raises(ZeroDivisionError("nobody expected this"))),
        _check("refused", Scope.MACHINE, _raises(RefusedError("no", remedy="do this"))),
        _check("broker", Scope.CLUSTER, _says(ok)),
        _check("kafka", Scope.CLUSTER, _raises(KafkaConnectionError("gone"))),
        _check("slow", Scope.CLUSTER, _hangs(never), 0.2),
        _check("last", Scope.CLUSTER, _says(ok)),
    ]
    begun = time.monotonic()
    found = [
        (each.check, each.answer.status, each.answer.says) for each in examine_all(context, checks)
    ]
    never.set()
    assert time.monotonic() - begun < 5
    assert [(name, status) for name, status, _ in found] == [
        ("hangs", Status.UNKNOWN),
        ("breaks", Status.FAIL),
        ("refused", Status.FAIL),
        ("broker", Status.OK),
        ("kafka", Status.FAIL),
        ("slow", Status.UNKNOWN),
        ("last", Status.OK),
    ]
    says = {name: text for name, _, text in found}
    assert "no answer within" in says["hangs"]
    assert "nobody expected this" in says["breaks"]
    assert says["refused"] == "no"
    assert context.cluster is not first, "who hangs keeps the old connections"


@pytest.mark.parametrize("broker", ["fails", "hangs"])
def test_without_a_broker_the_machine_is_still_examined(broker: str, context: CheckContext) -> None:
    """Without a broker what needs one is not tried, and the machine is looked at all the same."""
    never = threading.Event()

    def failing(_context: CheckContext) -> Iterator[Answer]:
        yield fail("said", "mend it")

    checks = [
        _check("broker", Scope.CLUSTER, _hangs(never) if broker == "hangs" else failing, 0.2),
        _check("topics", Scope.CLUSTER, _raises(AssertionError("it was asked"))),
        _check("java", Scope.MACHINE, _says(ok)),
    ]
    found = [(each.check, each.answer.status) for each in examine_all(context, checks)]
    never.set()
    assert found == [
        ("broker", Status.FAIL),
        ("topics", Status.UNKNOWN),
        ("java", Status.OK),
    ]


def test_the_end_comes_in_time_however_many_hang(context: CheckContext) -> None:
    """However many hang, the end comes when it was promised."""
    never = threading.Event()
    checks = [_check(f"{n}", Scope.CLUSTER, _hangs(never), 5) for n in range(20)]
    begun = time.monotonic()
    found = list(examine_all(context, checks, seconds_max=0.5))
    never.set()
    assert time.monotonic() - begun < 5
    took = time.monotonic() - begun
    assert {each.answer.status for each in found} == {Status.UNKNOWN}
    assert len(found) == len(checks)
    waited = [
        float(each.answer.says.removeprefix("no answer within ").removesuffix(" s"))
        for each in found
    ]
    assert max(waited) <= took, "a row tells of more time than there was"


def test_the_page_is_what_the_table_says() -> None:
    """docs/doctor.md is what the table says."""
    page = Path(__file__).resolve().parents[2] / "docs" / "doctor.md"
    assert page.read_text(encoding="utf-8") == doctor_page(), "python -m fairlead.doctor.page"


def test_each_check_has_a_name_and_an_explanation() -> None:
    """Each check has a name of its own and is explained; the cluster's begin with the broker."""
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    assert all(check.about.endswith(".") and check.fails for check in CHECKS)
    assert next(check for check in CHECKS if check.scope is Scope.CLUSTER).name == "broker"


def test_the_checkpoint_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command looks at the folder that the engine was given, as the engine is given it."""
    alone = [each for each in CHECKS if each.name == "checkpoint"]
    monkeypatch.setattr("fairlead.doctor.examine_all", partial(examine_all, checks=alone))
    # Somebody's engine may run on this machine.
    monkeypatch.setenv("FAIRLEAD__METRICS__PORT", "0")
    folder = tmp_path / "staging"
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--checkpoint", str(folder)])
    assert ended.value.code == ExitCode.OK
    assert f"{folder} does not exist: an engine creates it" in capsys.readouterr().out


def test_the_last_lines_agree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where one check finds two failures, its name stands once, with both numbers."""

    def twice(_context: CheckContext) -> Iterator[Answer]:
        yield fail("one thing", "mend it")
        yield fail("another", "mend it")

    checks = [_check("bridge", Scope.MACHINE, twice)]
    monkeypatch.setattr("fairlead.doctor.examine_all", partial(examine_all, checks=checks))
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    written = capsys.readouterr()
    assert ended.value.code == ExitCode.VERDICT_NEGATIVE
    assert "2 FAIL" in written.out
    assert "1 check failed (2 times): bridge." in written.err
