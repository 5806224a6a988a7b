"""Scoring on a Ray cluster: an episode's log and its kept scores go to a worker, and its new scores come back.

The machines of the cluster share nothing. The store is written here only, when an episode comes back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from iwreplay.app.ray_engine import ray_each
from iwreplay.store import BookedScore, Episode, ScoreBook

__all__ = ["score_on_ray"]

Lines = TypeVar("Lines")


class _Sent(msgspec.Struct, frozen=True, kw_only=True):
    """An episode on its way to a worker."""

    id: str
    #: of its log's file
    name: str
    log: bytes
    scores: bytes | None


def score_on_ray(
    work: Callable[[Episode], Lines], episodes: Sequence[Episode], *, address: str | None, jobs: int
) -> Iterator[tuple[Episode, Lines]]:
    """What `work`, which keeps scores beside the log that it is given, gives for each episode, as they are done. Its
    scores are kept before it is given. Errors as of `ray_each`."""
    there = partial(_there, work)
    done = ray_each(there, episodes, pack=_pack, name=lambda e: e.id, address=address, jobs=jobs)
    for episode, (lines, booked) in done:
        ScoreBook.load(episode).put(*booked)
        yield episode, lines


def _pack(episode: Episode) -> _Sent:
    kept = episode.scores
    return _Sent(
        id=episode.id,
        name=episode.log.name,
        log=episode.log.read_bytes(),
        scores=kept.read_bytes() if kept is not None and kept.is_file() else None,
    )


def _there(work: Callable[[Episode], Lines], sent: _Sent) -> tuple[Lines, tuple[BookedScore, ...]]:
    """Runs in a worker of the cluster."""
    with tempfile.TemporaryDirectory(prefix="iwreplay-") as there:
        folder = Path(there)
        here = Episode(id=sent.id, log=folder / sent.name, folder=folder)
        here.log.write_bytes(sent.log)
        if sent.scores is not None and here.scores is not None:
            here.scores.write_bytes(sent.scores)
        before = ScoreBook.load(here).entries
        lines = work(here)
        return lines, tuple(e for e in ScoreBook.load(here).entries if e not in before)
