"""The Java client, built once."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from tests.fixtures.certificates import Certificates, make_certificates
from tests.java_client.probe import Probe, probe
from tests.java_client.scripted_gateway import ScriptedGateway, scripted_gateway
from tools.java_client import JavaClient, built_client


@pytest.fixture(scope="session")
def java_client() -> JavaClient:
    """Return the client's jar and the classes of its tests."""
    return built_client()


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    """Serve answers that the test gives by hand."""
    with scripted_gateway() as serving:
        yield serving


@pytest.fixture
def member(java_client: JavaClient) -> Iterator[Callable[..., Probe]]:
    """Start members of the group `orders`; they end with the test."""
    with ExitStack() as stack:

        def begin(*gateways: str, **settings: Any) -> Probe:
            given = {"group": "orders", "client_id": "me", "topics": ["orders"], **settings}
            program: AbstractContextManager[Probe] = probe(
                java_client, "MemberProbe", gateways=list(gateways), **given
            )
            return stack.enter_context(program)

        yield begin


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of an authority of the tests."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def encrypted(certificates: Certificates) -> Iterator[ScriptedGateway]:
    """Serve over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.broker)
    with scripted_gateway(context) as serving:
        yield serving
