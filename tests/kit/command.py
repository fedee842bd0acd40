"""One command of the command line on the topics of a test, and what it answered."""

import json
import re
from typing import Any, Final

import pytest

from fairlead.cli.main import main
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from tests.answers.schema import assert_command

__all__ = ["Command", "document_of"]


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
        if found is None:
            return []
        assert_command([*self._words, *arguments], found)
        return found


_BEGIN: Final = re.compile(r"^[\[{]", re.MULTILINE)
"""No line of a log begins so."""


def document_of(text: str) -> Any:
    """Return the JSON document in a text; None: there is none."""
    begin = _BEGIN.search(text)
    if begin is None:
        return None
    found, _ = json.JSONDecoder().raw_decode(text, begin.start())
    return found
