"""The names in a caller's certificate, as the access file writes them.

The subject is RFC 4514 text, such as ``CN=orders,O=Example``. An alternative name has its kind
before it: ``dns:``, ``uri:``, ``email:`` or ``ip:``.
"""

from asyncio import BaseTransport
from typing import Final

import structlog

__all__ = ["certificate_name", "names_of_certificate", "names_of_peer"]

_KINDS: Final = ("dns:", "uri:", "email:", "ip:")

log = structlog.get_logger()


def certificate_name(text: str) -> str:
    """Return the one form of a name.

    Raises:
        ValueError: it is none.
    """
    if text.lower().startswith(_KINDS):
        kind, _, name = text.partition(":")
        if not name:
            raise ValueError("give a name behind dns:, uri:, email: or ip:")
        kind = kind.lower()
        return f"{kind}:{name.lower() if kind == 'dns' else name}"
    from cryptography import x509  # noqa: PLC0415 - it brings 20 MB that a server without certificates does without

    try:
        name = x509.Name.from_rfc4514_string(text).rfc4514_string()
    except ValueError:
        name = ""
    if not name:
        raise ValueError(
            'give a subject such as "CN=orders,O=Example", or dns:, uri:, email: or ip:'
        )
    return name


def names_of_peer(transport: BaseTransport) -> tuple[str, ...]:
    """Return the names in the certificate of a connection's caller, checked by its authority.

    There are none without a certificate, and none in one that cannot be read.
    """
    secure = transport.get_extra_info("ssl_object")
    encoded = None if secure is None else secure.getpeercert(binary_form=True)
    try:
        return names_of_certificate(encoded) if encoded else ()
    except ValueError as error:
        log.warning("client_certificate_unreadable", reason=str(error))
        return ()


def names_of_certificate(encoded: bytes) -> tuple[str, ...]:
    """Return the subject and the alternative names of a certificate (DER)."""
    from cryptography import x509  # noqa: PLC0415 - as above

    certificate = x509.load_der_x509_certificate(encoded)
    names = [certificate.subject.rfc4514_string()]
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return tuple(name for name in names if name)
    names += [f"dns:{name.lower()}" for name in found.get_values_for_type(x509.DNSName)]
    names += [f"uri:{name}" for name in found.get_values_for_type(x509.UniformResourceIdentifier)]
    names += [f"email:{name}" for name in found.get_values_for_type(x509.RFC822Name)]
    names += [f"ip:{name}" for name in found.get_values_for_type(x509.IPAddress)]
    return tuple(name for name in names if name)
