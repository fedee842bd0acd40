"""The options that both commands of `observe` share."""

import pytest

from fairlead.cli.main import main
from fairlead.errors import ExitCode


@pytest.mark.parametrize(
    "place", [("kafka", "--bootstrap", "127.0.0.1:1"), ("rocketmq", "--namesrv", "127.0.0.1:1")]
)
def test_both_commands_refuse_and_fail_alike(
    place: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A watch is no single document; a cluster that is not there ends with 3, and says where."""
    for more, code, said in (
        (("--watch", "-o", "json"), ExitCode.USAGE, "Give -o jsonl"),
        (("--interval", "0"), ExitCode.USAGE, "--interval"),
        (("--group", "g"), ExitCode.ENVIRONMENT, "127.0.0.1:1"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["observe", *place, *more])
        assert end.value.code == code
        assert said in capsys.readouterr().err
