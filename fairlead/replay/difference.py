"""The first place where a job and the replay of its recording differ."""

from dataclasses import dataclass

from fairlead.core.outputs import Cut
from fairlead.replay.output_log import Content, Written

__all__ = ["Difference", "difference_of"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the job and the replay differ.

    ``offset`` None: the job wrote less. ``expected`` or ``got`` None: no record there. ``cut`` is
    the replay's cut at that place, if the record belongs to one.
    """

    topic: str
    partition: int
    offset: int | None
    expected: Content | None
    got: Content | None
    cut: Cut | None = None

    def __str__(self) -> str:
        where = f"{self.topic}, partition {self.partition}, offset {self.offset}"
        if self.cut is not None:
            where += f", shard {self.cut.shard}, generation {self.cut.generation}"
            where += f", step {self.cut.step}"
        return f"{where}: expected {self.expected!r}, got {self.got!r}"


def difference_of(got: Written, expected: Content | None, cut: Cut | None = None) -> Difference:
    """Return the difference that a record is: the replay writes another one, or none."""
    content = Content(got.key, got.value)
    return Difference(got.topic, got.partition, got.offset, expected, content, cut)
