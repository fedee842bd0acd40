"""Refuses rules that end a release: Fairlead's clients would read beside native consumers."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairlead.errors import RefusedError

if TYPE_CHECKING:
    from fairlead.control.rules_in_force import RulesInForce
    from fairlead.core.records import RuleSet

__all__ = ["refuse_to_end_release"]


def refuse_to_end_release(name: str, present: "RulesInForce", rules: "Iterable[RuleSet]") -> None:
    """Refuse rules that end a release: that is what `fairlead adopt` is for.

    Args:
        name: the group.
        present: its rules.
        rules: the rules to write.

    Raises:
        RefusedError: they end a release; the message names who released the group.
    """
    from fairlead.control.native_handback import ends_release

    release = ends_release(present, rules)
    if release is not None:
        raise RefusedError(
            f"{name}: {release.words()}. The rule designated keeps Fairlead's clients out: without "
            "it they continue where they were, and read again what native consumers have read "
            "since; nothing is written.",
            remedy=f"Take the group over instead: {release.way_back(name)}. To end the release all "
            "the same, give `fairlead group set` or `unset` --released-ok.",
        )
