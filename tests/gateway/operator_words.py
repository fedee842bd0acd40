"""What operators ask for over HTTP: changes beside their commands, and mistakes."""

from typing import Any

__all__ = ["CHANGES", "REFUSALS"]

QUEUE = ("orders", "main", 3)
CHANGES: list[tuple[list[str], str, str, dict[str, Any]]] = [
    (
        ["set", "--pin", "orders/main/3=c1", "--trigger-ms", "15000", "--new-group"],
        "PUT",
        "rules",
        {
            "rules": [
                {"rule": "timing", "value": {"trigger_ms": 15_000}},
                {"rule": "pin", "value": {"queue": QUEUE, "client_id": "c1"}},
            ],
            "absent_ok": True,
            "new_group": True,
        },
    ),
    (
        ["set", "--settle-ms", "500", "--quota", "members=9", "--new-group"],
        "PUT",
        "rules",
        {
            "rules": [
                {"rule": "timing", "value": {"settle_ms": 500}},
                {"rule": "quota", "value": {"members": 9}},
            ],
            "new_group": True,
        },
    ),
    (["pause", "--new-group"], "POST", "pause", {"new_group": True}),
    (["resume"], "POST", "resume", {}),
    (
        ["drain", "c-1/x@7", "--new-group"],
        "POST",
        "drain",
        {"client_id": "c-1/x@7", "absent_ok": True, "new_group": True},
    ),
    (["undrain", "c-1/x@7"], "POST", "undrain", {"client_id": "c-1/x@7"}),
    (["unset", "--pin", "orders/main/3"], "DELETE", "rules/pin/orders/main/3", {}),
    (["unset", "--timing"], "DELETE", "rules/timing", {}),
]
"""Words of `fairlead group`; method, path and body of the same request."""

REFUSALS: list[tuple[str, str, Any, int, str, str | None, str]] = [
    ("PUT", "g/rules", {"ruls": []}, 422, "unknown_field", "ruls", "Did you mean rules?"),
    ("PUT", "g/rules", {"rules": []}, 422, "bad_field", "rules", ""),
    (
        "PUT",
        "g/rules",
        {"rules": [{"rule": "slots", "value": "group"}, {"rule": "tming", "value": {}}]},
        *(422, "bad_field", "rules[1].rule", "Did you mean timing?"),
    ),
    (
        "PUT",
        "g/rules",
        {"rules": [{"rule": "slots", "value": "group"}, {"rule": "timing", "value": {"x": 1}}]},
        *(422, "bad_rule", "rules[1].value", "trigger_ms"),
    ),
    (
        "PUT",
        "g/rules",
        {"rules": [{"rule": "timing", "value": {"lease_ms": 5}}]},
        *(422, "bad_rule", "rules[0].value.lease_ms", "from 1000 to 600000"),
    ),
    (
        "PUT",
        "g/rules",
        {"rules": [{"rule": "pin", "value": {"client_id": "c1"}}]},
        *(422, "bad_field", "rules[0].value.queue", ""),
    ),
    (
        "PUT",
        "g/rules",
        {"rules": [{"rule": "drain", "subject": ["c2"], "value": {"client_id": "c1"}}]},
        *(422, "bad_field", "rules[0].subject", "leave it out"),
    ),
    (
        "PUT",
        "g/rules",
        {"rules": [{"rule": "slots", "value": None}]},
        *(422, "bad_field", "rules[0].value", "DELETE"),
    ),
    (
        "PUT",
        "g/rules",
        {"rules": [{"rule": "slots", "value": "group"}], "because": "a\nb"},
        *(422, "bad_rule", "because", ""),
    ),
    ("POST", "g/pause", {"by": "bob"}, 422, "unknown_field", "by", "because"),
    ("POST", "g/pause", {"wait_ms": 60_001}, 422, "bad_field", "wait_ms", ""),
    ("POST", "known1/pause", {}, 404, "unknown_group", "group", "known-1"),
    ("POST", "known-1/drain", {"client_id": "c9"}, 422, "absent_client", "client_id", "absent_ok"),
    ("DELETE", "known-1/rules/pin/orders", {}, 422, "bad_field", "subject", "pin/TOPIC/BROKER"),
    ("DELETE", "known-1/rules/slots/c1", {}, 422, "bad_field", "subject", "Leave it out"),
    ("DELETE", "known-1/rules/tming", {}, 422, "bad_rule", "rule", "timing"),
    ("POST", "g/offsets/reset", {"to": "soon"}, 422, "bad_field", "to", "Give earliest"),
    ("POST", "g/offsets/reset", {"to": "latest"}, 404, "unknown_group", "group", "new_group"),
    (
        "POST",
        "known-1/offsets/reset",
        {"to": "latest", "topics": ["orers"]},
        *(422, "unknown_topic", "topics", "bridge"),
    ),
    ("POST", "known-1/plan", {"leaves": ["c9"]}, 422, "bad_change", "leaves", "Members:"),
    (
        "POST",
        "known-1/plan",
        {"joins": [{"client_id": "c1"}]},
        422,
        "bad_change",
        "joins",
        "topics",
    ),
    (
        "POST",
        "known-1/plan",
        {"joins": [{"client_id": "c1", "zone": "a\tb"}]},
        *(422, "bad_field", "joins[0].zone", ""),
    ),
    (
        "POST",
        "known-1/plan",
        {"unset": [{"rule": "pin"}]},
        422,
        "bad_field",
        "unset[0].subject",
        "",
    ),
    ("POST", "a b/pause", {}, 422, "bad_field", "group", ""),
    ("POST", "*/drain", {"client_id": "c1"}, 422, "bad_field", "group", ""),
    ("PATCH", "g/rules", None, 405, "unknown_method", None, "Use GET, PUT."),
    ("GET", "g/rule", None, 404, "unknown_path", None, "docs/serve.md"),
]
"""Method, path and body; then status, kind and field of the refusal, and words of it."""
