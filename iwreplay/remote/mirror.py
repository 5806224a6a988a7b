"""A store on an object store, mirrored into a folder to be read: a cache that follows the other side.

    DIR/iw-mirror.json    of which address, and which manifest of each episode was taken in
    DIR/...               a store like any other

Only what changed is fetched: an episode whose manifest is the one that was taken in, and whose log has the size that it
names, is as it was. Scores that are computed in the mirror stay in it. Pictures are left where they are.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import filelock
import msgspec

from iwreplay.errors import LogError, StoreDamagedError, StoreError
from iwreplay.log import read_log
from iwreplay.remote.annotating import pull_annotations
from iwreplay.remote.manifest import Manifest
from iwreplay.remote.pulling import pull_episode, tidy
from iwreplay.remote.store import RemoteStore
from iwreplay.remote.together import together
from iwreplay.store import MARKER, Episode, Store, write_whole

__all__ = ["Mirror"]

_RECORD = "iw-mirror.json"
#: how long to wait for another process that brings the mirror up to date, seconds
_WAIT_S = 600.0


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    iw_mirror: int
    address: str
    #: hash of the manifest that was taken in, by episode
    taken: dict[str, str] = {}


class Mirror:
    """The mirror of one address in one folder."""

    def __init__(self, remote: RemoteStore, folder: Path) -> None:
        self.remote, self.folder = remote, folder

    def follow(self, *, made_by: str, progress: Callable[[int, int], None] = lambda done, of: None) -> Store:
        """Brings the folder up to date, and gives the store that it is. RemoteError when the other side can't be
        reached: what the folder has is not taken for what is there. StoreError when the folder is something else.
        What came before an error stays."""
        self.remote.check()
        taken = dict(self._record().taken)
        store = Store.open_or_make(self.folder, made_by=made_by)
        try:
            with filelock.FileLock(self.folder / f".{_RECORD}.lock").acquire(timeout=_WAIT_S):
                self._bring_up_to_date(store, taken, progress)
        except filelock.Timeout as e:
            raise StoreError(f"another process has been at work on the mirror {self.folder} for {_WAIT_S:.0f} s") from e
        except OSError as e:
            raise StoreError(
                f"the mirror {self.folder} can't be written: {e.strerror or e}; give another --mirror"
            ) from e
        return store

    def _bring_up_to_date(self, store: Store, taken: dict[str, str], progress: Callable[[int, int], None]) -> None:
        self._keep(taken)
        manifests = self.remote.manifests()
        here = {e.id: e for e in store.episodes()}
        for gone in set(here) - set(manifests):
            self._drop(here.pop(gone), taken)
        todo = []
        for name, (manifest, digest) in manifests.items():
            there = here.get(name)
            if there is not None and not _is_log_of(there, manifest):
                self._drop(there, taken)
                there = None
            if there is None or taken.get(name) != digest:
                todo.append((manifest, digest, there))

        def take(item: tuple[Manifest, str, Episode | None]) -> None:
            manifest, digest, there = item
            pull_episode(self.remote, manifest, store, there=there, pictures=False)
            taken[manifest.episode] = digest

        try:
            together(take, todo, stopped=self.remote.files.stopped, progress=progress)
        finally:
            self._keep(taken)
        tidy(store)
        pull_annotations(store, self.remote, {m.root_hash for m, _ in manifests.values()})

    def _drop(self, episode: Episode, taken: dict[str, str]) -> None:
        taken.pop(episode.id, None)
        self._keep(taken)
        assert episode.folder is not None
        shutil.rmtree(episode.folder)

    def _record(self) -> _Record:
        """Of a folder that is a mirror of this address, or is to become one."""
        path = self.folder / _RECORD
        try:
            found = msgspec.json.decode(path.read_bytes(), type=_Record)
        except FileNotFoundError:
            if self.folder.exists() and any(p.name != MARKER for p in self.folder.iterdir() if not _is_empty(p)):
                raise StoreError(
                    f"{self.folder} is no mirror, and not empty; give another folder with --mirror"
                ) from None
            return _Record(iw_mirror=1, address=self.remote.shown)
        except msgspec.MsgspecError as e:
            raise StoreDamagedError(f"{path} is damaged ({e}); delete the mirror {self.folder}, it is made anew") from e
        except OSError as e:
            raise StoreError(f"the mirror {self.folder} can't be read: {e.strerror}") from e
        if found.address != self.remote.shown:
            raise StoreError(
                f"{self.folder} is the mirror of {found.address}, not of {self.remote.shown}; give another folder with "
                "--mirror"
            )
        return found

    def _keep(self, taken: dict[str, str]) -> None:
        record = _Record(iw_mirror=1, address=self.remote.shown, taken=dict(sorted(taken.items())))
        write_whole(self.folder / _RECORD, msgspec.json.encode(record) + b"\n", durable=False)


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _is_log_of(episode: Episode, manifest: Manifest) -> bool:
    """Whether the log here is the one there. It was audited when it came; its name says which it was."""
    try:
        with read_log(episode.log) as log:
            return log.sealed_root == manifest.root_hash
    except LogError:
        return False
