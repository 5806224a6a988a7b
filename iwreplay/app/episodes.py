"""Finding episodes, and looking at what became of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from iwreplay.errors import EventError, LogCorruptError, LogError, StoreError, UnknownNameError
from iwreplay.events import EpisodeEnded, EpisodeOpened
from iwreplay.log import read_log, state_at
from iwreplay.store import Episode, Store, log_at
from iwreplay.world.state import WorldState

__all__ = ["Listed", "find_episode", "find_episodes", "list_episodes", "look_at", "world_at"]


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an episode, read from its log."""

    episode: str
    log: str
    #: sealed, open, truncated or corrupt
    log_state: str
    #: ended, interrupted, fault, unfinished (no end was recorded) or unreadable
    status: str
    events: int
    task: str | None = None
    assistant: str | None = None
    human: str | None = None
    end_reason: str | None = None
    turns: int | None = None
    actions: int | None = None
    problem: str | None = None


def find_episode(store: Path, wanted: str) -> Episode:
    """The episode of that id, unique prefix or path.

    A path of a log needs no store. What could be either (no folder is named) is an id of the store if there is one.
    """
    named = log_at(wanted)
    if named is None:
        return Store.open(store).find(wanted)
    if Path(wanted).name != wanted:
        return named
    try:
        return Store.open(store).find(wanted)
    except StoreError:
        return named


def find_episodes(store: Path, wanted: tuple[str, ...]) -> tuple[Episode, ...]:
    """Each one named, in that order and once; every episode of the store when none is named."""
    if not wanted:
        every = tuple(Store.open(store).episodes())
        if not every:
            raise UnknownNameError("episode", "*", hint=f"The store {store} has no episode yet.")
        return every
    found = {(e.folder or e.log): e for e in (find_episode(store, w) for w in wanted)}
    return tuple(found.values())


def list_episodes(store: Path) -> tuple[Listed, ...]:
    """Every episode of the store with what became of it."""
    return tuple(look_at(e) for e in Store.open(store).episodes())


def look_at(episode: Episode) -> Listed:
    """Reads the first and the last event of a log; damage is in the answer, not raised."""
    if not episode.begun:
        return Listed(
            episode=episode.id,
            log=str(episode.log),
            log_state="open",
            status="unfinished",
            events=0,
            problem="no event was committed",
        )
    try:
        with read_log(episode.log, strict=False) as log:
            first = log.at_seq(0) if len(log) else None
            last = log.at_seq(len(log) - 1) if len(log) else None
            problem = log.problem
            state, events = log.state, len(log)
    except (LogError, EventError) as e:
        return Listed(
            episode=episode.id,
            log=str(episode.log),
            log_state="corrupt",
            status="unreadable",
            events=0,
            problem=str(e),
        )
    opened = first if isinstance(first, EpisodeOpened) else None
    ended = last if isinstance(last, EpisodeEnded) else None
    return Listed(
        episode=episode.id,
        log=str(episode.log),
        log_state=state,
        status="unfinished" if state == "open" and not events else _status(opened, ended),
        events=events,
        task=opened.task.id if opened is not None else None,
        assistant=opened.assistant.name if opened is not None else None,
        human=opened.human.name if opened is not None else None,
        end_reason=ended.reason if ended is not None else None,
        turns=ended.turns if ended is not None else None,
        actions=ended.actions if ended is not None else None,
        problem=None if problem is None else f"{problem.what}; {problem.lost}",
    )


def world_at(episode: Episode, *, seq: int) -> WorldState:
    """The world just after event `seq`. UnknownNameError when the log has no such event, LogCorruptError when it is
    damaged before."""
    with read_log(episode.log) as log:
        if 0 <= seq < len(log):
            try:
                return state_at(log, seq)
            except LogCorruptError as e:
                raise LogCorruptError(e.problem, path=str(episode.log), seq=e.seq, offset=e.offset) from e
        problem = log.problem
        if problem is not None:
            raise LogCorruptError(
                f"{episode.id} has no event {seq}, it is {log.state}: {problem.what} ({problem.lost})",
                path=str(episode.log),
                offset=problem.offset,
            )
        has = f"events 0 to {len(log) - 1}" if len(log) else "no event"
        raise UnknownNameError("event", str(seq), hint=f"{episode.id} has {has}.")


def _status(opened: EpisodeOpened | None, ended: EpisodeEnded | None) -> str:
    if opened is None:
        return "unreadable"
    if ended is None:
        return "unfinished"
    return ended.reason if ended.reason in ("interrupted", "fault") else "ended"
