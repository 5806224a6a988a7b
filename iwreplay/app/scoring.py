"""Scoring episodes: incremental, because a score is kept with what it is valid for."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.app.episodes import find_episodes, look_at
from iwreplay.app.pool import each
from iwreplay.errors import EventError, LogError
from iwreplay.log import Recovered, read_log
from iwreplay.store import BookedScore, Episode, ScoreBook, ScoreKey
from scorers import SCORERS, Score, Scorer, Unscorable, score_all, scorer_hash, scorer_named

__all__ = ["ScoreLine", "score_episode", "score_episodes", "scorer_hashes"]

#: episodes that a process must have to score for it to be worth starting it
_PAYS_FROM = 250
#: episodes that are handed to a process at once, and how often each should get some
_MOST_HANDED_OVER, _ROUNDS = 16, 8
#: objects made, less those gone, after which cycles are looked for
_COLLECT_AFTER = 50_000


class ScoreLine(msgspec.Struct, frozen=True, kw_only=True):
    """One score of one episode."""

    episode: str
    metric: str
    #: None when unscorable, undefined, or not computed
    value: float | None
    #: scored; unscorable: the log can't support it; undefined: it has no meaning for such an episode; or missing: it
    #: was asked not to compute it
    status: str
    #: what became of the episode, see `iwreplay.store.STATUSES`
    episode_status: str
    #: why what was kept could not be used; None when it could, or when there was nothing
    stale_because: str | None
    #: True: not computed now, but valid as kept
    kept: bool
    reason: str
    scorer: str
    scorer_hash: str
    root_hash: str | None
    parameters: dict[str, str]
    evidence: tuple[int, ...]
    details: dict[str, Any]


def scorer_hashes() -> dict[str, str]:
    """Present hash of every scorer of this build, by name."""
    return {s.name: _hash(s.name) for s in SCORERS}


def score_episodes(
    store: Path,
    wanted: tuple[str, ...] = (),
    *,
    scorers: tuple[str, ...] = (),
    again: bool = False,
    compute: bool = True,
    keep: bool = True,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[ScoreLine, ...]:
    """Scores episodes (all of the store when none is named) under all scorers, or those named.

    A kept score is used when log, scorer and parameters are the same, unless `again`. With `compute` off nothing is
    computed or written: what is missing or stale has the status "missing". With `keep` off, for a store that may not be
    written, what is computed is not kept. What has to be computed is computed in `jobs` processes, or in as many as pay
    when it is None; the answer is the same for any number.
    """
    chosen = tuple(scorer_named(s) for s in scorers) or SCORERS
    episodes = find_episodes(store, wanted)
    work = partial(_score_here, hashes=scorer_hashes(), scorers=chosen, again=again, compute=compute, keep=keep)
    found: dict[Episode, tuple[ScoreLine, ...]] = {}
    if compute and not again and _jobs_that_pay(len(episodes), jobs) > 1:
        # what is kept costs less than handing it to another process
        found = {e: work(e) for e in episodes if _is_kept(e, chosen)}
    todo = tuple(e for e in episodes if e not in found)
    processes = _jobs_that_pay(len(todo), jobs)
    size = _handed_over(len(todo), processes)
    before = len(found)
    done = each(
        partial(_score_several, work),
        [todo[i : i + size] for i in range(0, len(todo), size)],
        jobs=processes,
        progress=lambda n, _: progress(before + min(n * size, len(todo)), len(episodes)),
    )
    found.update(zip(todo, (lines for several in done for lines in several), strict=True))
    return tuple(line for e in episodes for line in found[e])


def _handed_over(episodes: int, processes: int) -> int:
    """How many episodes go to another process at a time: handing one over and its scores back takes a third as long as
    scoring it. Few enough that all processes end together."""
    return 1 if processes == 1 else max(1, min(_MOST_HANDED_OVER, episodes // (_ROUNDS * processes)))


def _score_several(
    work: Callable[[Episode], tuple[ScoreLine, ...]], episodes: tuple[Episode, ...]
) -> tuple[tuple[ScoreLine, ...], ...]:
    return tuple(work(e) for e in episodes)


def _jobs_that_pay(episodes: int, wanted: int | None) -> int:
    if wanted is not None:
        return wanted
    return max(1, min(os.cpu_count() or 1, episodes // _PAYS_FROM))


@contextmanager
def _collecting_less_often() -> Iterator[None]:
    """Scoring makes many small objects that last for one episode, and next to no cycles: looking for some after every
    few hundred, as Python does, costs a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _score_here(
    episode: Episode, *, hashes: dict[str, str], scorers: tuple[Scorer, ...], again: bool, compute: bool, keep: bool
) -> tuple[ScoreLine, ...]:
    """`score_episode`, perhaps in a process of its own, which need not read all sources for the hashes."""
    _HASHES.update(hashes)
    with _collecting_less_often():
        return score_episode(episode, scorers=scorers, again=again, compute=compute, keep=keep)


def _is_kept(episode: Episode, scorers: tuple[Scorer, ...]) -> bool:
    """Whether there is nothing to compute."""
    try:
        with read_log(episode.log) as log:
            root, book = log.root_hash, ScoreBook.load(episode)
    except LogError:
        return False
    return root is not None and all(book.get(_key(s, root)) is not None for s in scorers)


def score_episode(
    episode: Episode,
    *,
    scorers: tuple[Scorer, ...] = SCORERS,
    again: bool = False,
    compute: bool = True,
    keep: bool = True,
) -> tuple[ScoreLine, ...]:
    """One line for each scorer, in their order. A damaged log is unscorable, with the damage as the reason; so is one
    that was recovered with events missing, whatever the rest of it says."""
    try:
        with read_log(episode.log) as log:
            root = log.root_hash
            if root is None:
                assert log.problem is not None, "only a damaged log has no root hash"
                return _no_scores(episode, scorers, f"the log is {log.state}: {log.problem.what}")
            if log.recovered is not None and not log.recovered.lossless:
                why = f"events were lost before it was recovered: {_lost(log.recovered)}"
                return _no_scores(episode, scorers, why, root=root)
            book = ScoreBook.load(episode)
            keys = {s.name: _key(s, root) for s in scorers}
            kept = {} if again else {s.name: b for s in scorers if (b := book.get(keys[s.name])) is not None}
            stale = {s.name: book.stale_because(keys[s.name]) for s in scorers}
            todo = tuple(s for s in scorers if s.name not in kept)
            fresh = dict(kept)
            if todo and compute:
                for scorer, found in zip(todo, score_all(log, scorers=todo), strict=True):
                    fresh[scorer.name] = _booked(keys[scorer.name], found)
                if keep:
                    book.put(*(fresh[s.name] for s in todo))
    except (LogError, EventError) as e:
        return _no_scores(episode, scorers, str(e))
    whole = all(s.name in fresh and fresh[s.name].status != "unscorable" for s in scorers)
    became = "ended" if whole else look_at(episode).status
    return tuple(
        _line(episode, keys[s.name], fresh.get(s.name), stale=stale[s.name], kept=s.name in kept, became=became)
        for s in scorers
    )


#: present hash of scorers, by name
_HASHES: dict[str, str] = {}


def _hash(name: str) -> str:
    if name not in _HASHES:
        _HASHES[name] = scorer_hash(scorer_named(name))
    return _HASHES[name]


def _key(scorer: Scorer, root: str) -> ScoreKey:
    return ScoreKey(root_hash=root, scorer=scorer.name, scorer_hash=_hash(scorer.name), parameters=dict(scorer.params))


def _booked(key: ScoreKey, found: Score | Unscorable) -> BookedScore:
    if isinstance(found, Unscorable):
        return BookedScore(
            key=key,
            metric=found.metric,
            value=None,
            status="undefined" if found.undefined else "unscorable",
            reason=found.reason,
            details={"missing": list(found.missing)},
        )
    return BookedScore(
        key=key,
        metric=found.metric,
        value=found.value,
        status="scored",
        evidence=found.evidence,
        details=found.details,
    )


def _line(
    episode: Episode, key: ScoreKey, score: BookedScore | None, *, stale: str | None, kept: bool, became: str
) -> ScoreLine:
    return ScoreLine(
        episode=episode.id,
        metric=score.metric if score is not None else key.scorer,
        value=score.value if score is not None else None,
        status=score.status if score is not None else "missing",
        episode_status=became,
        stale_because=stale,
        kept=kept,
        reason=score.reason if score is not None else "",
        scorer=key.scorer,
        scorer_hash=key.scorer_hash,
        root_hash=key.root_hash,
        parameters=key.parameters,
        evidence=score.evidence if score is not None else (),
        details=score.details if score is not None else {},
    )


def _lost(recovered: Recovered) -> str:
    parts = [f"{gap.first} to {'the end' if gap.last is None else gap.last}" for gap in recovered.missing]
    return ", ".join(parts) or "in an earlier recovery"


def _no_scores(
    episode: Episode, scorers: tuple[Scorer, ...], why: str, *, root: str | None = None
) -> tuple[ScoreLine, ...]:
    became = look_at(episode).status
    return tuple(
        ScoreLine(
            episode=episode.id,
            metric=s.name,
            value=None,
            status="unscorable",
            episode_status=became,
            stale_because=None,
            kept=False,
            reason=why,
            scorer=s.name,
            scorer_hash=_hash(s.name),
            root_hash=root,
            parameters=dict(s.params),
            evidence=(),
            details={},
        )
        for s in scorers
    )
