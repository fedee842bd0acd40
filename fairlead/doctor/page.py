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

Made by `python -m fairlead.doctor.page` of the table in `fairlead/doctor/catalogue.py`; a test
holds the two together.

```
fairlead doctor                          # what the settings say, on this machine
fairlead doctor --config my.toml -o json # for programs: check, status, says, remedy
fairlead doctor --checkpoint FOLDER      # that of an engine that was started with it
fairlead doctor --role client --group G  # may this user do what clients of group G must do?
```

It looks at everything that Fairlead needs and says how to mend what is not as it must be. It writes
nothing, takes no lock and changes nothing, so it may be run beside a live engine at any time. Each
check has its time and none stops another; all together end within {seconds} s, also with brokers
that are dead or silent. That, and the time in the last line, is counted from the first check on:
the start of Python and the reading of the settings come before it, for seconds on a busy machine.
Run it as the user who runs the engine, with the same settings: what may be
read, and what Kafka allows, depends on that. An engine that was started with `--checkpoint` has its
state there: give the doctor the same, or it looks at `engine.checkpoint` of the settings.

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

Where brokers have an authorizer, each process needs these operations. Fairlead's own topics are
called here without `kafka.topic_prefix`; *messages* are the topics with messages; *retry topics*
are those that Fairlead calls `%RETRY%` and the group, and Kafka `_-RETRY_-` and the group;
*dead-letter topics* are `%DLQ%` and the group, to Kafka `_-DLQ_-` and the group; *group* is the
consumer group in Kafka that has the name of Fairlead's. In the names of those topics Kafka has `__`
for `_`, `_d` for a dot, `_-` for `%` and `_b` for `|`, the group's own included.

The engine and the bridge refuse to start without a right on Fairlead's topics, and name it.
`fairlead doctor --role client --group G`, run with a client's settings, looks at what that client
may do.

Whoever makes Fairlead's topics needs Create on them, or on the cluster, beside DescribeConfigs.
Without Read on its group a client works, but each commit fails: it says so in its log, in
`last_error` and in `fairlead_client_commit_errors_total`. `fairlead adopt G` and `release G` need
Read on the group too, since they commit for it.

Of the clients only those read routes that broadcast or have a `message_queue_changed`. Producers
that make topics (`create_topics`) need Create on them. A bridge with `--topic-pattern` sees those
topics on which it has Describe. A broker's own log tells of a refused Describe on the cluster
whenever a process asks who is in the cluster: Kafka's library asks beside it what the user may do
there. Nothing needs that right.

| who | operations | on |
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
