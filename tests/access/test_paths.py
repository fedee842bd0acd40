"""Which right a path needs: whatever looks like a path of a group needs one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.access.guard import right_for


@given(st.text(max_size=20), st.sampled_from(["", "/api"]), st.text(max_size=20))
def test_no_text_behind_groups_needs_nothing(group: str, root: str, rest: str) -> None:
    """A line feed, two slashes or nothing at all in place of a name: a right is asked for."""
    assert right_for("GET", f"{root}/v1/groups/{group}{rest}") is not None


@pytest.mark.parametrize("rest", ["/decisions\n", "/\n", "\n", "\n/decisions"])
def test_a_line_feed_needs_what_the_path_needs(rest: str) -> None:
    """Routes match a path that ends in one."""
    assert right_for("GET", f"/api/v1/groups/payroll{rest}") is not None


@pytest.mark.parametrize("path", ["/metrics", "/metrics\n", "/metrics-of-all"])
def test_metrics_name_all_groups(path: str) -> None:
    """They need the right for all, however the path ends."""
    assert right_for("GET", path) == ("observe", "*")
