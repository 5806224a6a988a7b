"""What belongs to an episode on an object store, and where it lies there.

    URI/iw-store.json                       this is a store, of which version
    URI/episodes/<id>/manifest.json         written last: an episode without one is not there (yet)
    URI/episodes/<id>/<root hash>.arrows    the log
    URI/episodes/<id>/kept/<sha256>.json    what is kept beside it, by its bytes: scores, verdicts, pictures

Only the manifest is ever replaced: whoever reads an older one finds all that it names.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePosixPath

import msgspec

from iwreplay.canonical import struct_hash
from iwreplay.errors import StoreError
from iwreplay.store import Episode, safe_id

__all__ = ["LOG", "PICTURES", "Manifest", "RemoteFile", "decode_manifest", "encode_manifest", "files_beside", "joined"]

MANIFEST_VERSION = 1
LOG = "log.arrows"
#: folders of an episode with pictures only, which can be drawn again from the log
PICTURES = ("frames", "pixels", "seen")
#: of each part of a path; nothing that leads elsewhere, or is a temporary file's
_PART = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9._+-]*")
_VERDICT = re.compile(r"replays/([0-9]{6})/verdict\.json")
_HASH = re.compile(r"[0-9a-f]{64}")


class RemoteFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an episode."""

    #: in the episode's folder, "replays/000001/verdict.json"
    path: str
    bytes: int
    sha256: str

    @property
    def is_picture(self) -> bool:
        return self.path.partition("/")[0] in PICTURES


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """An episode on an object store."""

    episode: str
    #: of its log
    root_hash: str
    events: int
    log: RemoteFile
    #: by path
    files: tuple[RemoteFile, ...] = ()
    #: what became of it, as its log said when it was pushed: for lists only
    status: str = ""
    task: str | None = None
    assistant: str | None = None
    human: str | None = None

    def object_of(self, file: RemoteFile) -> str:
        """Name of a file's object, below the address."""
        if file.path == LOG:
            return f"episodes/{self.episode}/{self.root_hash}.arrows"
        return f"episodes/{self.episode}/kept/{file.sha256}{PurePosixPath(file.path).suffix}"

    @property
    def bytes(self) -> int:
        return self.log.bytes + sum(f.bytes for f in self.files)


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    iw_manifest: int
    #: of the manifest
    digest: str
    manifest: msgspec.Raw


class _Version(msgspec.Struct, frozen=True, kw_only=True):
    iw_manifest: int


def encode_manifest(manifest: Manifest) -> bytes:
    """The same bytes for the same manifest."""
    body = msgspec.Raw(msgspec.json.encode(manifest))
    kept = _Kept(iw_manifest=MANIFEST_VERSION, digest=struct_hash(manifest), manifest=body)
    return msgspec.json.encode(kept) + b"\n"


def decode_manifest(data: bytes, *, episode: str) -> Manifest | str:
    """The manifest, or why it can't be used."""
    try:
        version = msgspec.json.decode(data, type=_Version).iw_manifest
        if version > MANIFEST_VERSION:
            return f"its version {version} is newer than {MANIFEST_VERSION}, the newest that this build reads"
        kept = msgspec.json.decode(data, type=_Kept)
        found = msgspec.json.decode(kept.manifest, type=Manifest)
    except msgspec.MsgspecError as e:
        return f"it is damaged: {e}"
    if struct_hash(found) != kept.digest:
        return "it is damaged: it is not what was written (digest)"
    files = (found.log, *found.files)
    good = (
        found.episode == episode == safe_id(episode)
        and _HASH.fullmatch(found.root_hash)
        and found.log.path == LOG
        and all(f.path != LOG and _is_plain(f.path) for f in found.files)
        and len({f.path for f in files}) == len(files)
        and all(_HASH.fullmatch(f.sha256) and f.bytes >= 0 for f in files)
    )
    return found if good else "it names what does not belong to the episode"


def files_beside(episode: Episode) -> tuple[RemoteFile, ...]:
    """What is kept beside an episode's log in its store, by path. Temporary files and links are not."""
    folder = episode.folder
    assert folder is not None, "an episode of a store has a folder"
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file() or path.name.startswith(LOG) or not _is_plain(inside):
            continue
        found.append(described(path, inside))
    return tuple(found)


def described(path: Path, inside: str) -> RemoteFile:
    """A file of this machine under its path in the episode's folder. StoreError when it can't be read."""
    try:
        with path.open("rb") as f:
            digest = hashlib.file_digest(f, "sha256")
            return RemoteFile(path=inside, bytes=f.tell(), sha256=digest.hexdigest())
    except OSError as e:
        raise StoreError(f"{path} can't be read: {e.strerror or e}") from e


def joined(there: tuple[RemoteFile, ...], new: tuple[RemoteFile, ...]) -> tuple[RemoteFile, ...]:
    """What is there with what is new, by path. Nothing that is there is replaced: a verdict with a number that another
    one has gets the next one that is free, and any other file stays as it is there."""
    found = {f.path: f for f in there}
    verdicts = {f.sha256 for f in there if _VERDICT.fullmatch(f.path)}
    for file in new:
        if not _VERDICT.fullmatch(file.path):
            found.setdefault(file.path, file)
        elif file.sha256 not in verdicts:
            numbers = [int(m[1]) for p in found if (m := _VERDICT.fullmatch(p))]
            path = file.path if file.path not in found else f"replays/{max(numbers) + 1:06d}/verdict.json"
            found[path] = msgspec.structs.replace(file, path=path)
    return tuple(found[p] for p in sorted(found))


def _is_plain(path: str) -> bool:
    return all(_PART.fullmatch(part) for part in path.split("/"))
