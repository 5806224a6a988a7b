"""An episode of an object store taken into a store: fetched beside, audited, and put in its place in one step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from iwreplay.errors import RemoteDamagedError, StoreError
from iwreplay.log import check
from iwreplay.remote.manifest import LOG, Manifest, RemoteFile, described, files_beside, joined
from iwreplay.remote.store import RemoteStore
from iwreplay.store import Episode, Store, joined_scores, write_whole

__all__ = ["PullOutcome", "pull_episode", "tidy"]

PullOutcome = Literal["added", "updated", "present"]

#: folder in the store for what has come of episodes that are not whole yet
_COMING = ".pulling"
_SCORES = "scores.json"


def pull_episode(
    remote: RemoteStore, manifest: Manifest, store: Store, *, there: Episode | None, pictures: bool = True
) -> tuple[Episode, PullOutcome]:
    """The episode as it is in the store now, and what was done. `there`: the store has it, with the same log.

    Without `pictures` those that can be drawn again are left where they are. RemoteError and RemoteDamagedError as of
    `RemoteFiles`, RemoteDamagedError too for a log that is not what its manifest says: nothing of it is in the store
    then. What has come of an episode is kept beside, and used by the next pull."""
    files = tuple(f for f in manifest.files if pictures or not f.is_picture)
    if there is not None:
        return there, "updated" if _joined_into(remote, manifest, files, there) else "present"
    coming = store.root / _COMING / manifest.episode
    _locally(coming, lambda: coming.mkdir(parents=True, exist_ok=True))
    for file in (*files, manifest.log):
        _fetched(remote, manifest, file, coming / file.path)
    _drop_others(coming, {f.path for f in (*files, manifest.log)})
    _audit(remote, manifest, coming / LOG)
    return store.take_in_folder(manifest.episode, coming), "added"


def _fetched(remote: RemoteStore, manifest: Manifest, file: RemoteFile, target: Path) -> None:
    """Fetches a file, unless an earlier pull did."""
    if target.is_file() and described(target, file.path) == file:
        return
    _locally(target, lambda: target.parent.mkdir(parents=True, exist_ok=True))
    remote.files.fetch(manifest.object_of(file), target, size=file.bytes, sha256=file.sha256)


def _drop_others(folder: Path, wanted: set[str]) -> None:
    """Takes away what an earlier pull brought of a manifest that was replaced meanwhile."""
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()


def _audit(remote: RemoteStore, manifest: Manifest, log: Path) -> None:
    found = check(log)
    if found.state == "sealed" and found.root_hash == manifest.root_hash:
        return
    log.unlink()
    said = f"the log is {found.state}: {found.problem.what}" if found.problem is not None else f"it is {found.state}"
    if found.problem is None and found.state == "sealed":
        said = f"its root hash is {found.root_hash}, not {manifest.root_hash}"
    raise RemoteDamagedError(
        remote.shown,
        manifest.object_of(manifest.log),
        said,
        hint="Nothing of it was taken in. Push the episode again from a store that has it, with --again.",
    )


def _joined_into(remote: RemoteStore, manifest: Manifest, files: tuple[RemoteFile, ...], there: Episode) -> bool:
    """Brings what only the other side has into an episode of the store. True when there was something."""
    folder = there.folder
    assert folder is not None, "an episode of a store has a folder"
    mine = files_beside(there)
    have = {(f.path, f.sha256) for f in mine}
    new = [f for f in joined(mine, files) if (f.path, f.sha256) not in have]
    for file in new:
        _fetched(remote, manifest, file, folder / file.path)
    theirs = next((f for f in files if f.path == _SCORES), None)
    my = next((f for f in mine if f.path == _SCORES), None)
    if theirs is None or my is None or my.sha256 == theirs.sha256:
        return bool(new)
    aside = folder / f".{_SCORES}.theirs"
    try:
        remote.files.fetch(manifest.object_of(theirs), aside, size=theirs.bytes, sha256=theirs.sha256)
        before = (folder / _SCORES).read_bytes()
        data = joined_scores(aside.read_bytes(), before, episode=there.id)
        if data != before:
            write_whole(folder / _SCORES, data, durable=False)
        return bool(new) or data != before
    except OSError as e:
        raise StoreError(f"the scores of {there.id} can't be kept in {folder}: {e.strerror}") from e
    finally:
        aside.unlink(missing_ok=True)


def tidy(store: Store) -> None:
    """Takes the folder for what is coming away, unless something is in it, for the next pull to use."""
    folder = store.root / _COMING
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _locally(path: Path, work: Callable[[], object]) -> None:
    try:
        work()
    except OSError as e:
        raise StoreError(f"{path} can't be made: {e.strerror}") from e
