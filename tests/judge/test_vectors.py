"""The judge and our strategies give the shares that people wrote down."""

import pytest
from fairlead_proof.conformance.answer import answer

from tests.judge.cases import Case
from tests.judge.real_classes import judged
from tests.judge.vectors import KNOWN, REFUSED, Shares


def _numbers(answered: Case) -> Shares:
    return {client: [queue[2] for queue in share] for client, share in answered["result"].items()}


@pytest.mark.java
def test_the_judge_gives_known_shares(tmp_path_factory: pytest.TempPathFactory) -> None:
    """RocketMQ's classes, asked by the judge, answer every written case as it was written."""
    cases = [case for case, _ in (*KNOWN, *REFUSED)]
    answers = judged(cases, tmp_path_factory.mktemp("rocketmq"))
    found, refused = answers[: len(KNOWN)], answers[len(KNOWN) :]
    assert [_numbers(each) for each in found] == [shares for _, shares in KNOWN]
    assert [each["error"]["code"] for each in refused] == [code for _, code in REFUSED]


@pytest.mark.parametrize("case, shares", KNOWN)
def test_ours_gives_known_shares(case: Case, shares: Shares) -> None:
    """Our strategies answer a written case as it was written."""
    assert _numbers(answer(case)) == shares


@pytest.mark.parametrize("case, code", REFUSED)
def test_ours_refuses_what_is_known_to_be_refused(case: Case, code: str) -> None:
    """Our strategies refuse a written case with the code that was written."""
    assert answer(case)["error"]["code"] == code
