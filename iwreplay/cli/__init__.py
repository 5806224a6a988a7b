"""The command line: presentation only. What the commands do is in `iwreplay.app`."""

from __future__ import annotations

__all__: list[str] = []
