"""The operator's settings: reads conf/, files, the environment and flags, and checks them.

ADR 0003 gives the reasons.
"""

from fairlead.settings.access_section import AccessSettings, JwtSettings, LimitSettings, TlsSettings
from fairlead.settings.engine_section import EngineSettings
from fairlead.settings.gateway_section import GatewaySettings
from fairlead.settings.http_section import HttpSettings
from fairlead.settings.kafka_options import java_options
from fairlead.settings.kafka_sections import ConnectionSettings, KafkaSettings, SecuritySettings
from fairlead.settings.loading import Examination, examine, load_settings
from fairlead.settings.problems import Problem, SettingsError
from fairlead.settings.rules import GroupOverrides, GroupRules
from fairlead.settings.sections import (
    ClientSettings,
    GroupsSettings,
    MetricsSettings,
    ServeSettings,
    Settings,
    TopicsSettings,
)

__all__ = [
    "AccessSettings",
    "ClientSettings",
    "ConnectionSettings",
    "EngineSettings",
    "Examination",
    "GatewaySettings",
    "GroupOverrides",
    "GroupRules",
    "GroupsSettings",
    "HttpSettings",
    "JwtSettings",
    "KafkaSettings",
    "LimitSettings",
    "MetricsSettings",
    "Problem",
    "SecuritySettings",
    "ServeSettings",
    "Settings",
    "SettingsError",
    "TlsSettings",
    "TopicsSettings",
    "examine",
    "java_options",
    "load_settings",
]
