"""RocketMQ's access control 1.0: who sends a request, signed (AclClientRPCHook, AclUtils).

Servers with access control 2.0 take the same signature.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass, field, replace

from fairlead_client.remoting.command import Command

__all__ = ["Credentials"]


@dataclass(frozen=True, slots=True)
class Credentials:
    """The login of a user.

    Attributes:
        access_key: names the user.
        secret_key: the user's secret; nobody prints it.
        security_token: a token of a session; "": none.
    """

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str = field(default="", repr=False)

    def signed(self, command: Command) -> Command:
        """Return the request with the user's name and the signature of its fields and its body.

        The signature is the HMAC-SHA1 of the values of all fields, sorted by the names of the
        fields, and then the body.
        """
        fields = {**command.fields, "AccessKey": self.access_key}
        if self.security_token:
            fields["SecurityToken"] = self.security_token
        fields.pop("Signature", None)
        content = "".join(fields[name] for name in sorted(fields)).encode() + bytes(command.body)
        digest = hmac.digest(self.secret_key.encode(), content, hashlib.sha1)
        fields["Signature"] = base64.b64encode(digest).decode()
        return replace(command, fields=fields)
