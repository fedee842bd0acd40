"""Sessions under any order of records: no two owners, no hole, no stale start."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

if TYPE_CHECKING:
    from tests.model.conftest import World

pick = st.integers(min_value=0, max_value=10_000)


class HandoverMachine(RuleBasedStateMachine):
    """Every rule is one step of the world; numbers pick a member or a record."""

    make: Callable[..., "World"]
    world: "World"

    @initialize(members=st.integers(2, 3), cap=st.integers(1, 3))
    def begin(self, members: int, cap: int) -> None:
        """Make a world in which somebody is the target."""
        self.world = type(self).make(members, cap)
        self.world.aim(self.world.members[0])

    def member(self, number: int) -> Any:
        """Return a member."""
        return self.world.members[number % len(self.world.members)]

    @rule(number=pick)
    def aim(self, number: int) -> None:
        """Change the target."""
        self.world.aim(self.member(number))

    @rule(number=pick, which=pick)
    def read_any_assignment(self, number: int, which: int) -> None:
        """Read a record again, or late, or one for somebody else."""
        records = self.world.engine.records
        if records:
            self.world.read_assignment(self.member(number), records[which % len(records)])

    @rule(number=pick, back=st.integers(1, 3))
    def read_new_assignment(self, number: int, back: int) -> None:
        """Read one of the newest records."""
        for record in self.world.engine.records[-back:][:1]:
            self.world.read_assignment(self.member(number), record)

    @rule(number=pick, which=pick)
    def read_release(self, number: int, which: int) -> None:
        """Read a release, in any order."""
        if self.world.releases:
            release = self.world.releases[which % len(self.world.releases)]
            self.world.read_release(self.member(number), release)

    @rule(number=pick)
    def work(self, number: int) -> None:
        """Process a message."""
        self.world.work(self.member(number))

    @rule(number=pick)
    def stop(self, number: int) -> None:
        """Finish what is in hand."""
        self.world.stop(self.member(number))

    @rule(number=pick)
    def acknowledge(self, number: int) -> None:
        """Have writes acknowledged."""
        self.world.acknowledge(self.member(number))

    @rule(which=pick)
    def hear(self, which: int) -> None:
        """Have the engine read a release, in any order."""
        if self.world.releases:
            self.world.hear(self.world.releases[which % len(self.world.releases)])

    @rule(number=pick)
    def fence(self, number: int) -> None:
        """End a lease."""
        self.world.fence(self.member(number))

    @rule(which=pick)
    def lapse(self, which: int) -> None:
        """Have the engine notice a lease that ended."""
        dead = sorted(self.world.engine.lapsed)
        if dead:
            self.world.lapse(dead[which % len(dead)])

    @rule()
    def restart(self) -> None:
        """Start a new driver."""
        self.world.restart()

    @rule(number=pick)
    def learn_generation(self, number: int) -> None:
        """Read the newest claim."""
        self.world.learn_generation(self.member(number))
        self.world.decide()

    @rule()
    def heal(self) -> None:
        """Repeat what was said."""
        self.world.heal()

    def teardown(self) -> None:
        """Let everything be read: the target must end up working."""
        if hasattr(self, "world"):
            self.world.settle()


SETTINGS = settings(
    max_examples=300,
    stateful_step_count=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def test_the_session_breaks_no_check_of_the_machine(world: type["World"]) -> None:
    """The session as it is breaks none of the checks."""

    class Machine(HandoverMachine):
        make = world

    run_state_machine_as_test(Machine, settings=SETTINGS)
