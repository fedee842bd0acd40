"""A certificate authority of a test, and the certificates that it signs."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

__all__ = ["Authority", "Pair"]


@dataclass(frozen=True)
class Pair:
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """An authority whose files stand in a folder."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name.from_rfc4514_string(f"CN={name}")
        self.file = folder / f"{name}.pem"
        built = self._builder(self._name, self._key.public_key())
        built = built.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self._certificate = built.sign(self._key, hashes.SHA256())
        self.file.write_bytes(self._certificate.public_bytes(Encoding.PEM))

    def pair(self, name: str, subject: str, *others: x509.GeneralName, ends_h: float = 1) -> Pair:
        """Sign a certificate, and write it and its key over the files of that name."""
        key = ec.generate_private_key(ec.SECP256R1())
        built = self._builder(x509.Name.from_rfc4514_string(subject), key.public_key(), ends_h)
        if others:
            built = built.add_extension(x509.SubjectAlternativeName(others), critical=False)
        signed = built.sign(self._key, hashes.SHA256())
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}-key.pem")
        pair.certificate.write_bytes(signed.public_bytes(Encoding.PEM))
        pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return pair

    def server(self, name: str = "server", subject: str = "CN=server") -> Pair:
        """Sign a certificate for this machine."""
        return self.pair(name, subject, x509.IPAddress(ipaddress.ip_address("127.0.0.1")))

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, ends_h: float = 1
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=2))
            .not_valid_after(now + timedelta(hours=ends_h))
        )
