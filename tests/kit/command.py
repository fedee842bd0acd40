"""One command of the command line on the topics of a test, and what it answered."""

from typing import Any

import pytest

from fairlead.cli.main import main
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from tests.kit.printed import document_of

__all__ = ["Command"]


class Command:
    """`fairlead` with these first words: ``offsets``, ``group`` or ``route``."""

    def __init__(self, words: str, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
        kafka = settings.kafka
        self._words = words.split()
        self._place = ["--bootstrap", kafka.bootstrap, "--topic-prefix", kafka.topic_prefix]
        self._capsys = capsys
        self.text = ""

    def __call__(self, *arguments: str, code: ExitCode = ExitCode.OK) -> Any:
        """Run it, check how it ends, and return its rows; ``text`` has what else it said."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*self._words, *arguments, "-o", "json", *self._place])
        output = self._capsys.readouterr()
        assert end.value.code == code, output.err
        self.text = output.err
        found = document_of(output.out)
        return [] if found is None else found
