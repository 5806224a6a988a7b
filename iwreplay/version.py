"""The version of this build, where every part can read it without the package's surface."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
