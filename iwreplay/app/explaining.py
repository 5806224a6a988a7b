"""Why an episode has its scores: every check with the event that decided it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.app.episodes import find_episodes
from iwreplay.app.scoring import ScoreLine, score_episode
from iwreplay.events import CommandIssued, EpisodeOpened, Event, PrimitiveOutcome
from iwreplay.log import read_log
from iwreplay.store import Episode
from iwreplay.taskpack.model import TaskPack

__all__ = ["CheckLine", "Explained", "explain_episodes"]


class CheckLine(msgspec.Struct, frozen=True, kw_only=True):
    """One objective, gate, keep or capability point, and the event that decided it."""

    id: str
    #: objective, gate, keep or point
    kind: str
    #: C1 to C9 of a point; None for the others
    capability: str | None
    #: what it asks, in the task's words
    text: str
    #: satisfied, not_satisfied or withheld; held or broken; clean_pass, assisted_pass, fail or not_reached
    verdict: str
    #: None for a point that was not reached
    passed: bool | None
    #: retry or human_repair for a point that was passed with help, else ""
    help: str
    #: the deciding event; the last one when the verdict stood open until then
    seq: int
    #: True: nothing in live interaction made it so; it held to the end, or never came about
    by_end: bool
    event: Event
    #: the command that was under way at the event, or ""
    command: str
    #: numbers of the events that the verdict rests on
    evidence: tuple[int, ...]


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """The checks of one episode, in the order of its task; none when it can't be scored."""

    episode: str
    scores: tuple[ScoreLine, ...]
    checks: tuple[CheckLine, ...]


def explain_episodes(
    store: Path,
    wanted: tuple[str, ...] = (),
    *,
    again: bool = False,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[Explained, ...]:
    """Explains episodes (all of the store when none is named) from their kept scores, which are made when they are
    missing or stale."""
    episodes = find_episodes(store, wanted)
    out = []
    for n, episode in enumerate(episodes, start=1):
        out.append(_explain(episode, again=again))
        progress(n, len(episodes))
    return tuple(out)


def _explain(episode: Episode, *, again: bool) -> Explained:
    scores = score_episode(episode, again=again)
    found = [c for s in scores for c in _judged(s)]
    if not found:
        return Explained(episode=episode.id, scores=scores, checks=())
    wanted = {c["decided_seq"] for c in found}
    events: dict[int, tuple[Event, str]] = {}
    last, command = -1, ""
    task: TaskPack | None = None
    with read_log(episode.log) as log:
        for seq, event in log:
            if isinstance(event, EpisodeOpened):
                task = event.task
            elif isinstance(event, CommandIssued):
                command = event.text
            if seq in wanted:
                events[seq] = event, command
            if isinstance(event, PrimitiveOutcome):
                command = ""
            last = seq
    assert task is not None, "a log that was scored opens an episode"
    texts = {c.id: c.text for checks in (task.objectives, task.gates, task.keeps, task.points) for c in checks}
    lines = tuple(_line(c, text=texts[c["id"]], at=events[c["decided_seq"]], last=last) for c in found)
    return Explained(episode=episode.id, scores=scores, checks=lines)


def _judged(score: ScoreLine) -> Iterator[dict[str, Any]]:
    yield from score.details.get("checks", ())
    yield from score.details.get("points", ())


def _line(check: dict[str, Any], *, text: str, at: tuple[Event, str], last: int) -> CheckLine:
    verdict = check.get("verdict") or check["status"]
    passed = {"clean_pass": True, "assisted_pass": True, "fail": False, "not_reached": None}
    return CheckLine(
        id=check["id"],
        kind=check.get("kind", "point"),
        capability=check.get("capability"),
        text=text,
        verdict=verdict,
        passed=check["passed"] if "passed" in check else passed[verdict],
        help=check.get("help", ""),
        seq=check["decided_seq"],
        by_end=check["decided_seq"] == last,
        event=at[0],
        command=at[1],
        evidence=tuple(check["evidence"]),
    )
