"""Episodes as annotators meet them: which can be labelled, and why others can't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from iwreplay.annotations import turn_at
from iwreplay.app.scoring import score_episode
from iwreplay.errors import AnnotationError, LogCorruptError
from iwreplay.events import EpisodeEnded, EpisodeOpened
from iwreplay.log import read_log
from iwreplay.store import Episode, Store
from scorers import scorer_named

__all__ = ["Subject", "refuse_label", "refuse_statement", "subject_of", "subjects", "turn_in"]

#: failed and passed: it ran to its end, is valid by its log, and `pass` is 0 or 1; spoilt: its log says that it is not
#: valid; the others have no whole log, or one that `pass` can't judge
State = Literal["failed", "passed", "spoilt", "unfinished", "damaged", "unscorable"]
_STATES: dict[str, State] = {
    "interrupted": "spoilt",
    "fault": "spoilt",
    "unfinished": "unfinished",
    "incomplete": "damaged",
    "damaged": "damaged",
    "unreadable": "damaged",
}
_PASS = scorer_named("pass")


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One episode of a store, as its log and its `pass` score say."""

    episode: Episode
    #: None when its log is damaged
    root_hash: str | None
    state: State
    #: why it is neither failed nor passed, else ""
    why: str
    #: id of the task, and names of who played; None when the log is damaged, or the episode passed
    task: str | None
    family: str | None
    assistant: str | None
    human: str | None


def subject_of(episode: Episode) -> Subject:
    """Reads its log, and its `pass` score, which is computed and kept when it is not there."""
    (line,) = score_episode(episode, scorers=(_PASS,))
    if line.status == "scored":
        state: State = "passed" if line.value == 1.0 else "failed"
    else:
        state = _STATES.get(line.episode_status, "unscorable")
    # who played takes longer to read than all the rest, and nobody asks it of an episode that passed
    opened, why = (None, "") if state in ("passed", "damaged") else _read(episode)
    return Subject(
        episode=episode,
        root_hash=line.root_hash,
        state=state,
        why=why or line.reason,
        task=None if opened is None else opened.task.id,
        family=None if opened is None else opened.task.family,
        assistant=None if opened is None else opened.assistant.name,
        human=None if opened is None else opened.human.name,
    )


def _read(episode: Episode) -> tuple[EpisodeOpened | None, str]:
    """The opening of an intact log, and why the episode is not valid, as its end has it."""
    if not episode.begun:
        return None, ""
    with read_log(episode.log) as log:
        last = log.at_seq(len(log) - 1)
        return log.opened(), last.detail if isinstance(last, EpisodeEnded) else ""


def subjects(store: Store, *, progress: Callable[[int, int], None] = lambda done, of: None) -> tuple[Subject, ...]:
    """Every episode of the store."""
    episodes = tuple(store.episodes())
    found = []
    for n, episode in enumerate(episodes, start=1):
        found.append(subject_of(episode))
        progress(n, len(episodes))
    return tuple(found)


def refuse_statement(subject: Subject) -> None:
    """AnnotationError unless the episode ran to its end and is valid by its log; LogCorruptError when the log is
    damaged."""
    name = subject.episode.id
    match subject.state:
        case "damaged":
            raise LogCorruptError(f"{name} can't be annotated: {subject.why}", path=str(subject.episode.log))
        case "unfinished":
            raise AnnotationError(f"{name} can't be annotated: it has no end yet ({subject.why})")
        case "spoilt":
            raise AnnotationError(f"{name} can't be annotated: it is not valid, as its log says ({subject.why})")
        case "unscorable":
            raise AnnotationError(f"{name} can't be annotated: it can't be said whether it failed ({subject.why})")


def refuse_label(subject: Subject) -> None:
    """AnnotationError unless the episode is a valid failure; LogCorruptError when its log is damaged."""
    refuse_statement(subject)
    if subject.state == "passed":
        raise AnnotationError(f"{subject.episode.id} passes, so it has no first error; only what failed is labelled")


def turn_in(episode: Episode, *, seq: int) -> int:
    """The turn of an event of live interaction. AnnotationError when it is none."""
    with read_log(episode.log) as log:
        return turn_at(log, seq=seq)
