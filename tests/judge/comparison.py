"""What two answers to one case must have in common, and how a difference is shown."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that two sides answer differently."""

    case: Mapping[str, Any]
    rocketmq: Answer
    ours: Answer

    def __str__(self) -> str:
        """Show the case and both answers in full, in ASCII, ready to be asked again."""
        return "\n".join(
            f"{title}: {json.dumps(value)}"
            for title, value in (
                ("case", self.case),
                ("RocketMQ", self.rocketmq),
                ("ours", self.ours),
            )
        )


def differences(
    cases: Iterable[Mapping[str, Any]], rocketmq: Iterable[Answer], ours: Iterable[Answer]
) -> Iterator[Difference]:
    """Yield the cases whose answers differ in id, in result or in the code of an error.

    Messages may differ: RocketMQ's are not made to be compared.
    """
    for case, theirs, own in zip(cases, rocketmq, ours, strict=True):
        if _essence(theirs) != _essence(own):
            yield Difference(case, theirs, own)


def _essence(answer: Answer) -> tuple[Any, ...]:
    if "error" in answer:
        return ("error", answer["id"], answer["error"]["code"])
    return ("result", answer["id"], answer["result"])
