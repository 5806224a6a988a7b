"""Saving what is left of a damaged episode."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from iwreplay.app.episodes import look_at
from iwreplay.errors import StoreError
from iwreplay.log import LogCheck, Recovered, recover
from iwreplay.store import Episode

__all__ = ["RecoveredEpisode", "recover_episode"]


class RecoveredEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """The new log, its check, and what it could not keep."""

    episode: str
    log: str
    #: what became of the episode as it is in the new log, see `iwreplay.store.STATUSES`
    status: str
    #: the new log is an episode of the store; False for a file of its own
    in_store: bool
    check: LogCheck
    recovered: Recovered


def recover_episode(episode: Episode, *, out: Path | None = None) -> RecoveredEpisode:
    """Recovers to `out`; else, in a store, to a new episode "<id>-recovered", or to a file beside the log.

    StoreError when that exists already or its folder does not; else as `iwreplay.log.recover`. A failed recovery
    leaves nothing behind.
    """
    made: Path | None = None
    name = episode.id
    if out is None and episode.folder is not None:
        name = f"{episode.id}-recovered"
        made = episode.folder.with_name(name)
        try:
            made.mkdir()
        except FileExistsError as e:
            raise StoreError(f"{made} exists: {episode.id} was recovered before; give another file with --out") from e
        except OSError as e:
            raise StoreError(f"the folder {made} can't be made: {e.strerror}; give a file with --out") from e
        out = made / episode.log.name
    elif out is None:
        out = episode.log.with_name(f"{episode.log.stem}.recovered{episode.log.suffix}")
    if os.path.lexists(out):
        raise StoreError(f"{out} exists, and nothing is overwritten; give another file with --out")
    if not out.parent.is_dir():
        raise StoreError(f"there is no folder {out.parent} for {out.name}; make it, or give another file with --out")
    try:
        done = recover(episode.log, out)
    except BaseException:
        if made is not None:
            made.rmdir()
        raise
    saved = Episode(id=name, log=out, folder=made)
    return RecoveredEpisode(
        episode=name,
        log=str(out),
        status=look_at(saved).status,
        in_store=made is not None,
        check=done.check,
        recovered=done.recovered,
    )
