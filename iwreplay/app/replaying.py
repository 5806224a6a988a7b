"""Verifying episodes by running them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from iwreplay.app.episodes import find_episodes, look_at
from iwreplay.app.pool import each, threads_for
from iwreplay.errors import EventError, LogError
from iwreplay.events import EpisodeConfig, EpisodeOpened
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import LogReader, read_log
from iwreplay.loop import environment_fingerprint
from iwreplay.ports import Clock
from iwreplay.store import (
    EnvironmentChange,
    Episode,
    FirstDivergence,
    ReplayVerdict,
    StepVerdict,
    VerdictClaim,
)
from iwreplay.version import __version__
from recorder.record import SystemClock
from recorder.simulators.mujoco_backend import MujocoSimulator
from replayer.comparer import engine_of
from replayer.reexecution import reexecute
from replayer.report import Difference, EnvironmentDifference, Reexecution

__all__ = ["Verdict", "replay_episode", "replay_episodes"]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """How faithfully an episode was reproduced."""

    episode: str
    #: exact, state-equal, within-tolerance, outcome-equal or diverged: the worst of its steps; or, for a log that
    #: can't be replayed, the status of the episode: damaged or unreadable
    grade: str
    steps: int
    first_divergence: Difference | None
    #: grade -> number of steps
    grades: dict[str, int]
    differences: int
    environment: tuple[EnvironmentDifference, ...]
    events: int
    recorded_root_hash: str | None
    #: of what the re-execution gave; None when there was none
    root_hash: str | None
    #: False: the log has no end, and was compared as far as it goes
    log_ended: bool
    #: stopped at the first difference
    stopped: bool
    #: what became of the recording, see `iwreplay.store.STATUSES`
    status: str
    #: the first divergence behind the opening, which only says with what and what for it was recorded
    first_in_world: Difference | None = None
    #: number of the record that keeps this verdict with the episode; None when it is not kept
    replay: int | None = None
    #: why the log can't be replayed
    problem: str | None = None


def replay_episodes(
    store: Path,
    wanted: tuple[str, ...] = (),
    *,
    fail_fast: bool = False,
    keep: bool = True,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[Verdict, ...]:
    """Re-executes episodes (all of the store when none is named) and compares every event with their logs.

    With `keep` each verdict is kept with its episode as a new record; that of a log outside any store is not. A log
    that can't be replayed has that as its verdict, and is not kept. StoreError when a verdict can't be kept.
    """
    episodes = find_episodes(store, wanted)
    work = partial(replay_episode, fail_fast=fail_fast, keep=keep, threads=threads_for(jobs))
    return tuple(each(work, episodes, jobs=jobs, progress=progress))


def replay_episode(
    episode: Episode,
    *,
    fail_fast: bool = False,
    keep: bool = True,
    threads: int | None = None,
    clock: Clock | None = None,
) -> Verdict:
    """Re-executes one episode; `clock` tells when, for the record that keeps the verdict."""
    try:
        with read_log(episode.log) as log:
            if not keep or episode.replays is None:
                return _verdict(episode, _reexecuted(log, fail_fast=fail_fast, threads=threads), replay=None)
            # before the work, which is long: a store that takes nothing says so at once
            with VerdictClaim.of(episode) as claim:
                done = _reexecuted(log, fail_fast=fail_fast, threads=threads)
                kept = _kept(log, done, fail_fast=fail_fast)
                claim.keep(kept, wall_ns=(clock or SystemClock()).now_ns())
            return _verdict(episode, done, replay=claim.replay)
    except (LogError, EventError) as e:
        return _not_replayed(episode, str(e))


def _reexecuted(log: LogReader, *, fail_fast: bool, threads: int | None) -> Reexecution:
    return reexecute(
        log,
        simulator=MujocoSimulator,
        frames=lambda scene, config: FrameMaker(scene, config=config, threads=threads),
        fail_fast=fail_fast,
    )


def _kept(log: LogReader, done: Reexecution, *, fail_fast: bool) -> ReplayVerdict:
    """The verdict as a record that stands by itself."""
    opened, root = log.at_seq(0), log.root_hash
    assert isinstance(opened, EpisodeOpened), "a log that was replayed opens an episode"
    assert root is not None, "a log that was replayed has a root hash"
    changed = {e.name: e.here for e in done.environment}
    first = done.first
    return ReplayVerdict(
        root_hash=root,
        grade=_grade(done),
        steps=tuple(StepVerdict(s.seq, s.kind, s.turn, s.action, s.command, s.grade) for s in done.steps),
        first_divergence=None if first is None else _first(first),
        differences=done.difference_count,
        events=done.events_compared,
        replayed_root_hash=done.root,
        log_ended=done.log_ended,
        stopped=done.stopped,
        environment=tuple(EnvironmentChange(name=e.name, recorded=e.recorded, here=e.here) for e in done.environment),
        iwreplay=__version__,
        simulator=changed.get("simulator", engine_of(opened)),
        renderer=changed.get("renderer", opened.renderer),
        fingerprint=environment_fingerprint(),
        parameters={**_as_texts(opened.config), "fail_fast": _as_text(fail_fast)},
    )


def _as_texts(config: EpisodeConfig) -> dict[str, str]:
    return {name: _as_text(value) for name, value in msgspec.structs.asdict(config).items()}


def _as_text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _first(first: Difference) -> FirstDivergence:
    decision = first.decision
    return FirstDivergence(
        seq=first.seq,
        sim_time_s=first.sim_time_s,
        turn=first.turn,
        kind=first.kind,
        object=first.object,
        field=first.field,
        expected=first.expected,
        got=first.got,
        decision_turn=None if decision is None else decision.turn,
        decision_text=None if decision is None else decision.text,
    )


def _not_replayed(episode: Episode, why: str) -> Verdict:
    status = look_at(episode).status
    return Verdict(
        episode=episode.id,
        grade=status if status in ("damaged", "unreadable", "unfinished") else "damaged",
        steps=0,
        first_divergence=None,
        grades={},
        differences=0,
        environment=(),
        events=0,
        recorded_root_hash=None,
        root_hash=None,
        log_ended=False,
        stopped=False,
        status=status,
        problem=why,
    )


def _grade(done: Reexecution) -> str:
    return "state-equal" if done.verdict == "exact" and not done.exact else done.verdict


def _verdict(episode: Episode, done: Reexecution, *, replay: int | None) -> Verdict:
    return Verdict(
        episode=episode.id,
        grade=_grade(done),
        steps=len(done.steps),
        first_divergence=done.first,
        first_in_world=done.first_in_world,
        grades=dict(sorted(Counter(s.grade for s in done.steps).items())),
        differences=done.difference_count,
        environment=done.environment,
        events=done.events_compared,
        recorded_root_hash=done.recorded_root,
        root_hash=done.root,
        log_ended=done.log_ended,
        stopped=done.stopped,
        status=look_at(episode).status,
        replay=replay,
    )
