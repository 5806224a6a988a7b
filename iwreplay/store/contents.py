"""What was sent to models, kept beside a log: `<sha256 of its bytes>.json` for a request, `.png` for a picture in it.

The log refers to a request by its hash, and a request to its pictures by theirs, so that each is kept once.
"""

from __future__ import annotations

from pathlib import Path

from iwreplay.errors import StoreError
from iwreplay.store.directory import write_whole

__all__ = ["Contents"]


class Contents:
    """The contents kept in one folder, which is made when something is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, data: bytes, *, sha256: str, kind: str) -> None:
        """Keeps bytes that have that hash, once. `kind` ends the name of their file: "json", "png". StoreError when the
        disk refuses; nothing half-written is left."""
        path = self._path(sha256, kind)
        if path.exists():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # pictures can be drawn again from the log; a request is all that there is of it
            write_whole(path, data, durable=kind == "json")
        except OSError as e:
            raise StoreError(f"what was sent to a model can't be kept in {self.folder}: {e.strerror}") from e

    def get(self, sha256: str, *, kind: str) -> bytes | None:
        """What is there under that name, None when nothing is. Whether it is what was kept, its hash says: whoever
        reads it asks."""
        path = self._path(sha256, kind)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as e:
            raise StoreError(f"{path} can't be read: {e.strerror}") from e

    def _path(self, sha256: str, kind: str) -> Path:
        return self.folder / f"{sha256}.{kind}"
