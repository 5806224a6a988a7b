"""Taking logs that come from elsewhere into a store."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from iwreplay.app.scoring import score_episode
from iwreplay.errors import EventError, LogCorruptError, LogError, StoreError
from iwreplay.log import check, read_log
from iwreplay.store import Episode, Store, log_at, safe_id
from iwreplay.version import __version__

__all__ = ["ImportedEpisode", "import_logs", "root_of"]


class ImportedEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """One log that is in the store now, scored."""

    episode: str
    #: added, or present (the same log was there under this name; nothing was written)
    outcome: str
    #: where it came from
    source: str
    log: str
    root_hash: str
    events: int
    #: None when the episode is not whole and valid
    passed: bool | None
    mcr: float | None


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    source: Path
    id: str
    root_hash: str
    events: int
    present: bool = False


def import_logs(
    store: Path, files: tuple[str, ...], *, progress: Callable[[int, int], None] = lambda done, of: None
) -> tuple[ImportedEpisode, ...]:
    """Copies logs into the store, made when there is none, and scores them. A log is named after its file, or after
    its folder when the file is called log.arrows.

    All of them are audited before the first is copied. LogCorruptError for a damaged one; StoreError for one that is
    not a file or not sealed, for a name that another log has, and for a log that is there under another name.
    """
    wanted = tuple({w.source.resolve(): w for w in (_audited(f) for f in files)}.values())
    plan = _planned(store, wanted)
    opened = Store.open_or_make(store, made_by=f"iwreplay {__version__}")
    done = []
    for n, item in enumerate(plan, start=1):
        episode = opened.find(item.id) if item.present else _copied(opened, item)
        values = {line.metric: line.value for line in score_episode(episode)}
        passed = values["pass"]
        done.append(
            ImportedEpisode(
                episode=item.id,
                outcome="present" if item.present else "added",
                source=str(item.source),
                log=str(episode.log),
                root_hash=item.root_hash,
                events=item.events,
                passed=None if passed is None else passed == 1.0,
                mcr=values["mcr"],
            )
        )
        progress(n, len(plan))
    return tuple(done)


def _audited(file: str) -> _Wanted:
    named = log_at(file)
    if named is None:
        raise StoreError(f"{file} is not a file; give the paths of logs, for example episodes/samples/*.arrows")
    found = check(named.log)
    if found.problem is not None:
        way = f"save what is intact of it first, with: iwreplay log recover {file} --out NEW, and import that"
        raise LogCorruptError(
            f"a {found.state} log is not imported ({found.problem.what}); "
            + (way if found.events else "not one event in it can be read: is it a log at all?"),
            path=file,
            seq=found.problem.seq,
            offset=found.problem.offset,
        )
    if found.state != "sealed":
        raise StoreError(
            f"{file} is not sealed: its recorder is at work, or was killed. "
            f"In that case seal it first: iwreplay log seal {file}"
        )
    assert found.root_hash is not None, "a sealed log has a root hash"
    return _Wanted(source=named.log, id=safe_id(named.id), root_hash=found.root_hash, events=found.events)


def _planned(store: Path, wanted: tuple[_Wanted, ...]) -> tuple[_Wanted, ...]:
    there = {e.id: root_of(e) for e in Store.open(store).episodes()} if Store.is_at(store) else {}
    names = {root: name for name, root in there.items() if root is not None}
    plan = []
    for item in wanted:
        if item.id in there and there[item.id] == item.root_hash:
            plan.append(msgspec.structs.replace(item, present=True))
            continue
        if item.id in there:
            raise StoreError(
                f"{item.source} can't be imported: another log is called {item.id} in {store}, or is to be called so; "
                "give the file another name"
            )
        if item.root_hash in names:
            raise StoreError(
                f"{item.source} can't be imported: {store} has the same log as {names[item.root_hash]} "
                f"(root hash {item.root_hash[:12]}), or is to have it; an episode that is counted twice spoils every "
                "answer"
            )
        there[item.id], names[item.root_hash] = item.root_hash, item.id
        plan.append(item)
    return tuple(plan)


def root_of(episode: Episode) -> str | None:
    """Root hash of an episode of the store; None when it has none (damaged, never begun)."""
    if not episode.begun:
        return None
    try:
        with read_log(episode.log, strict=False) as log:
            return log.root_hash
    except (LogError, EventError):
        return None


def _copied(store: Store, item: _Wanted) -> Episode:
    def put(target: Path) -> None:
        shutil.copyfile(item.source, target)
        found = check(target)
        if found.root_hash != item.root_hash:
            raise StoreError(f"{item.source} changed while it was imported; nothing of it was kept")

    return store.take_in(item.id, put)
