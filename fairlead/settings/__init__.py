"""What the operator can set: read from conf/, files, the environment and flags, and checked."""

from fairlead.settings.loading import load_settings
from fairlead.settings.problems import Problem, SettingsError
from fairlead.settings.rules import GroupOverrides, GroupRules
from fairlead.settings.sections import (
    ClientSettings,
    EngineSettings,
    GroupsSettings,
    KafkaSettings,
    MetricsSettings,
    SecuritySettings,
    ServeSettings,
    Settings,
    TopicsSettings,
)

__all__ = [
    "ClientSettings",
    "EngineSettings",
    "GroupOverrides",
    "GroupRules",
    "GroupsSettings",
    "KafkaSettings",
    "MetricsSettings",
    "Problem",
    "SecuritySettings",
    "ServeSettings",
    "Settings",
    "SettingsError",
    "TopicsSettings",
    "load_settings",
]
