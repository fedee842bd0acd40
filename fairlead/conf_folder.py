"""The folder of defaults and profiles. It imports nothing, since shell completion uses it."""

from pathlib import Path

import fairlead

__all__ = ["conf_directory", "profiles"]


def conf_directory() -> Path:
    """Return the folder of defaults and profiles: in the wheel, or else beside the package."""
    package = Path(fairlead.__file__).resolve().parent
    inside = package / "conf"
    return inside if inside.is_dir() else package.parent / "conf"


def profiles() -> list[str]:
    """Return the names of the profiles, without ``default``."""
    return sorted({file.stem for file in conf_directory().glob("*.toml")} - {"default"})
