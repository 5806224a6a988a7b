"""Two scorers, or two versions of one, on the same episodes: which flip, by which events, and what becomes of the
reported numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from iwreplay.app.episodes import find_episodes
from iwreplay.app.scorer_file import ScorerFile
from iwreplay.app.scoring import ScoreLine, find_scorers, score_episodes, scorer_hashes
from iwreplay.errors import AmbiguousNameError, LogError, UnknownNameError
from iwreplay.events import EpisodeOpened, Event
from iwreplay.log import read_log
from iwreplay.store import Episode, ScoreBook, ScoreKey
from iwreplay.vocabulary import Family
from scorers import Row, Score, Unscorable, by_capability, by_family

__all__ = ["Difference", "Flip", "Number", "OneSided", "Side", "diff_scores"]

_AT = "@"
_CAPABILITY = "capability"


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """OLD or NEW."""

    #: as it was named
    named: str
    scorer: str
    scorer_hash: str
    #: version that a user's file says; None for the others
    version: int | None
    #: only what is kept is looked at, nothing is computed
    kept_only: bool


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """An episode whose value is another one."""

    episode: str
    task: str
    family: Family
    assistant: str
    old: float
    new: float
    #: events that only the old value rests on, those that only the new one does, and those of both
    only_old: tuple[tuple[int, Event], ...]
    only_new: tuple[tuple[int, Event], ...]
    both: tuple[tuple[int, Event], ...]


class OneSided(msgspec.Struct, frozen=True, kw_only=True):
    """An episode that only one side has a value for."""

    episode: str
    old: float | None
    new: float | None
    #: unscorable, missing or error: what it is on the side that has none
    status: str
    #: why
    reason: str


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """A reported number under both, each over the episodes that it can score."""

    #: "all", or the name of an Assistant
    assistant: str
    #: a family; "average" of the six families' means; "episodes" for the mean over episodes; C1 to C9
    number: str
    #: None when there is nothing to take it of
    old: float | None
    new: float | None
    old_scored: int
    new_scored: int

    @property
    def change(self) -> float | None:
        """new - old."""
        return None if self.old is None or self.new is None else self.new - self.old


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What changes from OLD to NEW."""

    old: Side
    new: Side
    episodes: int
    #: scored by both, with the same value
    same: int
    #: of these, those that rest on other events
    other_evidence: tuple[str, ...]
    flips: tuple[Flip, ...]
    one_sided: tuple[OneSided, ...]
    #: that neither side has a value for
    neither: int
    numbers: tuple[Number, ...]
    #: (episode, side, why) where a user's scorer failed
    errors: tuple[tuple[str, str, str], ...]
    #: with a damaged log
    damaged: tuple[str, ...]


class _About(msgspec.Struct, frozen=True, kw_only=True):
    """What an episode's opening says."""

    task: str
    family: Family
    assistant: str


def diff_scores(
    store: Path,
    wanted: tuple[str, ...],
    *,
    old: str,
    new: str,
    again: bool = False,
    jobs: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Difference:
    """Compares what two scorers say about episodes (all of the store when none is named).

    Each is a built-in scorer, a user's file, or NAME@HASH for scores that are kept of a version with a hash of that
    beginning. The first two are computed where they are not kept, as by `score_episodes`. UnknownNameError,
    AmbiguousNameError, ScorerFileError.
    """
    episodes = find_episodes(store, wanted)

    def score(named: str) -> tuple[ScoreLine, ...]:
        return score_episodes(
            store,
            wanted,
            scorers=(named,),
            again=again,
            count=False,
            jobs=jobs,
            engine=engine,
            ray_address=ray_address,
            progress=progress,
        )

    old_side, old_lines = _side(episodes, named=old, score=score)
    new_side, new_lines = _side(episodes, named=new, score=score)
    about = {e.id: _about(e) for e in episodes}
    pairs = [(e, a, b) for e, a, b in zip(episodes, old_lines, new_lines, strict=True)]
    scored = [p for p in pairs if p[1].value is not None and p[2].value is not None]
    alone = [p for p in pairs if (p[1].value is None) != (p[2].value is None)]
    same = [p for p in scored if p[1].value == p[2].value]
    return Difference(
        old=old_side,
        new=new_side,
        episodes=len(episodes),
        same=len(same),
        other_evidence=tuple(e.id for e, a, b in same if a.evidence != b.evidence),
        flips=tuple(_flip(e, a, b, about[e.id]) for e, a, b in scored if a.value != b.value),
        one_sided=tuple(_one_sided(a, b) for _, a, b in alone),
        neither=len(pairs) - len(scored) - len(alone),
        numbers=tuple(_numbers(old_lines, new_lines, about)),
        errors=tuple((s.episode, s.scorer, s.reason) for _, *sides in pairs for s in sides if s.status == "error"),
        damaged=tuple(e.id for e, a, _ in pairs if a.root_hash is None),
    )


def _side(
    episodes: tuple[Episode, ...], *, named: str, score: Callable[[str], tuple[ScoreLine, ...]]
) -> tuple[Side, tuple[ScoreLine, ...]]:
    name, at, prefix = named.partition(_AT)
    if at and not named.endswith(".py"):
        scorer_hash, lines = _kept(episodes, name=name, prefix=prefix)
        return Side(named=named, scorer=name, scorer_hash=scorer_hash, version=None, kept_only=True), lines
    [scorer] = find_scorers((named,))
    side = Side(
        named=named,
        scorer=scorer.name,
        scorer_hash=scorer.hash if isinstance(scorer, ScorerFile) else scorer_hashes()[scorer.name],
        version=scorer.version if isinstance(scorer, ScorerFile) else None,
        kept_only=False,
    )
    return side, score(named)


def _kept(episodes: tuple[Episode, ...], *, name: str, prefix: str) -> tuple[str, tuple[ScoreLine, ...]]:
    """The hash that begins like that, and what is kept of it for each episode's log as it is."""
    roots = {e.id: _root(e) for e in episodes}
    books = {e.id: ScoreBook.load(e) for e in episodes}
    every = dict.fromkeys(k.key.scorer_hash for e in episodes for k in books[e.id].entries if k.key.scorer == name)
    fits = tuple(h for h in every if h.startswith(prefix))
    if not fits:
        known = tuple(f"{name}{_AT}{h[:12]}" for h in every)
        hint = "" if known else f"No score of a scorer {name} is kept for these episodes."
        raise UnknownNameError("kept scorer", f"{name}{_AT}{prefix}", known=known, hint=hint)
    if len(fits) > 1:
        raise AmbiguousNameError(
            "kept scorer", f"{name}{_AT}{prefix}", fits=tuple(f"{name}{_AT}{h[:16]}" for h in fits)
        )
    lines = []
    for episode in episodes:
        root = roots[episode.id]
        entries = [
            k
            for k in books[episode.id].entries
            if (k.key.scorer, k.key.scorer_hash, k.key.root_hash) == (name, fits[0], root)
        ]
        found = entries[-1] if entries else None
        key = found.key if found is not None else ScoreKey(root_hash=root or "", scorer=name, scorer_hash=fits[0])
        lines.append(
            ScoreLine(
                episode=episode.id,
                metric=found.metric if found is not None else name,
                value=found.value if found is not None else None,
                status=found.status if found is not None else "missing",
                episode_status="",
                stale_because=None,
                kept=found is not None,
                reason=found.reason if found is not None else "nothing is kept of it",
                scorer=name,
                scorer_hash=fits[0],
                root_hash=root,
                parameters=key.parameters,
                evidence=found.evidence if found is not None else (),
                details=found.details if found is not None else {},
            )
        )
    return fits[0], tuple(lines)


def _root(episode: Episode) -> str | None:
    try:
        with read_log(episode.log) as log:
            return log.root_hash
    except LogError:
        return None


def _about(episode: Episode) -> _About | None:
    """None for a log without a readable opening, which nothing scores."""
    try:
        with read_log(episode.log) as log:
            opened = log.at_seq(0) if len(log) else None
    except LogError:
        return None
    if not isinstance(opened, EpisodeOpened):
        return None
    return _About(task=opened.task.id, family=opened.task.family, assistant=opened.assistant.name)


def _flip(episode: Episode, old: ScoreLine, new: ScoreLine, about: _About | None) -> Flip:
    assert about is not None, "a log that was scored opens an episode"
    assert old.value is not None, "both are scored"
    assert new.value is not None, "both are scored"
    a, b = set(old.evidence), set(new.evidence)
    with read_log(episode.log) as log:
        events = {seq: log.at_seq(seq) for seq in sorted(a | b)}

    def of(seqs: set[int]) -> tuple[tuple[int, Event], ...]:
        return tuple((s, events[s]) for s in sorted(seqs))

    return Flip(
        episode=episode.id,
        task=about.task,
        family=about.family,
        assistant=about.assistant,
        old=old.value,
        new=new.value,
        only_old=of(a - b),
        only_new=of(b - a),
        both=of(a & b),
    )


def _one_sided(old: ScoreLine, new: ScoreLine) -> OneSided:
    without = old if old.value is None else new
    missing = without.details.get("missing", ())
    lacks = f" (missing: {', '.join(missing)})" if missing else ""
    return OneSided(
        episode=old.episode, old=old.value, new=new.value, status=without.status, reason=f"{without.reason}{lacks}"
    )


def _numbers(
    old: tuple[ScoreLine, ...], new: tuple[ScoreLine, ...], about: dict[str, _About | None]
) -> Iterator[Number]:
    """Those that there is a value for on a side: of all Assistants together, then of each."""
    names = sorted({a.assistant for a in about.values() if a is not None})
    for assistant in ("all", *(names if len(names) > 1 else ())):
        sides = [
            [
                Row(family=a.family, task=a.task, score=_score(line))
                for line in lines
                if (a := about[line.episode]) is not None and assistant in ("all", a.assistant)
            ]
            for lines in (old, new)
        ]
        olds, news = (dict(_of_rows(rows)) for rows in sides)
        for number in dict.fromkeys((*olds, *news)):
            (before, n), (after, m) = olds.get(number, (None, 0)), news.get(number, (None, 0))
            if n or m:
                yield Number(assistant=assistant, number=number, old=before, new=after, old_scored=n, new_scored=m)


def _of_rows(rows: list[Row]) -> Iterator[tuple[str, tuple[float | None, int]]]:
    """(number, (value, episodes that it rests on))."""
    if not rows:
        return
    table = by_family(rows, metric=rows[0].score.metric)
    for family in table.families:
        yield family.family, (family.mean, family.scored)
    values = [r.score.value for r in rows if isinstance(r.score, Score)]
    yield "episodes", (math.fsum(values) / len(values) if values else None, len(values))
    yield "average", (table.average, table.scored)
    if table.metric == _CAPABILITY:
        for share in by_capability(rows):
            yield share.capability, (share.share, table.scored if share.points else 0)


def _score(line: ScoreLine) -> Score | Unscorable:
    if line.value is None:
        return Unscorable(metric=line.metric, reason=line.reason)
    return Score(metric=line.metric, value=line.value, evidence=line.evidence, details=line.details)
