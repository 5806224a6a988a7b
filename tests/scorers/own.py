"""Scorer files for tests."""

from __future__ import annotations

from pathlib import Path

__all__ = ["HEAD", "SAMPLES", "written"]

SAMPLES = Path(__file__).resolve().parents[2] / "episodes" / "samples"
HEAD = "VERSION = 1\n"


def written(folder: Path, body: str, *, name: str = "mine", head: str = HEAD) -> Path:
    """A file NAME.py in `folder`: the head, then the body."""
    path = folder / f"{name}.py"
    path.write_text(head + body, encoding="utf-8")
    return path
