"""iwreplay: record, replay and re-score closed-loop episodes of an egocentric Assistant guiding a Human.

    import iwreplay

    store = iwreplay.open_store("demo-store")

docs/python.md shows the rest. Importing this package stays light: no Arrow, database, renderer or physics is loaded
until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iwreplay.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from iwreplay.notebook import OpenStore

__all__ = ["__version__", "open_store"]


def open_store(path: str | Path, *, mirror: str | Path | None = None) -> OpenStore:
    """The store of episodes in a folder, to look at: a sequence of its episodes, and the tables of its catalogue.

    An address on an object store ("s3://...") is read through a mirror: the folder `mirror`, or one below iw-mirror.
    StoreError when there is no store. Nothing in it is changed but what is made from the logs: the catalogue when it is
    asked, and scores when they are computed. A store that may not be written can be opened too."""
    from iwreplay.notebook import OpenStore

    return OpenStore.at(path, mirror=mirror)
