"""An episode of a store put on an object store: its log, what is kept beside it, and its manifest last."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from iwreplay.canonical import sha256_hex
from iwreplay.remote.manifest import LOG, Manifest, RemoteFile, described, files_beside, joined
from iwreplay.remote.store import RemoteStore
from iwreplay.store import Episode, joined_scores

__all__ = ["PushOutcome", "push_episode"]

PushOutcome = Literal["added", "updated", "present"]

_SCORES = "scores.json"


def push_episode(
    episode: Episode, remote: RemoteStore, *, about: Manifest, there: Manifest | None, again: bool = False
) -> tuple[Manifest, PushOutcome]:
    """The manifest as it is now, and what was done. `about` names the log; `there` is the manifest that is there, of
    the same log.

    What is there already, whole, is not sent again, unless `again`; what only the other side has stays. RemoteError as
    of `RemoteFiles`; the episode is then as it was there, and what was sent is used by the next push."""
    assert there is None or there.root_hash == about.root_hash, "another log is never overwritten"
    folder = episode.folder
    assert folder is not None, "an episode of a store has a folder"
    log = described(episode.log, LOG) if there is None or again else there.log
    mine = files_beside(episode)
    contents: dict[str, bytes] = {}
    if there is not None:
        mine = _with_their_scores(mine, folder, remote, there, contents)
    now = msgspec.structs.replace(about, log=log, files=joined(_but_scores(there) if there is not None else (), mine))
    if now == there and not again:
        return now, "present"
    sources = {f.sha256: folder / f.path for f in mine}
    known = {f.sha256 for f in there.files} if there is not None else set()
    if there is None or again:
        _send(remote, now, log, episode.log, again=again)
    for file in now.files:
        if file.sha256 in contents:
            remote.files.put(now.object_of(file), contents[file.sha256])
        elif file.sha256 in sources and (again or file.sha256 not in known):
            _send(remote, now, file, sources[file.sha256], again=again)
    remote.put_manifest(now)
    return now, "added" if there is None else "updated" if now != there else "present"


def _send(remote: RemoteStore, manifest: Manifest, file: RemoteFile, source: Path, *, again: bool) -> None:
    name = manifest.object_of(file)
    if again or remote.files.size(name) != file.bytes:
        remote.files.upload(name, source, size=file.bytes, sha256=file.sha256)


def _but_scores(manifest: Manifest) -> tuple[RemoteFile, ...]:
    return tuple(f for f in manifest.files if f.path != _SCORES)


def _with_their_scores(
    mine: tuple[RemoteFile, ...], folder: Path, remote: RemoteStore, there: Manifest, contents: dict[str, bytes]
) -> tuple[RemoteFile, ...]:
    """My files, with the scores of both sides; their bytes are put into `contents`."""
    theirs = next((f for f in there.files if f.path == _SCORES), None)
    my = next((f for f in mine if f.path == _SCORES), None)
    if theirs is None or (my is not None and my.sha256 == theirs.sha256):
        return mine
    if my is None:
        return (*mine, theirs)
    raw = remote.files.read(there.object_of(theirs))
    if raw is None or sha256_hex(raw) != theirs.sha256:
        # they can be computed again, and mine are whole
        return mine
    data = joined_scores(raw, (folder / _SCORES).read_bytes(), episode=there.episode)
    both = RemoteFile(path=_SCORES, bytes=len(data), sha256=sha256_hex(data))
    contents[both.sha256] = data
    return (*(f for f in mine if f.path != _SCORES), both)
