"""Finding episodes, and looking at what became of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from iwreplay.errors import EventError, LogCorruptError, LogError, StoreError, UnknownNameError
from iwreplay.events import EpisodeEnded, EpisodeOpened, Event
from iwreplay.log import LogReader, read_log, state_at
from iwreplay.store import Episode, Store, log_at, status_of
from iwreplay.world.state import WorldState

__all__ = ["Listed", "event_at", "find_episode", "find_episodes", "list_episodes", "look_at", "world_at"]


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an episode, read from its log."""

    episode: str
    log: str
    #: sealed, open, truncated or corrupt; unreadable when it can't be opened
    log_state: str
    #: see `iwreplay.store.STATUSES`
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
    known = _by_id(store) if len(wanted) > 1 else {}
    found = {(e.folder or e.log): e for e in (known.get(w) or find_episode(store, w) for w in wanted)}
    return tuple(found.values())


def _by_id(store: Path) -> dict[str, Episode]:
    """Every episode, listed once; none when there is no store, which paths of logs don't need."""
    try:
        return {e.id: e for e in Store.open(store).episodes()}
    except StoreError:
        return {}


def list_episodes(store: Path) -> tuple[Listed, ...]:
    """Every episode of the store with what became of it."""
    return tuple(look_at(e) for e in Store.open(store).episodes())


def look_at(episode: Episode) -> Listed:
    """Verifies a log, and reads its first and its last event; damage is in the answer, not raised."""
    if not episode.begun:
        return _listed(episode, "open", problem="no event was committed")
    try:
        with read_log(episode.log, strict=False) as log:
            # the hash chain too, so that damage has one name everywhere; no event is decoded for it
            intact = sum(chunk.count for chunk in log.chunks())
            first = log.at_seq(0) if intact else None
            last = log.at_seq(intact - 1) if intact else None
            problem = log.problem
            return _listed(
                episode,
                log.state,
                problem=None if problem is None else f"{problem.what}; {problem.lost}",
                events=intact,
                opened=first if isinstance(first, EpisodeOpened) else None,
                ended=last if isinstance(last, EpisodeEnded) else None,
                lossless=log.recovered is None or log.recovered.lossless,
            )
    except (EventError, LogCorruptError) as e:
        return _listed(episode, "corrupt", problem=str(e))
    except LogError as e:
        return _listed(episode, "unreadable", problem=str(e))


def _listed(
    episode: Episode,
    log_state: str,
    *,
    problem: str | None,
    events: int = 0,
    opened: EpisodeOpened | None = None,
    ended: EpisodeEnded | None = None,
    lossless: bool = True,
) -> Listed:
    reason = None if ended is None else ended.reason
    return Listed(
        episode=episode.id,
        log=str(episode.log),
        log_state=log_state,
        status=status_of(log_state, end_reason=reason, lossless=lossless),
        events=events,
        task=opened.task.id if opened is not None else None,
        assistant=opened.assistant.name if opened is not None else None,
        human=opened.human.name if opened is not None else None,
        end_reason=reason,
        turns=ended.turns if ended is not None else None,
        actions=ended.actions if ended is not None else None,
        problem=problem,
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
        raise _no_event(log, episode, seq)


def event_at(log: LogReader, episode: Episode, *, seq: int) -> Event:
    """Event `seq` of the open log of an episode. UnknownNameError when it has no such event, LogCorruptError when it
    is damaged before."""
    if not 0 <= seq < len(log):
        raise _no_event(log, episode, seq)
    return log.at_seq(seq)


def _no_event(log: LogReader, episode: Episode, seq: int) -> LogCorruptError | UnknownNameError:
    problem = log.problem
    if problem is not None:
        return LogCorruptError(
            f"{episode.id} has no event {seq}, it is {log.state}: {problem.what} ({problem.lost})",
            path=str(episode.log),
            offset=problem.offset,
        )
    has = f"events 0 to {len(log) - 1}" if len(log) else "no event"
    return UnknownNameError("event", str(seq), hint=f"{episode.id} has {has}.")
