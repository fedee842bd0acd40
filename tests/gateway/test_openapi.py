"""The contract: what openapi.json says is what the gateway does, whatever it is asked."""

import ast
import contextlib
import http.client
import json
import uuid
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fairlead.gateway.openapi import OPENAPI_FILE, PROBLEM_KINDS, document, document_text
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.awaiting import await_seen
from tests.kit.serve_process import Served, serving
from tests.tidy.source_tree import ROOT

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

CONTRACT = document()
OPERATIONS = [
    pytest.param(
        mode,
        method,
        path,
        # It waits for news that never come; a test of streams reads them.
        marks=[pytest.mark.slow] if mode.is_positive and path.endswith("}/events") else [],
    )
    for path, methods in CONTRACT["paths"].items()
    for method, said in methods.items()
    for mode in GenerationMode
    # A request without any part cannot be wrong.
    if mode.is_positive or "parameters" in said or "requestBody" in said
]
# A 503 is documented, a 500 never is: whatever has no documented status fails.
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
REFUSING = ("fairlead/gateway", "fairlead/http", "fairlead/serve", "fairlead/access")
"""Where refusals over HTTP are made."""


def _examples(part: int) -> int:
    """Return one part in so many of the examples that other tests try: each is a request."""
    profile = settings.default
    assert profile is not None
    return profile.max_examples // part


def test_the_committed_file_is_what_the_code_makes() -> None:
    """The file is the document; `make openapi` writes it."""
    assert OPENAPI_FILE.read_text(encoding="utf-8") == document_text()


def _kinds() -> set[tuple[int, str]]:
    """Return status and type of each refusal that code makes: Problem(…) and Refusal(…)."""
    found = set()
    for path in (path for folder in REFUSING for path in sorted((ROOT / folder).rglob("*.py"))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or len(node.args) < 3:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            kind = node.args[1]
            if name in ("Problem", "Refusal") and isinstance(kind, ast.Constant):
                found.add((_status(tree, node.args[0]), str(kind.value)))
    return found


def _status(tree: ast.Module, said: ast.expr) -> int:
    """Return a status as a file says it: a number, HTTPStatus.NAME, or a constant of the file."""
    if isinstance(said, ast.Attribute):
        return HTTPStatus[said.attr]
    if isinstance(said, ast.Name):
        (said,) = (
            node.value
            for node in tree.body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id == said.id
            and node.value is not None
        )
    return int(ast.literal_eval(said))


def test_each_refusal_of_the_code_is_in_the_contract() -> None:
    """Each type that code can answer with stands under its status; a failure is no answer."""
    told = {(status, kind) for status, kinds in PROBLEM_KINDS.items() for kind in kinds}
    assert _kinds() - {(500, "failed")} - told == set()


@pytest.fixture(scope="module")
def served(kafka: "EmbeddedKafka", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway on topics of its own; polls wait for a moment only."""
    prefix = f"openapi-{uuid.uuid4().hex[:8]}."
    specs = topic_specs(load_settings(overrides=FEW_PARTITIONS).topics)
    create_topics({"bootstrap_servers": kafka.bootstrap}, prefix, specs, 1)
    words = {"ENABLED": "true", "POLL_MS": "100"}
    variables = [f"FAIRLEAD__GATEWAY__{name}={value}" for name, value in words.items()]
    folder = tmp_path_factory.mktemp("openapi")
    with serving(folder, kafka.bootstrap, prefix, *variables) as found:
        found.wait("/readyz", 200)
        yield found


@pytest.mark.broker
def test_it_is_served(served: Served) -> None:
    """A gateway serves its contract, and the reading paths under the same root."""
    assert served.wait("/v1/openapi.json", 200) == CONTRACT
    assert served.wait("/v1/groups", 200)["groups"] == []
    assert served.wait("/v1/groups/nobody", 404)["type"] == "urn:fairlead:unknown_group"


@pytest.mark.broker
@pytest.mark.parametrize("mode, method, path", OPERATIONS)
def test_every_request_gets_a_documented_answer(
    served: Served, mode: GenerationMode, method: str, path: str
) -> None:
    """Right and wrong requests alike: a documented status, a body that fits it, and never 500."""
    operation = schemathesis.openapi.from_dict(CONTRACT)[path][method]

    @settings(max_examples=_examples(8), suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(mode))
    def ask(case: Any) -> None:
        if mode.is_positive and "wait_ms" in _fields(method, path):
            # No engine runs here: whoever waits for one waits in vain.
            said = case.body if isinstance(case.body, dict) else {}
            case.body, case.media_type = {**said, "wait_ms": 0}, "application/json"
        case.call_and_validate(_url(served), checks=CHECKS, timeout=20)

    ask()


def _fields(method: str, path: str) -> set[str]:
    """Return the fields of the body of a request."""
    said = CONTRACT["paths"][path][method].get("requestBody")
    if said is None:
        return set()
    name = said["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return set(CONTRACT["components"]["schemas"][name]["properties"])


@pytest.mark.broker
@pytest.mark.parametrize("leaves", [False, True])
def test_every_word_of_a_member_gets_a_documented_answer(served: Served, leaves: bool) -> None:  # noqa: FBT001 - a parameter
    """The same of a client that has joined: its polls have a state that the gateway knows."""
    contract = schemathesis.openapi.from_dict(CONTRACT)
    method, path = ("delete", "") if leaves else ("post", "/poll")
    operation = contract["/v1/sessions/{session}" + path][method]

    @settings(max_examples=_examples(2), suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(), sequence=st.integers(1, 3), queues=st.integers(0, 3))
    def ask(case: Any, sequence: int, queues: int) -> None:
        joined = _join(served)
        case.path_parameters = {"session": joined["session"]}
        case.body = {**case.body, "state": joined["state"], "sequence": sequence}
        work = {"queue": ["orders", "main", 0], "epoch": [1, 1], "position": 5}
        case.body["stopped"] = [*case.body.get("stopped", [])][:queues] or [work]
        case.call_and_validate(_url(served), checks=CHECKS, timeout=20)

    ask()


@pytest.mark.broker
def test_the_name_of_a_group_is_decoded_once(served: Served) -> None:
    """A percent sign is a letter of names: in a URL it is %25, and %2541 is no A."""
    status, answer = _ask_to_join(served, "a%25ZZ")
    assert status == 201, answer
    status, answer = _ask_to_join(served, "a%2520b")
    assert status == 201, answer
    status, answer = _ask_to_join(served, "a%20b")
    assert (status, answer["field"]) == (422, "group")


def _join(served: Served) -> dict[str, Any]:
    def joined() -> dict[str, Any]:
        status, answer = _ask_to_join(served, "orders")
        assert status in (201, 503), answer
        return answer

    return await_seen(joined, lambda answer: "session" in answer, what="join")


def _ask_to_join(served: Served, group: str) -> tuple[int, dict[str, Any]]:
    body = json.dumps({"client_id": uuid.uuid4().hex, "topics": [{"topic": "orders"}]})
    place = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    with contextlib.closing(place) as connection:
        path = f"/v1/groups/{group}/members"
        connection.request("POST", path, body, {"content-type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def _url(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"
