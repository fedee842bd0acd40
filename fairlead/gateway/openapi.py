"""The gateway's contract as OpenAPI 3.1: the table of its paths, and the models of their bodies.

`fairlead/schemas/openapi.json` is this document; `make openapi` writes it, and the gateway serves
it. What the reading paths answer stands in `fairlead/schemas/answers.json`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from fairlead.gateway.outputs import REASONS
from fairlead.gateway.routes import ROUTES, Documents, Route
from fairlead.http.problems import PROBLEM_TYPE
from fairlead.wire.texts import GROUP

__all__ = ["OPENAPI_FILE", "PROBLEM_KINDS", "document", "document_text"]

OPENAPI_FILE: Final = Path(__file__).parents[1] / "schemas" / "openapi.json"
_ANSWERS_FILE: Final = OPENAPI_FILE.with_name("answers.json")
_SCHEMAS: Final = "#/components/schemas/"
_STREAMS: Final = ("news", "events")
_OF_CLIENTS: Final = ("join", "poll", "leave")

PROBLEM_KINDS: Final[Mapping[int, tuple[str, ...]]] = {
    400: (
        *("bad_field", "bad_json", "head_too_large", "malformed_body", "malformed_request"),
        "token_in_url",
    ),
    401: ("bad_credentials", "no_credentials"),
    403: ("csrf_missing", "forbidden", "foreign_page", "missing_right", "not_yours"),
    404: ("no_gateway", "unknown_group", "unknown_path", "unknown_session"),
    405: ("unknown_method",),
    409: ("lost",),
    413: ("body_too_large", "unexpected_body"),
    415: ("unsupported_media_type",),
    421: ("foreign_host",),
    422: ("bad_field", "unexpected_stop", "unknown_field"),
    429: (
        "too_many_failures",
        "too_many_requests_per_second",
        "too_many_sessions",
        "too_many_streams",
    ),
    503: ("gateway_full", "log_unavailable", "not_observed", "not_ready", "streams_full"),
}
"""Status -> the types of its problems; `urn:fairlead:` stands before each. Operators get more."""

_STATUS_WORDS: Final = {
    400: "The request is malformed.",
    401: "Nobody is known by these credentials.",
    403: "The principal may not do this.",
    404: "There is nothing at this path.",
    405: "The path does not answer this method.",
    409: "The session is over: stop everything. Join again, but for `duplicate_client_id`.",
    413: "The body is too large, or the path takes none.",
    415: "The body is not declared as `application/json`.",
    421: "The Host header names another server.",
    422: "A field is wrong; `field` names it.",
    429: "Too many requests or sessions: wait as long as `Retry-After` says.",
    503: "Not now: try again, here or at another gateway. A lease that is held goes on.",
}
_OF_ALL: Final = (400, 401, 403, 404, 405, 413, 421, 429, 503)
_OF_BODIES: Final = (415, 422)


def _parameter(place: str, name: str, says: str, **schema: Any) -> Mapping[str, Any]:
    required = place == "path"
    described = {"name": name, "in": place, "required": required, "description": says}
    return {**described, "schema": schema}


_SEGMENTS: Final = {
    "group": _parameter(
        "path",
        "group",
        f"The group: {GROUP.words}; for some changes * for all groups.",
        type="string",
        pattern=r"^([A-Za-z0-9_%|.-]{1,120}|\*)$",
    ),
    "session": _parameter(
        "path",
        "session",
        "The session, as the answer to the join names it.",
        type="string",
        format="uuid",
    ),
    "rule": _parameter("path", "rule", "The rule.", type="string", pattern="^[a-z_]{1,40}$"),
    "subject": _parameter(
        "path", "subject", "The queue or the client; it may go on with slashes.", type="string"
    ),
}
_MORE: Final[Mapping[str, tuple[Mapping[str, Any], ...]]] = {
    "join": (
        _parameter(
            "header",
            "Idempotency-Key",
            "Names this join. A join that is repeated with the same key makes the same session.",
            type="string",
            pattern="^[!-~]{1,200}$",
        ),
    ),
    "decisions": (
        _parameter(
            "query",
            "since_ms",
            "Leaves out decisions before this time, in ms since 1970.",
            type="integer",
        ),
    ),
    "events": (
        _parameter(
            "header", "Last-Event-ID", "Goes on behind this event.", type="integer", minimum=0
        ),
    ),
}
_PROBES: Final = (
    Route("healthz", "GET", "/healthz", "Says that the process lives.", answer=Documents("Health")),
    Route(
        "readyz", "GET", "/readyz", "Says whether the log is read.", answer=Documents("Readiness")
    ),
    Route("openapi", "GET", "/v1/openapi.json", "This document.", answer=Documents("OpenApi")),
)


def document() -> dict[str, Any]:
    """Return the document."""
    paths: dict[str, dict[str, Any]] = {}
    for route in (*ROUTES, *_PROBES):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "The gateway of Fairlead",
            "version": "1",
            "description": "Clients in any language take part in a group: docs/gateway.md.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"bearer": []}, {"mtls": []}, {}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of the access file, or a JSON Web Token.",
                },
                "mtls": {
                    "type": "mutualTLS",
                    "description": "A client certificate; its subject is the principal.",
                },
            },
            "schemas": _schemas(),
        },
    }


def document_text() -> str:
    """Return the document as it is committed and served."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def _operation(route: Route) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", route.path)
    parameters = [*(_SEGMENTS[name] for name in names), *_MORE.get(route.name, ())]
    made: dict[str, Any] = {"operationId": route.name, "summary": route.says}
    if parameters:
        made["parameters"] = parameters
    if route.body is not None:
        made["requestBody"] = {
            # What operators may leave out counts as {}.
            "required": route.name in _OF_CLIENTS,
            "content": {"application/json": {"schema": _reference(route.body.__name__)}},
        }
    answers: dict[str, Any] = {str(route.status): _answer(route)}
    if route.right == "operate":
        says = "It stands in the log; no engine has answered within `wait_ms`."
        answers["202"] = {**_answer(route), "description": says}
    refused = {*_OF_ALL, *(_OF_BODIES if route.body is not None else ())}
    if route.name in ("poll", "leave", "plan") or route.right == "operate":
        refused.add(409)
    if route.right is not None:
        refused.add(422)
    for status in sorted(refused):
        answers[str(status)] = _refusal(status, route)
    if route.name == "readyz":
        answers["503"] = {**_answer(route), "description": "The log is not read to its end yet."}
    return {**made, "responses": answers}


def _answer(route: Route) -> dict[str, Any]:
    told: dict[str, Any] = {"description": "Done."}
    if route.name in _STREAMS:
        told["content"] = {"text/event-stream": {"schema": {"type": "string"}}}
    elif route.answer is not None:
        is_listed = isinstance(route.answer, Documents) and route.answer.each
        schema: dict[str, Any] = _reference(_name_of(route.answer))
        if is_listed:
            schema = {"type": "array", "items": schema}
        told["content"] = {"application/json": {"schema": schema}}
    return told


def _name_of(answer: type[BaseModel] | Documents) -> str:
    return answer.name if isinstance(answer, Documents) else answer.__name__


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": _SCHEMAS + name}


def _refusal(status: int, route: Route) -> dict[str, Any]:
    kinds = [f"urn:fairlead:{kind}" for kind in PROBLEM_KINDS[status]]
    told: dict[str, Any] = {"description": _STATUS_WORDS[status]}
    properties: dict[str, Any] = {"type": {"enum": kinds}, "status": {"const": status}}
    schema: dict[str, Any] = {"allOf": [_reference("Problem")], "properties": properties}
    if _is_for_operators(route) and status in (404, 409, 422, 503):
        properties["type"] = {"pattern": "^urn:fairlead:[a-z_]+$"}
        if status == 409:  # noqa: PLR2004 - RFC 9110
            told["description"] = "What was asked for is refused; `detail` says why."
    elif status == 409:  # noqa: PLR2004 - RFC 9110
        properties["reason"] = {"enum": sorted(REASONS)}
        schema["required"] = ["reason"]
    told["content"] = {PROBLEM_TYPE: {"schema": schema}}
    if status == 429:  # noqa: PLR2004 - RFC 9110
        told["headers"] = {"Retry-After": {"schema": {"type": "string"}}}
    return told


def _is_for_operators(route: Route) -> bool:
    return route.path.startswith("/v1/groups/{group}/") and route.name not in _OF_CLIENTS


def _schemas() -> dict[str, Any]:
    """Return the schemas of all bodies and answers, and all that they refer to."""
    models = {each for route in ROUTES for each in (route.body, route.answer)}
    own = sorted(
        (each for each in models if isinstance(each, type)), key=lambda each: each.__name__
    )
    template = _SCHEMAS + "{model}"
    _, made = models_json_schema([(each, "validation") for each in own], ref_template=template)
    answers = _ANSWERS_FILE.read_text(encoding="utf-8").replace("#/$defs/", _SCHEMAS)
    known = {**json.loads(answers)["$defs"], **made["$defs"], "Problem": _PROBLEM}
    known["OpenApi"] = {"type": "object", "required": ["openapi", "info", "paths"]}
    told = (route.answer for route in (*ROUTES, *_PROBES) if route.answer is not None)
    return _with_all_parts(
        known, ["Problem", *(each.__name__ for each in own), *map(_name_of, told)]
    )


def _with_all_parts(known: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    wanted = list(names)
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = known[name]
            wanted += re.findall(f'"{_SCHEMAS}([^"]+)"', json.dumps(known[name]))
    return dict(sorted(found.items()))


_PROBLEM: Final = {
    "type": "object",
    "description": "What is wrong with a request, and what to do about it (RFC 9457).",
    "properties": {
        "type": {"type": "string", "description": "What is wrong; programs compare it."},
        "title": {"type": "string", "description": "The words of the status."},
        "status": {"type": "integer", "description": "The status of the answer."},
        "detail": {"type": "string", "description": "What is wrong, in words."},
        "remedy": {"type": "string", "description": "What to do about it."},
        "field": {"type": ["string", "null"], "description": "The field that is wrong."},
        "reason": {"type": "string", "description": "Why a session is over."},
        "outcomes": {"type": "array", "description": "What came of each change until then."},
    },
    "required": ["type", "title", "status", "detail", "remedy", "field"],
    "additionalProperties": False,
}


def main() -> None:
    """Write the file."""
    OPENAPI_FILE.write_text(document_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
