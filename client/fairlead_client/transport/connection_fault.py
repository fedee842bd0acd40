"""Finds out why brokers accept no connection, by connecting once, step by step.

kafka-python retries until the time is over, and reports a wrong password, certificate or port only
as a timeout. Here each step has its own error.
"""

import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from kafka.errors import (
    IllegalSaslStateError,
    KafkaError,
    KafkaProtocolError,
    UnsupportedSaslMechanismError,
    for_code,
)
from kafka.net.manager import KafkaConnectionManager
from kafka.net.sasl import get_sasl_mechanism
from kafka.net.transport import KafkaSSLTransport
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from fairlead_client.settings.common_settings import servers_of
from fairlead_client.transport.silent_brokers import Address

STEP_SECONDS_MAX: Final = 2.0
"""How long one step may take. A broker that takes longer is silent, which has other causes."""
_ANSWER_BYTES_MAX: Final = 1_000_000
_METADATA: Final = 3
_EXPIRED, _NOT_YET_VALID = 10, 9
_OTHER_NAME: Final = (62, 64)
_NOBODY_VOUCHES: Final = (2, 18, 19, 20, 21)
"""OpenSSL's error numbers of certificates (X509_V_ERR_...)."""
_FILES: Final = ("ssl_cafile", "ssl_certfile", "ssl_keyfile")


class Fault(NamedTuple):
    """Why a broker accepts no connection.

    Attributes:
        option: the option to check, as kafka-python calls it.
        says: what is wrong, as a sentence without its full stop.
        remedy: what to do.
    """

    option: str
    says: str
    remedy: str


class Contact(NamedTuple):
    """The result of the attempts to connect.

    Attributes:
        taken: whether a broker accepted the connection, and the login if there is one.
        fault: why no broker did; None if one did, or none answered.
        refused: why nothing listens, one text for each address; empty if an address accepted a
            connection.
        silent: the addresses that did not answer in time.
    """

    taken: bool
    fault: Fault | None = None
    refused: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


class _HungUpError(Exception):
    """The broker closed the connection instead of answering, or its answer is not Kafka's."""


class _Stop(Exception):  # noqa: N818 - it carries a fault out of the steps
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.says)
        self.fault = fault


def first_contact(options: Mapping[str, Any], seconds: float = STEP_SECONDS_MAX) -> Contact:
    """Connect to one address after another, until a broker accepts the connection.

    This needs no rights, and closes its connections.

    Args:
        options: the keyword arguments of a kafka-python client, with `bootstrap_servers`.
        seconds: how long each step may take.
    """
    config = {**KafkaConnectionManager.DEFAULT_CONFIG, **options}
    if config["proxy_url"]:
        # A proxy may change any answer.
        return Contact(taken=False)
    refused: list[str] = []
    fault: Fault | None = None
    silent: list[str] = []
    for server in servers_of(config["bootstrap_servers"]):
        try:
            with _Steps(Address.parse(server), config, seconds) as steps:
                steps.run()
        except _Stop as stop:
            fault = fault or stop.fault
        except TimeoutError:
            silent.append(server)
        except (OSError, ValueError) as error:
            refused.append(f"{server}: {error}")
        else:
            return Contact(taken=True)
    if silent or fault is not None:
        refused = []
    return Contact(taken=False, fault=fault, refused=tuple(refused), silent=tuple(silent))


class _Steps:
    """The steps of one connection; as a context it closes what it opened."""

    def __init__(self, address: Address, config: Mapping[str, Any], seconds: float) -> None:
        self._address = address
        self._config = config
        self._seconds = seconds
        self._tls = config["security_protocol"] in ("SSL", "SASL_SSL")
        self._sasl = config["security_protocol"] in ("SASL_PLAINTEXT", "SASL_SSL")
        self._socket = socket.create_connection(address, seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def run(self) -> None:
        """Do all steps.

        Raises:
            _Stop: a step has found the fault.
            TimeoutError: the broker is silent.
        """
        if self._tls:
            self._shake_hands()
        talk = _Talk(self._socket)
        self._greet(talk)
        if self._sasl:
            self._log_in(talk)
        else:
            self._ask_for_brokers(talk)

    def _shake_hands(self) -> None:
        host = self._address.host.rstrip(".")
        try:
            self._socket = self._context().wrap_socket(self._socket, server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            raise _Stop(self._of_certificate(error)) from error
        except (ssl.SSLError, ConnectionError) as error:
            if self._speaks_plainly():
                raise self._stop(
                    "security_protocol",
                    f"{self._address} speaks no TLS, and security_protocol is "
                    f"{self._config['security_protocol']}",
                    "Name the port of the listener with TLS, or set security_protocol, "
                    "if you need no encryption, to "
                    f"{'SASL_PLAINTEXT' if self._sasl else 'PLAINTEXT'}.",
                ) from error
            raise self._stop(
                "security_protocol",
                f"{self._address} ends the TLS handshake ({_reason(error)})",
                "Compare the TLS versions of both sides, and check that this is a broker's port.",
            ) from error

    def _context(self) -> ssl.SSLContext:
        given = {name: value for name, value in self._config.items() if name.startswith("ssl_")}
        try:
            built: ssl.SSLContext = KafkaSSLTransport._build_ssl_context(given)  # noqa: SLF001 - as clients do
        except (OSError, ValueError) as error:
            unread = [name for name in _FILES if given[name] and not _may_read(given[name])]
            name = (unread or [name for name in _FILES if given[name]] or ["ssl_context"])[0]
            raise self._stop(
                name,
                f"{given[name]} cannot be used ({_reason(error)})",
                "Name a PEM file that this user may read.",
            ) from error
        return built

    def _of_certificate(self, error: ssl.SSLCertVerificationError) -> Fault:
        says, code = error.verify_message.rstrip("."), error.verify_code
        if code == _EXPIRED:
            return Fault(
                "bootstrap_servers",
                f"the certificate of {self._address} is no longer valid ({says})",
                "Renew it on the broker; if it is valid, set this machine's clock.",
            )
        if code == _NOT_YET_VALID:
            return Fault(
                "bootstrap_servers",
                f"the certificate of {self._address} is not valid yet ({says})",
                "Set this machine's clock, or wait until it is.",
            )
        if code in _OTHER_NAME:
            names = self._certified_names()
            known = f" It is for {', '.join(names)}." if names else ""
            return Fault(
                "bootstrap_servers",
                f"the certificate of {self._address} is for another name ({says})",
                "Call the broker by a name in its certificate, also in advertised.listeners."
                f"{known}",
            )
        if code in _NOBODY_VOUCHES:
            trusted = self._config["ssl_cafile"] or "what this machine trusts"
            return Fault(
                "ssl_cafile",
                f"no authority in {trusted} has signed the certificate of {self._address} ({says})",
                "Name the file with the certificate of the authority that signed the brokers'.",
            )
        return Fault(
            "ssl_cafile",
            f"the certificate of {self._address} is not valid ({says})",
            "Ask the brokers' operators for a valid certificate.",
        )

    def _certified_names(self) -> list[str]:
        context = self._context()
        context.check_hostname = False
        with (
            suppress(OSError),
            socket.create_connection(self._address, self._seconds) as plain,
            context.wrap_socket(plain, server_hostname=self._address.host) as wrapped,
        ):
            certificate: Any = wrapped.getpeercert() or {}
            return [str(name) for _, name in certificate.get("subjectAltName", ())]
        return []

    def _greet(self, talk: "_Talk") -> None:
        try:
            answer = talk.ask(ApiVersionsRequest(version=0))
        except ssl.SSLError as error:
            if "CERTIFICATE" not in (error.reason or ""):
                raise self._stop(
                    "security_protocol",
                    f"{self._address} ends the encrypted connection ({_reason(error)})",
                    "Check the broker's log.",
                ) from error
            raise self._stop(
                "ssl_certfile",
                f"{self._address} wants a client certificate that it trusts ({_reason(error)})",
                "Set ssl_certfile and ssl_keyfile to a certificate that the brokers accept.",
            ) from error
        except _HungUpError as error:
            if not self._tls and self._speaks_tls():
                raise self._stop(
                    "security_protocol",
                    f"{self._address} speaks TLS, and security_protocol is "
                    f"{self._config['security_protocol']}",
                    f"Set security_protocol to {'SASL_SSL' if self._sasl else 'SASL_SSL or SSL'}, "
                    "or name the port of a listener without TLS.",
                ) from error
            raise self._stop(
                "bootstrap_servers",
                f"{self._address} closes the connection at the first request",
                "Check that this is the port of a Kafka broker.",
            ) from error
        if all(api.api_key != _METADATA for api in answer.api_keys):
            raise self._stop(
                "bootstrap_servers",
                f"{self._address} is the port of a controller, not of a broker",
                "Name a port that the brokers advertise to clients.",
            )

    def _ask_for_brokers(self, talk: "_Talk") -> None:
        try:
            talk.ask(MetadataRequest(topics=[], version=1))
        except _HungUpError as error:
            raise self._stop(
                "security_protocol",
                f"{self._address} wants a login, and security_protocol is "
                f"{self._config['security_protocol']}",
                f"Set security_protocol to {'SASL_SSL' if self._tls else 'SASL_PLAINTEXT'}, with "
                "sasl_mechanism, sasl_plain_username and the password.",
            ) from error

    def _log_in(self, talk: "_Talk") -> None:
        mechanism = self._config["sasl_mechanism"]
        try:
            answer = talk.ask(SaslHandshakeRequest(mechanism=mechanism, version=1))
            wrong = for_code(answer.error_code)
        except _HungUpError:
            wrong, answer = IllegalSaslStateError, None
        if wrong is IllegalSaslStateError:
            raise self._stop(
                "security_protocol",
                f"{self._address} accepts no login, and security_protocol is "
                f"{self._config['security_protocol']}",
                f"Set security_protocol to {'SSL' if self._tls else 'PLAINTEXT'}, or name the port "
                "of the listener with SASL.",
            )
        if wrong is UnsupportedSaslMechanismError or mechanism not in answer.mechanisms:
            raise self._stop(
                "sasl_mechanism",
                f"{self._address} accepts no login by {mechanism}",
                f"Set sasl_mechanism to one that it accepts: {', '.join(answer.mechanisms)}.",
            )
        self._authenticate(talk)

    def _authenticate(self, talk: "_Talk") -> None:
        name = self._config["sasl_mechanism"]
        says = "the connection is closed"
        try:
            login = get_sasl_mechanism(name)(**{**self._config, "host": self._address.host})
            while not login.is_done():
                answer = talk.ask(SaslAuthenticateRequest(login.auth_bytes(), version=1))
                if answer.error_code:
                    says = answer.error_message or for_code(answer.error_code).__name__
                    raise _HungUpError(says)  # noqa: TRY301 - handled below with the others
                login.receive(answer.auth_bytes)
        except (_HungUpError, KafkaError, ValueError) as error:
            user = self._config["sasl_plain_username"]
            raise self._stop(
                "sasl_plain_password",
                f"{self._address} refuses the login of {user!r} by {name} ({says})",
                "Check sasl_plain_username and the password; on the brokers: kafka-configs.sh"
                f" --describe --entity-type users --entity-name {user}",
            ) from error

    def _speaks_plainly(self) -> bool:
        with (
            suppress(OSError, _HungUpError),
            socket.create_connection(self._address, self._seconds) as plain,
        ):
            return bool(_Talk(plain).ask(ApiVersionsRequest(version=0)))
        return False

    def _speaks_tls(self) -> bool:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        # This sends no secret, and only finds out whether the other side speaks TLS.
        context.verify_mode = ssl.CERT_NONE
        with (
            suppress(OSError),
            socket.create_connection(self._address, self._seconds) as plain,
            context.wrap_socket(plain),
        ):
            return True
        return False

    @staticmethod
    def _stop(option: str, says: str, remedy: str) -> _Stop:
        return _Stop(Fault(option, says, remedy))


class _Talk:
    """Questions and answers on one socket, one after another."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        limits = {"receive_message_max_bytes": _ANSWER_BYTES_MAX}
        self._protocol = KafkaProtocol(client_id="fairlead-first-contact", **limits)

    def ask(self, question: Any) -> Any:
        """Return the answer to a question.

        Raises:
            _HungUpError: the other side closed the connection, or does not speak Kafka.
            ssl.SSLError: the other side ended the encryption.
            TimeoutError: no answer came in time.
        """
        self._protocol.send_request(question)
        try:
            self._socket.sendall(self._protocol.send_bytes())
            while data := self._socket.recv(4_096):
                for _, answer in self._protocol.receive_bytes(data):
                    return answer
        except (ConnectionError, KafkaProtocolError, ssl.SSLEOFError) as error:
            raise _HungUpError(str(error)) from error
        raise _HungUpError("the connection was closed")


def _may_read(path: Any) -> bool:
    try:
        with Path(path).open("rb"):
            return True
    except OSError:
        return False


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)
