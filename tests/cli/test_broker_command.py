"""`fairlead broker` where no broker is needed: what its flags mean together."""

import pytest

from fairlead.cli.main import main
from fairlead.errors import ExitCode


@pytest.mark.parametrize(
    "flags",
    [["--brokers", "1"], ["--port", "9092"], ["--data-dir", "kafka"], ["--foreground"]],
    ids=lambda flags: str(flags[0]),
)
def test_an_existing_cluster_is_not_started(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside --bootstrap whatever says how to start a cluster is a usage error that names it."""
    with pytest.raises(SystemExit) as end:
        main(["broker", "start", "--bootstrap", "localhost:9", *flags])
    assert end.value.code == ExitCode.USAGE
    assert f"so {flags[0]} can say nothing" in capsys.readouterr().err


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster that does not answer is named, and nothing is shown as done."""
    with pytest.raises(SystemExit) as end:
        main(["broker", "start", "--bootstrap", "127.0.0.1:9"])
    assert end.value.code == ExitCode.ENVIRONMENT
    output = capsys.readouterr()
    assert "127.0.0.1:9" in output.err
    assert output.out == ""
