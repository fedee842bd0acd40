"""What the package offers, and that it loads no more than is asked for."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import fairlead_client
import pytest

from tests.kit.awaiting import LONGEST_SECONDS

PROGRAM = """
import json, sys
import fairlead_client
before = [name for name in sys.modules if name.startswith("fairlead_client.")]
fairlead_client.Message
after = [name for name in sys.modules if name.startswith("fairlead_client.")]
print(json.dumps([before, after]))
"""


def _typed() -> dict[str, str]:
    """Return the names that type checkers see: name -> module."""
    tree = ast.parse(Path(fairlead_client.__file__).read_text("utf-8"))
    return {
        alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fairlead_client")
        for alias in node.names
    }


def test_type_checkers_and_python_find_the_same_names() -> None:
    """Each name comes from the module that type checkers take it from, and none is left out."""
    typed = _typed()
    assert sorted(typed) == sorted(fairlead_client.__all__)
    for name, module in typed.items():
        assert getattr(fairlead_client, name) is getattr(importlib.import_module(module), name)
    assert {*typed} <= {*dir(fairlead_client)}


def test_an_unknown_name_is_an_attribute_error() -> None:
    """An unknown name raises the usual AttributeError of a module."""
    with pytest.raises(AttributeError, match="no attribute 'Consumr'"):
        fairlead_client.__getattr__("Consumr")


def test_only_what_is_asked_for_is_loaded() -> None:
    """Importing the package loads no room of it; a message loads its own few modules."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    before, after = json.loads(done.stdout)
    assert before == []
    assert after == ["fairlead_client.model", "fairlead_client.message"]
