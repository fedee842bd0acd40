"""Rules that would let Fairlead's clients read beside the native consumers of a released group."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairlead.errors import RefusedError

if TYPE_CHECKING:
    from fairlead.control.rules_in_force import RulesInForce
    from fairlead.core.records import RuleSet

__all__ = ["refuse_to_end_release"]


def refuse_to_end_release(name: str, present: "RulesInForce", rules: "Iterable[RuleSet]") -> None:
    """Refuse rules that end a release: `fairlead adopt` does, and says where to go on.

    Args:
        name: the group.
        present: its rules.
        rules: what is to be written.

    Raises:
        RefusedError: they would; the message has who released the group, and the way back.
    """
    from fairlead.control.native_handback import ends_release

    release = ends_release(present, rules)
    if release is not None:
        raise RefusedError(
            f"{name}: {release.words()}. The rule designated keeps Fairlead's clients out: without "
            "it they go on from where they were, and what native consumers have read since is "
            "read again; nothing is written.",
            remedy=f"Take the group over instead: {release.way_back(name)}. `fairlead group unset` "
            "and `set` end the release all the same with --released-ok.",
        )
