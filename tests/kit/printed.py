"""What a command printed while a job in the same process wrote its log beside it."""

import json
import re
from typing import Any, Final

__all__ = ["document_of"]

_BEGIN: Final = re.compile(r"^[\[{]", re.MULTILINE)
"""No line of a log begins so."""


def document_of(text: str) -> Any:
    """Return the JSON document in a text; None: there is none."""
    begin = _BEGIN.search(text)
    if begin is None:
        return None
    found, _ = json.JSONDecoder().raw_decode(text, begin.start())
    return found
