"""Scenes, object classes and tasks as data. Nothing here runs; `root` says where the files are."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["root"]


def root() -> Traversable:
    """Folder with objects/, scenes/ and one folder for each task family."""
    return files(__name__)
