"""Types of values that several sections share, and the base class of sections."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


class Section(BaseModel):
    """A table of the settings: immutable, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Matching:
    """A text that must match a pattern; a refusal says in words what to give.

    Attributes:
        pattern: the regular expression for the whole text.
        wanted: what to give instead.
    """

    pattern: str
    wanted: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Add the check of the pattern after the check of the type."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Add the pattern to the JSON Schema."""
        return {**handler(schema), "pattern": f"^({self.pattern})$"}

    def _checked(self, text: str) -> str:
        if re.fullmatch(self.pattern, text) is None:
            raise ValueError(self.wanted)
        return text


Partitions = Annotated[int, Field(ge=1, le=1_024)]
Port = Annotated[int, Field(ge=0, le=65_535)]
Bootstrap = Annotated[
    str,
    Matching(
        r"[^\s,:/@]+:\d{1,5}(,[^\s,:/@]+:\d{1,5})*",
        "give host:port, several separated by commas; logins belong into kafka.security",
    ),
]
ServerAddress = Annotated[
    str, Matching(r"(https?://[^\s/@]+)?", "give http://host:port or https://host:port, or nothing")
]
AlertPrefix = Annotated[
    str,
    Matching(
        r"([A-Za-z_][A-Za-z0-9_]*)?", "give letters, digits and _, a letter first; or nothing"
    ),
]
FolderAddress = Annotated[
    str,
    Matching(
        r"(https?://[^\s/@]+(/\S*)?)?", "give an address such as https://host/runbooks/, or nothing"
    ),
]
HostPattern = Annotated[
    str,
    Matching(
        r"\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*",
        'give a host name without a port, such as "a.example.com" or "*.example.com", or "*"',
    ),
]
StrategyClass = Annotated[
    str, Matching(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", 'give "module:Class", such as "mine.near:Near"')
]
TopicPrefix = Annotated[
    str, Matching(r"[A-Za-z0-9._-]{0,100}", "give at most 100 letters, digits and . _ -")
]
GroupName = Annotated[
    str, Matching(r"[A-Za-z0-9_%|.-]{1,120}", "a group is 1-120 letters, digits and _ % | . -")
]
JavaHeap = Annotated[str, Matching(r"[1-9]\d*[mg]", "give a size such as 512m or 2g")]
