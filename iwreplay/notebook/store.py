"""A store to look at: its episodes, and its catalogue as Arrow tables and data frames."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iwreplay.app.catalogue import open_catalogue
from iwreplay.app.remoting import is_address, mirrored
from iwreplay.app.scoring import ScoreLine, score_episodes
from iwreplay.catalogue import Catalogue, question, table_names
from iwreplay.errors import CatalogueReadOnlyError, MissingLibraryError, UnknownNameError
from iwreplay.notebook.episode import OpenEpisode
from iwreplay.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["OpenStore"]


class OpenStore:
    """A store. Iterating gives its episodes by id; `store["V06-oracle"]` is the one whose id begins so."""

    def __init__(self, store: Store) -> None:
        self._store = store
        #: nothing is kept in it: scores are computed each time, and the catalogue is made in a temporary folder
        self.read_only = not all(os.access(p, os.W_OK) for p in (store.root, store.episodes_dir) if p.exists())

    @classmethod
    def at(cls, path: str | Path, *, mirror: str | Path | None = None) -> OpenStore:
        """The store in that folder, or the mirror of that address as it is now. StoreError when there is none."""
        if isinstance(path, str) and is_address(path):
            return cls(Store.open(mirrored(path, None if mirror is None else Path(mirror))))
        return cls(Store.open(Path(path)))

    def __repr__(self) -> str:
        return f"<store {self.path}>"

    @property
    def path(self) -> Path:
        return self._store.root

    def __iter__(self) -> Iterator[OpenEpisode]:
        return (self._opened(e.id) for e in self._store.episodes())

    def __len__(self) -> int:
        return sum(1 for _ in self._store.episodes())

    def __getitem__(self, wanted: str) -> OpenEpisode:
        """The episode of that id or unique beginning of one. UnknownNameError names what there is."""
        return self._opened(wanted)

    def _opened(self, wanted: str) -> OpenEpisode:
        return OpenEpisode(self._store.find(wanted), store=self.path, keep=not self.read_only)

    def query(self, sql: str) -> pa.Table:
        """The answer to one SELECT over the catalogue (docs/catalogue.md), which is brought up to date first.
        QueryError for anything else, or when DuckDB refuses it."""
        with self._catalogue as catalogue:
            catalogue.refresh()
            return catalogue.arrow(sql)

    def ask(self, name: str) -> pa.Table:
        """The answer to a named question (`iwreplay query --list`). UnknownNameError lists them."""
        return self.query(question(name).sql)

    def table(self, name: str) -> pa.Table:
        """A whole table of the catalogue, by its columns in order. UnknownNameError when there is no such table."""
        if name not in table_names():
            raise UnknownNameError("table", name, known=table_names())
        return self.query(f"SELECT * FROM {name} ORDER BY ALL")

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables of the catalogue."""
        return table_names()

    def df(self, sql: str) -> Any:
        """`query` as a pandas DataFrame. MissingLibraryError when pandas is not installed."""
        try:
            import pandas as _  # noqa: F401
        except ModuleNotFoundError as e:
            raise MissingLibraryError("pandas", "a DataFrame", way="pip install pandas, or use query: Arrow") from e
        return self.query(sql).to_pandas()

    def score(self, *scorers: str) -> tuple[ScoreLine, ...]:
        """Scores every episode under these scorers, all if none is named; incremental, as `iwreplay score` is."""
        return score_episodes(self.path, scorers=scorers, keep=not self.read_only) if len(self) else ()

    @cached_property
    def _catalogue(self) -> Catalogue:
        """In the store; in a temporary folder when it may not be written and what is there is out of date."""
        catalogue = open_catalogue(self.path)
        try:
            catalogue.refresh()
        except CatalogueReadOnlyError:
            folder = tempfile.mkdtemp(prefix="iwreplay-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            return open_catalogue(self.path, folder=Path(folder))
        return catalogue
