"""Scoring episodes: incremental, because a score is kept with what it is valid for."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.app.episodes import find_episodes, look_at
from iwreplay.app.pool import each
from iwreplay.app.releases import read_releases
from iwreplay.app.scorer_file import ScorerFile, load_scorer
from iwreplay.app.scorer_running import ScorerRunError, score_with
from iwreplay.canonical import struct_hash
from iwreplay.errors import EventError, LogError, UnknownNameError
from iwreplay.events import EpisodeOpened
from iwreplay.log import LogReader, Recovered, read_log
from iwreplay.scene.loader import data_root
from iwreplay.store import (
    BookedScore,
    Episode,
    PresentScorer,
    ScoreBook,
    ScoredTask,
    ScoreKey,
    Store,
    keep_present,
)
from iwreplay.taskpack.model import TaskPack
from scorers import SCORERS, Score, Scorer, Unscorable, score_all, scorer_hash, scorer_named

__all__ = ["ScoreLine", "find_scorers", "other_tasks", "score_episode", "score_episodes", "scorer_hashes"]

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
    #: scored; unscorable: the log can't support it; undefined: it has no meaning for such an episode; missing: it was
    #: asked not to compute it; or error: a user's scorer failed, and nothing is kept
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
    #: the task of the log; None when there is no score, or it was kept before this was
    task: ScoredTask | None = None


def scorer_hashes() -> dict[str, str]:
    """Present hash of every scorer of this build, by name."""
    return {s.name: _hash(s) for s in SCORERS}


def find_scorers(names: tuple[str, ...]) -> tuple[Scorer | ScorerFile, ...]:
    """Each one named: a built-in scorer, or the file of a user's own, which ends in .py. UnknownNameError,
    ScorerFileError; UnknownNameError too for two of the same name."""
    chosen = tuple(load_scorer(Path(n)) if n.endswith(".py") else _built_in(n) for n in names)
    for n, scorer in zip(names, chosen, strict=True):
        if sum(s.name == scorer.name for s in chosen) > 1:
            raise UnknownNameError("scorer", n, hint=f"{scorer.name} is named twice; each counts once.")
    return chosen


def _built_in(name: str) -> Scorer:
    try:
        return scorer_named(name)
    except UnknownNameError as e:
        hint = f"A scorer of your own is named by its file: {name or 'my_metric'}.py"
        raise UnknownNameError("scorer", name, known=e.known, hint=hint) from None


def score_episodes(
    store: Path,
    wanted: tuple[str, ...] = (),
    *,
    scorers: tuple[str, ...] = (),
    again: bool = False,
    compute: bool = True,
    keep: bool = True,
    count: bool = True,
    jobs: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[ScoreLine, ...]:
    """Scores episodes (all of the store when none is named) under all built-in scorers, or those named (as of
    `find_scorers`).

    A kept score is used when log, scorer and parameters are the same, unless `again`. With `compute` off nothing is
    computed or written: what is missing or stale has the status "missing". With `keep` off, for a store that may not be
    written, what is computed is not kept. What has to be computed is computed in `jobs` processes, or in as many as pay
    when it is None, or on a Ray cluster; the answer is the same for any. With `count`, the versions of users' scorers
    that are named are from now on those that the catalogue of the store shows.

    UnknownNameError, ScorerFileError.
    """
    chosen = find_scorers(scorers) or SCORERS
    episodes = find_episodes(store, wanted)
    work = partial(_score_here, hashes=scorer_hashes(), scorers=chosen, again=again, compute=compute, keep=keep)
    if compute and keep and count:
        _count_from_now(store, chosen)
    if compute and engine == "ray":
        return _score_on_ray(work, episodes, again=again, address=ray_address, jobs=jobs, progress=progress)
    found: dict[Episode, tuple[ScoreLine, ...]] = {}
    if compute and not again and _jobs_that_pay(len(episodes), jobs) > 1:
        # what is kept costs less than handing it to another process
        for episode in episodes:
            if _is_kept(episode, chosen):
                found[episode] = work(episode)
                progress(len(found), len(episodes))
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


def _count_from_now(store: Path, scorers: tuple[Scorer | ScorerFile, ...]) -> None:
    """These versions of users' scorers are those that the catalogue of a store shows; outside a store, nothing."""
    for s in scorers:
        if isinstance(s, ScorerFile) and Store.is_at(store):
            keep_present(store, PresentScorer(scorer=s.name, scorer_hash=s.hash, scorer_version=s.version))


def _score_on_ray(
    work: partial[tuple[ScoreLine, ...]],
    episodes: tuple[Episode, ...],
    *,
    again: bool,
    address: str | None,
    jobs: int | None,
    progress: Callable[[int, int], None],
) -> tuple[ScoreLine, ...]:
    """What is kept and what can't be scored is told here; the rest goes to the cluster."""
    from iwreplay.app.scoring_on_ray import score_on_ray

    found = {e: work(e, again=False, compute=False) for e in episodes}
    todo = [e for e, lines in found.items() if any(s.status == "missing" or (again and s.kept) for s in lines)]
    progress(len(episodes) - len(todo), len(episodes))
    if todo:
        done = score_on_ray(work, todo, address=address, jobs=jobs or os.cpu_count() or 1)
        for n, (episode, lines) in enumerate(done, start=1):
            found[episode] = lines
            progress(len(episodes) - len(todo) + n, len(episodes))
    return tuple(line for e in episodes for line in found[e])


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
    episode: Episode,
    *,
    hashes: dict[str, str],
    scorers: tuple[Scorer | ScorerFile, ...],
    again: bool,
    compute: bool,
    keep: bool,
) -> tuple[ScoreLine, ...]:
    """`score_episode`, perhaps in a process of its own, which need not read all sources for the hashes."""
    _HASHES.update(hashes)
    with _collecting_less_often():
        return score_episode(episode, scorers=scorers, again=again, compute=compute, keep=keep)


def _is_kept(episode: Episode, scorers: tuple[Scorer | ScorerFile, ...]) -> bool:
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
    scorers: tuple[Scorer | ScorerFile, ...] = SCORERS,
    again: bool = False,
    compute: bool = True,
    keep: bool = True,
) -> tuple[ScoreLine, ...]:
    """One line for each scorer, in their order. A damaged log is unscorable, with the damage as the reason; so is one
    that was recovered with events missing, whatever the rest of it says. Where a user's scorer fails, that is in its
    line."""
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
            failed: dict[str, str] = {}
            if todo and compute:
                task = _task_of(log)
                for scorer, found in _computed(log, todo, path=episode.log):
                    if isinstance(found, ScorerRunError):
                        failed[scorer.name] = str(found)
                    else:
                        fresh[scorer.name] = _booked(keys[scorer.name], found, task)
                if keep:
                    book.put(*(fresh[s.name] for s in todo if s.name in fresh))
    except (LogError, EventError) as e:
        return _no_scores(episode, scorers, str(e))
    whole = all(s.name in fresh and fresh[s.name].status != "unscorable" for s in scorers)
    became = "ended" if whole else look_at(episode).status
    return tuple(
        _line(
            episode,
            keys[s.name],
            fresh.get(s.name),
            stale=stale[s.name],
            kept=s.name in kept,
            became=became,
            error=failed.get(s.name),
        )
        for s in scorers
    )


def _computed(
    log: LogReader, todo: tuple[Scorer | ScorerFile, ...], *, path: Path
) -> Iterator[tuple[Scorer | ScorerFile, Score | Unscorable | ScorerRunError]]:
    """What each scorer says about an open log; the built-in ones read it once for all of them."""
    ours = tuple(s for s in todo if isinstance(s, Scorer))
    if ours:
        yield from zip(ours, score_all(log, scorers=ours), strict=True)
    for scorer in todo:
        if isinstance(scorer, ScorerFile):
            try:
                yield scorer, score_with(scorer, log, path=path)
            except ScorerRunError as e:
                yield scorer, e


#: present hash of scorers, by name
_HASHES: dict[str, str] = {}


def _hash(scorer: Scorer | ScorerFile) -> str:
    if isinstance(scorer, ScorerFile):
        return scorer.hash
    if scorer.name not in _HASHES:
        _HASHES[scorer.name] = scorer_hash(scorer)
    return _HASHES[scorer.name]


def _key(scorer: Scorer | ScorerFile, root: str) -> ScoreKey:
    return ScoreKey(root_hash=root, scorer=scorer.name, scorer_hash=_hash(scorer), parameters=dict(scorer.params))


#: of the latest tasks: logs that are read one after the other share them, and hashing one takes its time
_REFS: list[tuple[TaskPack, ScoredTask]] = []
_MOST_REFS = 16


def _task_of(log: LogReader) -> ScoredTask | None:
    """None for a log that does not open an episode."""
    opened = log.at_seq(0)
    if not isinstance(opened, EpisodeOpened):
        return None
    task = opened.task
    for known, ref in _REFS:
        if known is task:
            return ref
    ref = ScoredTask(id=task.id, version=task.version, sha256=struct_hash(task))
    _REFS.insert(0, (task, ref))
    del _REFS[_MOST_REFS:]
    return ref


def other_tasks(lines: Iterable[ScoreLine]) -> tuple[str, ...]:
    """A sentence for each task that is another in the logs that were scored than in the latest release of the task
    pack. A task that was never released is compared with nothing."""
    releases = read_releases(data_root())
    latest = releases[-1].tasks if releases else {}
    found: dict[ScoredTask, dict[str, None]] = {}
    for line in lines:
        if line.task is not None and line.task.id in latest and line.task.sha256 != latest[line.task.id].task_sha256:
            found.setdefault(line.task, {})[line.episode] = None
    return tuple(_other(task, latest[task.id].version, len(episodes)) for task, episodes in found.items())


def _other(task: ScoredTask, now: int, episodes: int) -> str:
    have = "1 episode has" if episodes == 1 else f"{episodes} episodes have"
    which = "another task of that version" if task.version == now else f"version {task.version} of the task"
    return f"{task.id}: {have} {which}, and not the released version {now}; scored by the checks in the log"


def _booked(key: ScoreKey, found: Score | Unscorable, task: ScoredTask | None) -> BookedScore:
    if isinstance(found, Unscorable):
        return BookedScore(
            key=key,
            metric=found.metric,
            value=None,
            status="undefined" if found.undefined else "unscorable",
            reason=found.reason,
            details={"missing": list(found.missing)},
            task=task,
        )
    return BookedScore(
        key=key,
        metric=found.metric,
        value=found.value,
        status="scored",
        evidence=found.evidence,
        details=found.details,
        task=task,
    )


def _line(
    episode: Episode,
    key: ScoreKey,
    score: BookedScore | None,
    *,
    stale: str | None,
    kept: bool,
    became: str,
    error: str | None,
) -> ScoreLine:
    return ScoreLine(
        episode=episode.id,
        metric=score.metric if score is not None else key.scorer,
        value=score.value if score is not None else None,
        status=score.status if score is not None else "error" if error is not None else "missing",
        episode_status=became,
        stale_because=stale,
        kept=kept,
        reason=score.reason if score is not None else error or "",
        scorer=key.scorer,
        scorer_hash=key.scorer_hash,
        root_hash=key.root_hash,
        parameters=key.parameters,
        evidence=score.evidence if score is not None else (),
        details=score.details if score is not None else {},
        task=score.task if score is not None else None,
    )


def _lost(recovered: Recovered) -> str:
    parts = [f"{gap.first} to {'the end' if gap.last is None else gap.last}" for gap in recovered.missing]
    return ", ".join(parts) or "in an earlier recovery"


def _no_scores(
    episode: Episode, scorers: tuple[Scorer | ScorerFile, ...], why: str, *, root: str | None = None
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
            scorer_hash=_hash(s),
            root_hash=root,
            parameters=dict(s.params),
            evidence=(),
            details={},
        )
        for s in scorers
    )
