"""docs/metrics.md has every family that the code exports, with its text and a sample."""

import pytest

from fairlead.serve.group_families import COUNTERS, GAUGES, HISTOGRAMS
from fairlead.serve.native_families import NATIVE_FAMILIES
from streaming.families import COUNTED
from tools.metrics.exported import exported
from tools.metrics.page import PAGE, filled, listed
from tools.metrics.samples import RARE, RECORDED, picked, read_samples, samples_text

FAMILIES = [(part, name) for part, families in exported().items() for name in families]


def test_the_page_is_what_code_and_samples_make() -> None:
    """The page is what code and samples make of it: else run `make metrics-page`."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == filled(page)


def test_each_family_has_one_row() -> None:
    """Each family has one row, in a table of who exports it."""
    assert sorted(listed(PAGE.read_text(encoding="utf-8"))) == sorted(FAMILIES)


def test_each_family_has_a_sample() -> None:
    """Each family has a sample; what was made up is only what the recorded run does not have."""
    recorded, rare = read_samples(RECORDED), read_samples(RARE)
    known = [{(part, name) for part in file for name in file[part]} for file in (recorded, rare)]
    assert known[0] | known[1] == set(FAMILIES)
    assert len(known[0]) > len(known[1])


def test_samples_have_the_labels_of_the_code() -> None:
    """Samples have the labels of the code, made up or not."""
    told = {
        **{f"fairlead_{each.name}": each.labels for each in COUNTED.values()},
        **{each.name: each.labels for each in (*GAUGES, *COUNTERS, *HISTOGRAMS, *NATIVE_FAMILIES)},
    }
    wrong = {
        sample.line: told[name]
        for path in (RECORDED, RARE)
        for samples in read_samples(path).values()
        for name, sample in samples.items()
        if name in told and set(sample.labels) != set(told[name])
    }
    assert wrong == {}


@pytest.mark.parametrize("part, name", FAMILIES)
def test_names_and_texts_follow_prometheus(part: str, name: str) -> None:
    """Names and texts are as Prometheus wants them: base units, counters _total, a help on each."""
    family = exported()[part][name]
    assert name.startswith("fairlead_")
    assert name.endswith("_total") == (family.kind == "counter")
    assert not set(name.split("_")) & {"ms", "milliseconds", "minutes", "kilobytes", "count"}
    assert family.text[-1] in ".:)"
    assert len(family.text) > 10


def test_the_first_sample_that_is_not_zero_is_shown() -> None:
    """Of a family with values the first that is not zero is shown, of a histogram a bucket."""
    text = """# HELP a Help.
# TYPE a counter
a_total{of="x"} 0.0
a_total{of="y"} 2.0
# HELP b Help.
# TYPE b histogram
b_bucket{le="1.0",of="z"} 1.0
b_bucket{le="2.0",of="z"} 1.0
b_bucket{le="+Inf",of="z"} 3.0
b_count{of="z"} 3.0
b_sum{of="z"} 7.0
"""
    found = picked(text)
    assert found == {"a_total": 'a_total{of="y"} 2.0', "b": 'b_bucket{le="2.0",of="z"} 1.0'}
    assert samples_text({"x": found}).startswith("# of: x\na_total")
