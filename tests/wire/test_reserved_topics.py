"""The names of topics that nobody shares stand in the engine, in the client and on the page."""

import re

from fairlead_client.session.topic_names import RESERVED

from fairlead.wire.texts import RESERVED_TOPICS
from tests.tidy.source_tree import ROOT


def test_the_client_refuses_what_the_engine_refuses() -> None:
    """A name that a client lets pass would make the engine reject its heartbeats."""
    page = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `topic` |"))
    named = re.findall(r"`([^`]+)`", row.partition("reserve:")[2])
    assert set(named) == RESERVED_TOPICS == RESERVED
