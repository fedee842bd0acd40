"""Says why a gateway does not answer, or what its refusal means, and what to do."""

import socket
import ssl
from typing import Final

from fairlead_client.errors import GatewayError, MalformedRecordError
from fairlead_client.settings.gateway_settings import GatewayAddress
from fairlead_client.thin.thin_json import joined_of, polled_of, problem_of
from fairlead_client.thin.thin_member import Reply
from fairlead_client.thin.thin_words import Left, Request

__all__ = ["connection_fault", "reply_of", "retry_after_ms"]

_RETRY_MS_MAX: Final = 10_000
_REMEDIES: Final = {
    401: "give a token that is valid there as token_file=…, or a certificate as "
    "gateway_cert_file=…",
    403: "ask whoever runs the gateway for the right `consume` in this group",
    404: "check the address: `fairlead serve` answers there only with gateway.enabled",
}
"""By status, for an answer that names no remedy itself."""
_UNKNOWN_AUTHORITY: Final = frozenset({18, 19, 20, 21})
"""X509_V_ERR_…: the certificate's chain does not end at an authority that this client trusts."""
_OTHER_NAME: Final = frozenset({62, 64})


def connection_fault(address: GatewayAddress, error: BaseException) -> GatewayError:
    """Return why a request had no answer."""
    kind, words, remedy = _fault(address, error)
    fault = GatewayError(f"{address}: {words}; {remedy}", kind=kind)
    fault.__cause__ = error
    return fault


def _fault(address: GatewayAddress, error: BaseException) -> tuple[str, str, str]:
    match error:
        case ssl.SSLCertVerificationError():
            return _certificate_fault(address, error)
        case ssl.SSLError():
            return _tls_fault(error)
        case ConnectionRefusedError():
            words = f"nothing listens on port {address.port}"
            return "refused", words, "start `fairlead serve` there, or correct gateway=…"
        case socket.gaierror():
            words = f"the host {address.host} is unknown ({error.strerror})"
            return "unknown_host", words, "correct gateway=…"
        case TimeoutError():
            return "timeout", "no answer came in time", "look whether the gateway runs"
        case ConnectionError() | EOFError():
            words = "the connection was closed before the answer"
            remedy = "look into the gateway's log"
            if address.scheme == "http":
                remedy += "; if it speaks TLS, use https://"
            return "closed", words, remedy
        case OSError():
            words = f"no connection ({error.strerror or error})"
            return "unreachable", words, "look at the network, or correct gateway=…"
    words = f"the answer is no HTTP ({type(error).__name__})"
    remedy = "use https:// if it speaks TLS" if address.scheme == "http" else "correct gateway=…"
    return "no_http", words, remedy


def _certificate_fault(
    address: GatewayAddress, error: ssl.SSLCertVerificationError
) -> tuple[str, str, str]:
    if error.verify_code in _UNKNOWN_AUTHORITY:
        words = f"its certificate is of an unknown authority ({error.verify_message})"
        remedy = "give the file of its CA as gateway_ca_file=…"
    elif error.verify_code in _OTHER_NAME:
        words = f"its certificate is not for {address.host} ({error.verify_message})"
        remedy = "use a name of the certificate in gateway=…"
    else:
        words = f"its certificate is not valid ({error.verify_message})"
        remedy = "let whoever runs the gateway replace it"
    return "bad_certificate", words, remedy


def _tls_fault(error: ssl.SSLError) -> tuple[str, str, str]:
    if isinstance(error, ssl.SSLEOFError):
        # With TLS 1.3 the alert that says why may come after the end.
        words = "the encrypted connection was closed before the answer"
        return "closed", words, "look into the gateway's log; it may want gateway_cert_file=…"
    reason = error.reason or str(error)
    if "WRONG_VERSION_NUMBER" in reason or "HTTP_REQUEST" in reason:
        return "not_tls", "it speaks no TLS", "use http:// on loopback, or set [tls] there"
    if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason:
        words = f"it wants a certificate of the client ({reason})"
        return "certificate_required", words, "give gateway_cert_file=… and gateway_key_file=…"
    if "UNKNOWN_CA" in reason or "BAD_CERTIFICATE" in reason:
        words = f"it does not accept this client's certificate ({reason})"
        return "certificate_required", words, "give one of an authority that it trusts"
    return "unreachable", f"no encrypted connection ({reason})", "look into the gateway's log"


def reply_of(
    request: Request, address: GatewayAddress, status: int, data: bytes, retry_ms: int
) -> Reply:
    """Return what an answer says."""
    try:
        if status == 201:  # noqa: PLR2004 - RFC 9110
            return joined_of(data)
        if status == 200:  # noqa: PLR2004
            return polled_of(data)
    except MalformedRecordError as error:
        words = f"{address}: {request.path} has answered what this client cannot read: {error}"
        return GatewayError(f"{words}; look at both versions", kind="bad_answer")
    if status == 204:  # noqa: PLR2004
        return Left()
    return _refusal(address, status, data, retry_ms)


def _refusal(address: GatewayAddress, status: int, data: bytes, retry_ms: int) -> GatewayError:
    problem = problem_of(data)
    detail = problem.get("detail", f"it answers {status} without a reason").rstrip(".")
    remedy = problem.get("remedy") or _REMEDIES.get(status, "look into the gateway's log")
    return GatewayError(
        f"{address}: {status}: {detail}; {remedy}",
        kind=problem.get("kind", ""),
        status=status,
        reason=problem.get("reason", ""),
        retry_after_ms=retry_ms,
    )


def retry_after_ms(header: str | None) -> int:
    """Return the header Retry-After in ms; 0: it is missing, or a date."""
    if header is None or not header.isdecimal():
        return 0
    return min(int(header) * 1_000, _RETRY_MS_MAX)
