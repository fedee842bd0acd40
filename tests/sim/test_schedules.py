"""Lives by seed: whatever goes wrong in them, every promise is kept."""

import pytest
from fairlead_proof.sim import campaign as campaigns
from fairlead_proof.sim.campaign import Campaign, run_campaign
from fairlead_proof.sim.schedule import run_schedule

from tests.kit.hash_seeds import printed_under

MEASURED = 35
"""So many meet every target; the slow tests run thousands."""


def campaign_of(seed: int, schedules: int) -> Campaign:
    """Run schedules and count them together."""
    campaign = Campaign()
    for outcome in run_campaign(seed, schedules, 1):
        campaign.add(outcome)
    return campaign


def test_enough_goes_wrong_and_no_promise_is_broken() -> None:
    """No two owners, no hole, no needless repetition, all come to rest; each kind is met often."""
    campaign = campaign_of(1, MEASURED)
    assert [(each.seed, each.breach) for each in campaign.breaches] == []
    assert [each for each in campaign.targets() if each.measured < each.least] == []


@pytest.mark.slow
@pytest.mark.timeout(4_000)
@pytest.mark.parametrize("seed", range(100_000, 110_000, 1_000))
def test_no_promise_is_broken_in_ten_thousand_schedules(seed: int) -> None:
    """Nor in any of ten thousand."""
    campaign = campaign_of(seed, 1_000)
    assert [(each.seed, each.breach) for each in campaign.breaches] == []
    assert campaign.passed


def test_jobs_do_not_change_what_comes_of_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes come to what one comes to."""
    monkeypatch.setattr(campaigns, "CHUNK", 2)
    alone = sorted(run_campaign(700, 5, 1), key=lambda outcome: outcome.seed)
    assert sorted(run_campaign(700, 5, 2), key=lambda outcome: outcome.seed) == alone


@pytest.mark.parametrize("seed", [3, 77])
def test_a_seed_repeats_its_schedule_to_the_byte(seed: int) -> None:
    """The whole story is the same in this process and in others with other hash seeds."""
    told = "\n".join(run_schedule(seed, keep_story=True).story)
    assert told
    program = (
        "from fairlead_proof.sim.schedule import run_schedule;"
        f"print('\\n'.join(run_schedule({seed}, keep_story=True).story), end='')"
    )
    for hash_seed in ("1", "2"):
        assert printed_under(hash_seed, program).decode() == told


def test_a_story_changes_nothing() -> None:
    """A schedule comes to the same whether its story is kept or not."""
    assert run_schedule(5, keep_story=True) == run_schedule(5)
