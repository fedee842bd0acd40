"""Writes docs/doctor.md from the table of checks: python -m fairlead.doctor.page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fairlead.doctor.catalogue import CHECKS
from fairlead.doctor.examination import SECONDS_MAX
from fairlead.doctor.rights import RIGHTS
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["doctor_page"]

_HEAD: Final = """\
# The doctor

Made by `python -m fairlead.doctor.page` of the table in `fairlead/doctor/catalogue.py`; a test
holds the two together.

```
fairlead doctor                          # what the settings say, on this machine
fairlead doctor --config my.toml -o json # for programs: check, status, says, remedy
```

It looks at everything that Fairlead needs and says how to mend what is not as it must be. It writes
nothing, takes no lock and changes nothing, so it may be run beside a live engine at any time. Each
check has its time and none stops another; all together end within {seconds} s, also with brokers
that are dead or silent. Run it as the user who runs the engine, with the same settings: what may be
read, and what Kafka allows, depends on that.

| status | meaning |
|---|---|
| ok | as it must be |
| warn | it works, and is worth a thought |
| FAIL | wrong; what to do stands below it |
| unknown | it could not be found out, and why; never a reason to fail |

Exit codes: 0 if nothing fails, 1 if anything does, 2 if the settings cannot be used, 3 if no broker
answers, so that only this machine could be looked at.

| check | looks at | what | says FAIL when |
|---|---|---|---|
"""
_RIGHTS: Final = """
## Rights

Where brokers have an authorizer, each process needs these operations on Fairlead's topics (the
names here follow `kafka.topic_prefix`). Whoever makes the topics needs Create on them, or on the
cluster, and DescribeConfigs; everybody who is to be told what else there is needs Describe on all
of them. Nothing needs a right on a consumer group but a bridge, which needs Describe on the
groups whose commits it looks up, and `fairlead adopt G` and `release G`, which need Read on the
native group. On topics with messages consumers need Read, producers Write, and bridges Describe.

| who | operations | topics |
|---|---|---|
"""


def doctor_page() -> str:
    """Return docs/doctor.md."""
    rows = "".join(
        f"| `{check.name}` | {check.place} | {check.about} | {check.fails} |\n" for check in CHECKS
    )
    return _HEAD.replace("{seconds}", f"{SECONDS_MAX:.0f}") + rows + _RIGHTS + "".join(_rights())


def _rights() -> Iterator[str]:
    for who, needed in RIGHTS.items():
        topics: dict[tuple[str, ...], list[str]] = {}
        for suffix, operations in needed.items():
            topics.setdefault(operations, []).append(suffix)
        for operations, suffixes in topics.items():
            names = "all" if len(suffixes) == len(ALL_TOPICS) else ", ".join(suffixes)
            yield f"| {who} | {', '.join(operations)} | {names} |\n"


if __name__ == "__main__":
    page = Path(__file__).resolve().parents[2] / "docs" / "doctor.md"
    page.write_text(doctor_page(), encoding="utf-8")
