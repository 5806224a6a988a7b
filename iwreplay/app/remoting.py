"""Stores on object stores: pushed to, pulled from, listed, and mirrored for whoever reads."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from iwreplay.app.episodes import find_episodes, look_at
from iwreplay.app.importing import root_of
from iwreplay.canonical import sha256_hex
from iwreplay.catalogue import Catalogue
from iwreplay.catalogue.exporting import Exported, check_target, export
from iwreplay.errors import AmbiguousNameError, QueryError, StoreError, UnknownNameError
from iwreplay.log import check
from iwreplay.log.files import WriterLock
from iwreplay.remote import (
    PATIENCE,
    Manifest,
    Mirror,
    Patience,
    RemoteFile,
    RemoteFiles,
    RemoteStore,
    is_address,
    parse_address,
    pull_annotations,
    pull_episode,
    push_annotations,
    push_episode,
    tidy,
    together,
)
from iwreplay.remote.manifest import LOG, described
from iwreplay.store import Episode, Store, safe_id
from iwreplay.version import __version__

__all__ = [
    "Moved",
    "RemoteListed",
    "export_to",
    "is_address",
    "list_remote",
    "mirror_folder",
    "mirrored",
    "pull_episodes",
    "push_episodes",
    "refuse_writing",
]

Progress = Callable[[int, int], None]

_MADE_BY = f"iwreplay {__version__}"
_MIRRORS = Path("iw-mirror")


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one episode in a push or a pull."""

    episode: str
    #: added, updated (what is kept beside its log), present (nothing was to do), or left out
    outcome: str
    root_hash: str | None
    events: int
    #: with its log; and bytes of all of them
    files: int
    bytes: int
    #: records of annotators about its log that are new where it went
    annotations: int = 0
    #: why it was left out
    reason: str = ""


class RemoteListed(msgspec.Struct, frozen=True, kw_only=True):
    """An episode on an object store, as its manifest says."""

    episode: str
    task: str | None
    assistant: str | None
    human: str | None
    #: see `iwreplay.store.STATUSES`, as of when it was pushed
    status: str
    events: int
    files: int
    bytes: int
    root_hash: str


def push_episodes(
    store: Path,
    address: str,
    wanted: tuple[str, ...] = (),
    *,
    again: bool = False,
    patience: Patience = PATIENCE,
    progress: Progress = lambda done, of: None,
) -> tuple[Moved, ...]:
    """Puts sealed, intact episodes (all of the store when none is named) on an object store, each visible once it is
    whole. What is not sealed or damaged is left out, and is an error when it was named. `again` sends what is there
    already once more.

    StoreError when another log has an episode's name there; nothing was pushed then. RemoteError when the other side
    can't be reached or refuses: what was pushed until then is there, and the same push goes on from there.
    """
    episodes = find_episodes(store, wanted)
    remote = _remote(address, patience)
    remote.make(made_by=_MADE_BY)
    there = {name: m for name, (m, _) in remote.manifests().items()}
    named = {m.root_hash: name for name, m in there.items()}
    left_out, todo = {}, []
    for episode in episodes:
        about = _described(episode, known=there.get(episode.id))
        if isinstance(about, str):
            if wanted:
                raise StoreError(f"{episode.id} is not pushed: {about}")
            left_out[episode.id] = about
            continue
        _refuse_another(episode.id, about.root_hash, there.get(episode.id), named, remote, where=f"the store {store}")
        todo.append((episode, about))

    def push(item: tuple[Episode, Manifest]) -> Moved:
        episode, about = item
        now, outcome = push_episode(episode, remote, about=about, there=there.get(episode.id), again=again)
        return _moved(now, outcome)

    done = together(push, todo, stopped=remote.files.stopped, progress=progress)
    said = push_annotations(Store.open(store), remote, {about.root_hash for _, about in todo}) if todo else Counter()
    found = {m.episode: _with_annotations(m, said) for m in done} | {
        name: Moved(episode=name, outcome="left out", root_hash=None, events=0, files=0, bytes=0, reason=why)
        for name, why in left_out.items()
    }
    return tuple(found[e.id] for e in episodes)


def pull_episodes(
    store: Path,
    address: str,
    wanted: tuple[str, ...] = (),
    *,
    patience: Patience = PATIENCE,
    progress: Progress = lambda done, of: None,
) -> tuple[Moved, ...]:
    """Takes episodes (all that are there when none is named) from an object store into a store, made when there is
    none; each is audited, and appears in one step.

    StoreError when another log has an episode's name in the store, or the same log another name; nothing was pulled
    then. RemoteError and RemoteDamagedError as of `push_episodes`; what was pulled until then is in the store.
    """
    remote = _remote(address, patience)
    remote.check()
    manifests = {name: m for name, (m, _) in remote.manifests().items()}
    chosen = [manifests[name] for name in _chosen(tuple(manifests), wanted, remote)]
    opened = Store.open_or_make(store, made_by=_MADE_BY)
    lock = WriterLock(opened.root / ".pulling")
    lock.acquire()
    try:
        here = {e.id: (e, root_of(e)) for e in opened.episodes()}
        named = {root: name for name, (_, root) in here.items() if root is not None}
        for m in chosen:
            _refuse_another_here(m, here, named, remote, store)

        def pull(manifest: Manifest) -> Moved:
            there = here.get(manifest.episode)
            _, outcome = pull_episode(remote, manifest, opened, there=None if there is None else there[0])
            return _moved(manifest, outcome)

        done = together(pull, chosen, stopped=remote.files.stopped, progress=progress)
        tidy(opened)
        said = pull_annotations(opened, remote, {m.root_hash for m in chosen})
        return tuple(_with_annotations(m, said) for m in done)
    finally:
        lock.release(remove=True)


def list_remote(
    address: str, *, patience: Patience = PATIENCE, progress: Progress = lambda done, of: None
) -> tuple[RemoteListed, ...]:
    """Every episode that is whole there, by id; nothing but their manifests is read."""
    remote = _remote(address, patience)
    remote.check()
    return tuple(
        RemoteListed(
            episode=m.episode,
            task=m.task,
            assistant=m.assistant,
            human=m.human,
            status=m.status,
            events=m.events,
            files=1 + len(m.files),
            bytes=m.bytes,
            root_hash=m.root_hash,
        )
        for m, _ in remote.manifests(progress=progress).values()
    )


def mirror_folder(address: str) -> Path:
    """Where the mirror of an address is unless another place is given: below the current folder."""
    shown = parse_address(address)
    return _MIRRORS / f"{safe_id(shown.path.strip('/').replace('/', '-'))[:60]}-{sha256_hex(shown.shown.encode())[:8]}"


def mirrored(
    address: str,
    folder: Path | None = None,
    *,
    patience: Patience = PATIENCE,
    progress: Progress = lambda done, of: None,
) -> Path:
    """A store that is as the one at the address is, for whoever reads. Only what changed is fetched."""
    remote = _remote(address, patience)
    where = folder if folder is not None else mirror_folder(address)
    return Mirror(remote, where).follow(made_by=_MADE_BY, progress=progress).root


def export_to(
    catalogue: Catalogue,
    sql: str,
    address: str,
    *,
    replace: bool = False,
    patience: Patience = PATIENCE,
    progress: Callable[[int], None] = lambda rows: None,
) -> Exported:
    """As `iwreplay.catalogue.exporting.export`, to an object: it is made here whole, and sent once it is. QueryError
    as there, RemoteError when the other side can't be reached or refuses."""
    parsed = parse_address(address)
    folder, name = parsed.split
    if not folder.path:
        raise QueryError(f"{parsed.shown} names no file in a bucket; give one like s3://BUCKET/FOLDER/answer.parquet")
    files = RemoteFiles(folder, patience=patience)
    with tempfile.TemporaryDirectory(prefix="iwreplay-") as here:
        made = Path(here) / name
        check_target(made)
        (there,) = together(files.size, (name,), stopped=files.stopped)
        if there is not None and not replace:
            raise QueryError(f"{parsed.shown} is there already; with --replace it is replaced; nothing was written")
        done = export(catalogue, sql, made, progress=progress)
        file = described(made, name)
        together(lambda n: files.upload(n, made, size=file.bytes, sha256=file.sha256), (name,), stopped=files.stopped)
    return msgspec.structs.replace(done, file=parsed.shown)


def refuse_writing(address: str) -> None:
    """StoreError: what writes episodes writes them into a folder."""
    parsed = parse_address(address)
    raise StoreError(
        f"{parsed.shown} is on an object store, which this command does not write to: give a folder with --store, and "
        f"put its episodes there afterwards, with: iwreplay store push {parsed.quoted} --store DIR"
    )


def _remote(address: str, patience: Patience) -> RemoteStore:
    return RemoteStore(RemoteFiles(parse_address(address), patience=patience))


def _described(episode: Episode, *, known: Manifest | None) -> Manifest | str:
    """What is to be said of an episode, but for its files; or why it can't be pushed."""
    if episode.folder is None:
        return "it is in no store; take it into one first, with: iwreplay log import"
    if safe_id(episode.id) != episode.id or episode.id.startswith("."):
        return "its folder has no name that episodes have"
    if known is not None and root_of(episode) == known.root_hash:
        # it was audited when it was pushed first
        return known
    if not episode.begun:
        return "no event of it was committed"
    found = check(episode.log)
    if found.problem is not None:
        return f"its log is {found.state} ({found.problem.what}); see: iwreplay log recover {episode.id}"
    if found.state != "sealed":
        return f"it is not sealed: its recorder is at work, or was killed; then: iwreplay log seal {episode.id}"
    assert found.root_hash is not None, "a sealed log has a root hash"
    listed = look_at(episode)
    return Manifest(
        episode=episode.id,
        root_hash=found.root_hash,
        events=found.events,
        log=RemoteFile(path=LOG, bytes=0, sha256=""),
        status=listed.status,
        task=listed.task,
        assistant=listed.assistant,
        human=listed.human,
    )


def _refuse_another(
    episode: str, root: str, there: Manifest | None, named: dict[str, str], remote: RemoteStore, *, where: str
) -> None:
    if there is not None and there.root_hash != root:
        raise StoreError(
            f"{remote.shown} has another log called {episode}, with root hash {there.root_hash}; the one in {where} "
            f"has {root}. Nothing is overwritten, and nothing was pushed: push to another address"
        )
    if named.get(root, episode) != episode:
        raise StoreError(
            f"{remote.shown} has the log of {episode} already, as {named[root]} (root hash {root}); an episode that is "
            "counted twice spoils every answer. Nothing was pushed"
        )


def _refuse_another_here(
    m: Manifest,
    here: dict[str, tuple[Episode, str | None]],
    named: dict[str, str],
    remote: RemoteStore,
    store: Path,
) -> None:
    if m.episode in here and here[m.episode][1] != m.root_hash:
        raise StoreError(
            f"{store} has another log called {m.episode}, with root hash {here[m.episode][1] or 'none (damaged)'}; "
            f"the one at {remote.shown} has {m.root_hash}. Nothing is overwritten, and nothing was pulled: pull into "
            "another folder with --store"
        )
    if named.get(m.root_hash, m.episode) != m.episode:
        raise StoreError(
            f"{store} has the log of {m.episode} already, as {named[m.root_hash]} (root hash {m.root_hash}); an "
            "episode that is counted twice spoils every answer. Nothing was pulled"
        )


def _chosen(ids: tuple[str, ...], wanted: tuple[str, ...], remote: RemoteStore) -> tuple[str, ...]:
    """Each one named by its id or a unique beginning of it, once; all when none is named."""
    if not wanted:
        return ids
    chosen = []
    for name in wanted:
        fits = [i for i in ids if i == name] or [i for i in ids if name and i.startswith(name)]
        if not fits:
            raise UnknownNameError(
                "episode", name, known=ids, hint=f"All: iwreplay store list {remote.files.address.quoted}"
            )
        if len(fits) > 1:
            raise AmbiguousNameError("episode", name, fits=tuple(fits))
        chosen += fits
    return tuple(dict.fromkeys(chosen))


def _with_annotations(moved: Moved, said: Counter[str]) -> Moved:
    new = said[moved.root_hash or ""]
    outcome = "updated" if new and moved.outcome == "present" else moved.outcome
    return msgspec.structs.replace(moved, annotations=new, outcome=outcome)


def _moved(m: Manifest, outcome: str) -> Moved:
    return Moved(
        episode=m.episode,
        outcome=outcome,
        root_hash=m.root_hash,
        events=m.events,
        files=1 + len(m.files),
        bytes=m.bytes,
    )
