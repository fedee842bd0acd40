"""The system that the trials share; one that a failed trial left in disorder is replaced."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.faults.stage import Stage


class Stages:
    """At most one stage at a time."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._stage: Stage | None = None

    def sound(self) -> "Stage":
        """Return the stage, a new one if the last trial on it failed."""
        from tests.faults.stage import Stage

        if self._stage is not None and not self._stage.sound:
            self.close()
        if self._stage is None:
            self._stage = Stage(self._folders.mktemp("stage")).__enter__()
        return self._stage

    def close(self) -> None:
        """End the stage, if there is one."""
        if self._stage is not None:
            self._stage.close()
            self._stage = None


@pytest.fixture(scope="package")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
    """The stage of the run, started by the first trial."""
    stages = Stages(tmp_path_factory)
    yield stages
    stages.close()


@pytest.fixture
def stage(stages: Stages) -> "Stage":
    """A system in order."""
    return stages.sound()
