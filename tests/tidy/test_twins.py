"""Code that stands in the engine and in the client, which import nothing of each other."""

import ast

from tests.tidy.source_tree import ROOT

TWINS = (
    ("fairlead/kafka/connection_fault.py", "client/fairlead_client/transport/connection_fault.py"),
    ("fairlead/kafka/silent_brokers.py", "client/fairlead_client/transport/silent_brokers.py"),
    ("fairlead/kafka/principal.py", "client/fairlead_client/transport/principal.py"),
)


def test_twins_are_the_same_but_for_their_first_words() -> None:
    """What is changed in one of two twins is changed in the other."""
    for engine, client in TWINS:
        assert _code(engine) == _code(client), f"{engine} and {client} have drifted apart"


def _code(path: str) -> str:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{path} says nothing of itself"
    return ast.dump(ast.Module(tree.body[1:], []))
