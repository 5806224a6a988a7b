"""The composition root: the one place that puts recorder, replayer, scorers and task packs together.

The command line presents what these modules do; each can be called as a function too.
"""

from __future__ import annotations

__all__: list[str] = []
