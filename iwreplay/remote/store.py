"""A store on an object store: which episodes there are."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from iwreplay.canonical import sha256_hex
from iwreplay.errors import RemoteDamagedError, RemoteError, StoreDamagedError
from iwreplay.remote.files import RemoteFiles
from iwreplay.remote.manifest import Manifest, decode_manifest, encode_manifest
from iwreplay.remote.together import together
from iwreplay.store import MARKER, STORE_VERSION, decode_marker, encode_marker, natural

__all__ = ["RemoteStore"]


class RemoteStore:
    """A store below one address."""

    def __init__(self, files: RemoteFiles) -> None:
        self.files = files

    @property
    def shown(self) -> str:
        """The address, without credentials."""
        return self.files.address.shown

    def check(self) -> None:
        """RemoteError when there is no store, StoreDamagedError when it is from the future or damaged."""
        # in a thread, as all that asks the other side, so that Ctrl-C does not wait for it
        together(lambda _: self._check(), (None,), stopped=self.files.stopped)

    def make(self, *, made_by: str) -> None:
        """Makes the store when there is none."""
        together(lambda _: self._make(made_by), (None,), stopped=self.files.stopped)

    def _check(self) -> None:
        raw = self.files.read(MARKER)
        if raw is None:
            self.files.check_bucket()
            raise RemoteError(
                self.shown,
                f"there is no episode store: no {MARKER}",
                hint=f"Mend the address, or make one: iwreplay store push {self.files.address.quoted} --store DIR",
            )
        try:
            version = decode_marker(raw)
        except msgspec.MsgspecError as e:
            raise StoreDamagedError(f"the marker of the store {self.shown} is damaged ({e}): push into it again") from e
        if version > STORE_VERSION:
            raise StoreDamagedError(
                f"the store {self.shown} has version {version}, newer than {STORE_VERSION}, the newest that this build "
                "reads; upgrade iwreplay"
            )

    def _make(self, made_by: str) -> None:
        try:
            self._check()
        except RemoteError as e:
            if MARKER not in e.reason:
                raise
            self.files.put(MARKER, encode_marker(made_by=made_by))

    def manifests(
        self, *, progress: Callable[[int, int], None] = lambda done, of: None
    ) -> dict[str, tuple[Manifest, str]]:
        """Every episode that is whole there, by id in natural order: its manifest, and the hash of that. One small
        request an episode. RemoteDamagedError for a manifest that can't be used."""
        (folders,) = together(lambda _: self.files.folders("episodes"), (None,), stopped=self.files.stopped)
        ids = sorted(folders, key=natural)
        found = together(self.manifest, ids, stopped=self.files.stopped, progress=progress)
        return {i: m for i, m in zip(ids, found, strict=True) if m is not None}

    def manifest(self, episode: str) -> tuple[Manifest, str] | None:
        """One episode's manifest and the hash of it; None when the episode is not there, or not whole yet."""
        name = manifest_name(episode)
        raw = self.files.read(name)
        if raw is None:
            return None
        found = decode_manifest(raw, episode=episode)
        if isinstance(found, str):
            raise RemoteDamagedError(
                self.shown, name, found, hint="Delete that object and push the episode again; its log stays as it is."
            )
        return found, sha256_hex(raw)

    def put_manifest(self, manifest: Manifest) -> None:
        """Makes an episode visible, as the manifest says. RemoteError when another log got that name meanwhile."""
        self.files.put(manifest_name(manifest.episode), encode_manifest(manifest))
        now = self.manifest(manifest.episode)
        if now is None or now[0].root_hash != manifest.root_hash:
            raise RemoteError(
                self.shown,
                f"{manifest.episode} was pushed by somebody else at the same time, another log",
                hint="Push it again: then the two are compared.",
            )


def manifest_name(episode: str) -> str:
    """Name of a manifest's object, below the address."""
    return f"episodes/{episode}/manifest.json"
