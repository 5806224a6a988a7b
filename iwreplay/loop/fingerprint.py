"""What can change a bit of an episode besides its inputs: versions and machine type, never host names or paths."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from iwreplay.version import __version__

__all__ = ["FINGERPRINT_PACKAGES", "environment_fingerprint"]

#: packages whose version is part of the fingerprint
FINGERPRINT_PACKAGES: tuple[str, ...] = ("mujoco-core", "numba", "numpy", "pillow", "msgspec")


def environment_fingerprint() -> dict[str, str]:
    """Name -> value, sorted: python, system, machine, and each package ("absent" when it is not installed)."""
    found = {
        "iwreplay": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.system(),
        "machine": platform.machine(),
    }
    for package in FINGERPRINT_PACKAGES:
        try:
            found[f"package:{package}"] = version(package)
        except PackageNotFoundError:
            found[f"package:{package}"] = "absent"
    return dict(sorted(found.items()))
