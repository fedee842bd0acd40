"""As whom a user is named in the command that gives it a right."""

from collections.abc import Mapping

import pytest
from fairlead_client.transport.principal import principal_of

from fairlead.kafka.acls import acl_command


@pytest.mark.parametrize(
    "options, principal",
    [
        ({}, "User:ANONYMOUS"),
        ({"security_protocol": "SSL", "ssl_certfile": "me.pem"}, "User:<subject of me.pem>"),
        ({"security_protocol": "SASL_SSL", "sasl_plain_username": "al"}, "User:al"),
        # A token or a ticket says who it is; the settings do not.
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, "User:<who logs in>"),
        ({"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "GSSAPI"}, "User:<who logs in>"),
    ],
)
def test_each_way_to_log_in(options: Mapping[str, str], principal: str) -> None:
    """Whichever way it logs in, the command can be written."""
    assert principal_of(options) == principal
    command = acl_command({**options, "bootstrap_servers": "b:1"}, ["Read"], ["orders"])
    assert f"--allow-principal '{principal}'" in command
