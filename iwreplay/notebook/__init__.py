"""Stores and episodes for Python, as `iwreplay.open_store` gives them. docs/python.md shows all of it."""

from __future__ import annotations

from iwreplay.notebook.episode import OpenEpisode
from iwreplay.notebook.store import OpenStore

__all__ = ["OpenEpisode", "OpenStore"]
