"""The script of a roll-out and of the way back: a group goes over to Fairlead and returns.

The group begins under RocketMQ's own rebalance. Its consumers are replaced one by one by such that
are attached and stand by; then the engine takes the group over. A rule gives it back, and plain
consumers replace the others, one by one again.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from fairlead_proof.demo.script import StepError
from fairlead_proof.demo_rocketmq.script import PATIENCE_SECONDS, RocketMQScript

__all__ = ["OUR_STEPS", "ROLL_OUT_STEPS", "STILL_STEPS", "RollOutScript"]

ROLL_OUT_STEPS: Final = (
    *("start", "attach", "take_over", "join", "leave", "give_back", "let_go", "detach"),
)
"""The steps of the script."""
STILL_STEPS: Final = frozenset({"take_over", "let_go"})
"""Steps in which nothing may move."""
OUR_STEPS: Final = frozenset({"take_over", "join", "leave", "give_back"})
"""Steps in which Fairlead vouches for one owner, from the take-over on."""


class RollOutScript(RocketMQScript):
    """Plays it once.

    Args:
        attached: what a consumer is given that stands by.
        set_rule: writes a rule of the group.
        footing: returns the group's footing, as the engine's newest decision has it; None: none.
        **others: see RocketMQScript.
    """

    def __init__(
        self,
        *arguments: Any,
        attached: Mapping[str, str],
        set_rule: Callable[[str, object], None],
        footing: Callable[[], str | None],
        **others: Any,
    ) -> None:
        super().__init__(*arguments, **others)
        self._attached, self._set_rule, self._footing = attached, set_rule, footing
        self._lives = 0

    def acts(self) -> dict[str, Callable[[], None]]:
        """The steps in their order; each returns when it is over."""
        acts = (
            *(self.start, self.attach, self.take_over, self.join, self.leave),
            *(self.give_back, self.let_go, self.detach),
        )
        return dict(zip(ROLL_OUT_STEPS, acts, strict=True))

    def attach(self) -> None:
        """Consumers that are attached and stand by replace the plain ones, one by one."""
        self._begin("attach", "each consumer in turn leaves, and comes back attached")
        self._replace_all(self._attached)

    def take_over(self) -> None:
        """The engine takes the group over by itself.

        Until it freezes the group, RocketMQ's strategy decides, and what its last moves repeat is
        its own.
        """
        self._await_footing("freezing", "confirming", "own")
        self._begin("take_over", "all are attached: the engine takes the group over")
        self._await_footing("own")
        self._settle()

    def join(self) -> None:
        """One more joins, attached."""
        name = self._name()
        self._fleet.start(name, **self._attached)
        self._ready(name)
        self._begin("join", f"{name} joins")
        self._fleet.join(name)
        self._settle()

    def give_back(self) -> None:
        """A rule asks for the way back: the queues are handed over as RocketMQ would share them."""
        self._begin("give_back", "the rule take_over becomes never")
        self._set_rule("take_over", "never")
        self._await_footing("following")

    def let_go(self) -> None:
        """The consumers follow RocketMQ's strategy again."""
        self._begin("let_go", "the consumers follow RocketMQ's own strategy again")
        self._settle()

    def detach(self) -> None:
        """Plain consumers replace the attached ones, one by one."""
        self._begin("detach", "each consumer in turn leaves, and comes back plain")
        self._replace_all({})

    def _replace_all(self, flags: Mapping[str, str]) -> None:
        for leaver in sorted(self._fleet.members()):
            name = self._name()
            self._fleet.start(name, **flags)
            self._ready(name)
            self._leave(leaver)
            self._fleet.join(name)
            self._settle()

    def _name(self) -> str:
        """A client id that nobody has had: each process keeps a journal of its own."""
        self._lives += 1
        return f"d{self._lives}"

    def _await_footing(self, *wanted: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (seen := self._footing()) not in wanted:
            self._look_after_all()
            if time.monotonic() > deadline:
                raise StepError(
                    f"waited {PATIENCE_SECONDS:.0f} s in vain for the footing {wanted[-1]};"
                    f" the group stands as {seen}."
                )
            self._fleet.wait_until(lambda _: False, 0.2)
