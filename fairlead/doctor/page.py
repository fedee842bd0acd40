"""Writes docs/doctor.md from the table of checks: python -m fairlead.doctor.page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fairlead.doctor.catalogue import CHECKS
from fairlead.doctor.examination import SECONDS_MAX
from fairlead.kafka.acls import RIGHTS
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["doctor_page"]

_HEAD: Final = """\
# The doctor

`python -m fairlead.doctor.page` writes this page from `fairlead/doctor/catalogue.py`; a test
compares them.

```
fairlead doctor                          # with the default settings, on this machine
fairlead doctor --config my.toml -o json # for programs: check, status, says, remedy
fairlead doctor --checkpoint FOLDER      # for an engine with another checkpoint folder
fairlead doctor --role client --group G  # whether this user has the rights of G's clients
```

The doctor checks everything that Fairlead needs and says how to repair what is wrong. It writes
nothing and takes no lock, so you may run it beside a live engine at any time. No check stops
another; all together end within {seconds} s, also with dead or silent brokers. The time in the last
line begins with the first check; before it Python starts, which takes seconds on a busy machine.
Run it as the engine's user, with the same settings: they decide what it may read, and what Kafka
allows. If the engine has a `--checkpoint`, give the doctor the same; otherwise it checks
`engine.checkpoint` of the settings.

| status | meaning |
|---|---|
| ok | right |
| warn | it works, with a risk |
| FAIL | wrong; the line below says what to do |
| unknown | the check has no answer, and says why; never a reason to fail |

Exit codes: 0 if nothing fails, 1 if anything does, 2 if the settings are wrong, 3 if no broker
answers, so that the doctor checked only this machine.

| check | examines | what | says FAIL when |
|---|---|---|---|
"""
_RIGHTS: Final = """
## Rights

Where brokers have an authorizer, each process needs these operations.

- The names of Fairlead's own topics lack `kafka.topic_prefix` here; *messages* are the topics with
  messages.
- *Retry topics* are `%RETRY%` and the group, in Kafka `_-RETRY_-` and the group; *dead-letter
  topics* are `%DLQ%` and the group, in Kafka `_-DLQ_-` and the group. Their names in Kafka have
  `__` for `_`, `_d` for a dot, `_-` for `%` and `_b` for `|`, also in the group's name.
- *Group* is the consumer group in Kafka with the name of Fairlead's.

The engine and the bridge refuse to start without a right on Fairlead's topics, and name the missing
right. `fairlead doctor --role client --group G`, run with a client's settings, checks the rights of
that client.

The user that creates Fairlead's topics needs Create on them, or on the cluster, and
DescribeConfigs. Without Read on its group a client works, but each commit fails: its log,
`last_error` and `fairlead_client_commit_errors_total` show it. `fairlead adopt G` and `release G`
need Read on the group too, since they commit for it.

Only clients that broadcast or have a `message_queue_changed` read routes. Producers that create
topics (`create_topics`) need Create on them. A bridge with `--topic-pattern` sees the topics on
which it has Describe. A broker's own log may show a refused Describe on the cluster, because
Kafka's library asks for the user's rights there; nothing needs that right.

| who | operations | on |
|---|---|---|
"""


def doctor_page() -> str:
    """Return docs/doctor.md."""
    rows = "".join(
        f"| `{check.name}` | {check.scope} | {check.about} | {check.fails} |\n" for check in CHECKS
    )
    return _HEAD.replace("{seconds}", f"{SECONDS_MAX:.0f}") + rows + _RIGHTS + "".join(_rights())


def _rights() -> Iterator[str]:
    for who, needed in RIGHTS.items():
        topics: dict[tuple[str, ...], list[str]] = {}
        for suffix, operations in needed.topics.items():
            topics.setdefault(operations, []).append(suffix)
        for operations, suffixes in topics.items():
            names = "all topics" if len(suffixes) == len(ALL_TOPICS) else ", ".join(suffixes)
            yield f"| {who} | {', '.join(operations)} | {names} |\n"
        others = {
            "messages": needed.messages,
            "retry topics": needed.retries,
            "dead-letter topics": needed.dead_letters,
            "group": needed.group,
        }
        for name, operations in others.items():
            if operations:
                yield f"| {who} | {', '.join(operations)} | *{name}* |\n"


if __name__ == "__main__":
    page = Path(__file__).resolve().parents[2] / "docs" / "doctor.md"
    page.write_text(doctor_page(), encoding="utf-8")
