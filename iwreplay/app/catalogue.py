"""The catalogue of a store, with the scorers of this build."""

from __future__ import annotations

from pathlib import Path

from iwreplay.app.scoring import scorer_hashes
from iwreplay.catalogue import Catalogue
from iwreplay.store import Store

__all__ = ["open_catalogue"]


def open_catalogue(store: Path, *, folder: Path | None = None) -> Catalogue:
    """The file is in the store, or in `folder`. StoreError when `store` is not one."""
    return Catalogue(Store.open(store), scorers=scorer_hashes(), folder=folder)
