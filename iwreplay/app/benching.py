"""Benchmark runs: every task with every Assistant and Human that was asked for, gone on with however they were stopped.

    DIR/runs/<name>/plan.json        what the run consists of; it never changes
    DIR/runs/<name>/journal.jsonl    which episode was begun for what, and what became of it
    DIR/runs/<name>/spending.jsonl   what its models took, whatever became of the episodes

The episodes are in the store like any others. One that is whole counts for its place in the plan, once; one that was
broken off stays where it is, counts for nothing, and is begun again.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.app.engines import Done, Engine, Job, LocalEngine, LostError, SequentialEngine, StoppedError
from iwreplay.app.model_participants import is_model, parse_model
from iwreplay.app.pool import threads_for
from iwreplay.app.recording import Budget, RecordedEpisode, Wish, check_participants, label_of, script_of
from iwreplay.app.scoring import score_episode
from iwreplay.app.standing import PairResult, RunState, state_of
from iwreplay.app.tasks import find_tasks
from iwreplay.app.usable import check_tasks_load
from iwreplay.canonical import canonical_bytes, sha256_hex, struct_hash
from iwreplay.errors import LogError, StoreDamagedError, StoreError, UnknownNameError
from iwreplay.events import EpisodeEnded, Fault, ModelCall
from iwreplay.log import read_log, seal
from iwreplay.loop import EpisodeStopped
from iwreplay.store import Episode, Store, status_of, write_whole
from iwreplay.store.journal import Journal, read_journal
from iwreplay.taskpack.loader import compile_task
from iwreplay.version import __version__
from recorder.benchmark import (
    Begun,
    Cell,
    Charged,
    Ended,
    Lost,
    Plan,
    PlanTask,
    RunMeter,
    RunRecord,
    differences,
    progress_of,
)
from recorder.benchmark.meter import provider_of
from recorder.benchmark.plan import PLAN_FORMAT
from recorder.interrupts import Interrupts
from recorder.models.metering import RUN_BUDGET, Spent
from recorder.prompts import PROMPT_NAMES, load_prompt

__all__ = [
    "ENGINES",
    "BenchOptions",
    "Budget",
    "PairResult",
    "RunState",
    "RunStopped",
    "list_runs",
    "plan_run",
    "play_run",
    "run_state",
]

ENGINES = ("local", "ray")
RUNS, PLAN, JOURNAL, SPENDING = "runs", "plan.json", "journal.jsonl", "spending.jsonl"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: how long is waited before it is looked what else there is to do
_TICK_S = 0.5


class BenchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is carried out. Nothing of it changes an episode, so it may differ whenever the run is gone on with."""

    parallel: int = 1
    engine: str = "local"
    #: address of a Ray cluster; None starts one here
    ray_address: str | None = None
    #: US dollars and tokens of the whole run, and of each episode
    budget: Budget = Budget()
    episode_budget: Budget = Budget()
    #: provider -> calls a minute
    per_minute: Mapping[str, float] = {}
    secrets: tuple[str, ...] = ()
    #: episodes that ended with a fault are begun again
    retry_faults: bool = False


class RunStopped(Exception):  # noqa: N818  nothing went wrong
    """A run was stopped before all of its episodes were there. `why` is "interrupted", or which budget is spent."""

    def __init__(self, state: RunState, why: str) -> None:
        self.state, self.why = state, why
        super().__init__(f"{why}; {state.ended} of {state.planned} episodes are done")


def plan_run(
    *,
    assistants: tuple[str, ...],
    humans: tuple[str, ...],
    tasks: tuple[str, ...],
    seeds: tuple[int, ...] = (0,),
    frames: bool = True,
    secrets: tuple[str, ...] = (),
) -> Plan:
    """The plan of a run; everything that it names is looked at. UnknownNameError, TaskError, ModelError and
    ParticipantError as of `record_tasks`; UnknownNameError too for what is named twice."""
    for what, names in (("assistant", assistants), ("human", humans), ("seed", tuple(map(str, seeds)))):
        if not names:
            raise UnknownNameError(what, "", hint="Name at least one.")
        for name in names:
            if names.count(name) > 1:
                raise UnknownNameError(what, name, hint="It is named twice; each counts once.")
    packs = find_tasks(tasks)
    check_tasks_load(packs)
    scripts = {a: script_of(a) for a in assistants}
    for assistant in assistants:
        for human in humans:
            check_participants(assistant, human, tasks=packs, frames=frames, secrets=secrets, budget=Budget())
    hosted = any(is_model(name) for name in (*assistants, *humans))
    return Plan(
        format=PLAN_FORMAT,
        assistants=assistants,
        humans=humans,
        asked=tasks,
        tasks=tuple(
            PlanTask(
                id=p.id,
                family=p.family,
                version=p.version,
                task_sha256=struct_hash(p),
                scene_sha256=struct_hash(compile_task(p)),
            )
            for p in packs
        ),
        seeds=seeds,
        frames=frames,
        prompts={n: sha256_hex(load_prompt(n).text.encode()) for n in PROMPT_NAMES} if hosted else {},
        scripts={a: sha256_hex(canonical_bytes(s)) for a, s in scripts.items() if s is not None},
        made_by=f"iwreplay {__version__}",
    )


def play_run(
    store_root: Path,
    name: str,
    *,
    plan: Plan | None,
    options: BenchOptions,
    progress: Callable[[RunState], None] = lambda state: None,
) -> RunState:
    """Plays what is left of a run; begins it when there is none of that name and a plan is given.

    Raises UnknownNameError for a run that there is not, StoreError for a plan that is another than the run's, and for a
    name that is no name; LogLockedError when the run is being played already; RunStopped after Ctrl-C and when the
    budget is spent. A fault of an episode is in its log and in the state; anything else that fails is raised, with what
    was recorded kept.
    """
    if options.engine not in ENGINES:
        raise UnknownNameError("engine", options.engine, known=ENGINES)
    folder = _folder(store_root, name)
    if plan is None:
        Store.open(store_root)
        plan = _again(_kept_plan(folder, name), options)
    _check_rates(plan, options.per_minute)
    store = Store.open_or_make(store_root, made_by=f"iwreplay {__version__}")
    folder.mkdir(parents=True, exist_ok=True)
    with (
        Journal[RunRecord](folder / JOURNAL, RunRecord) as journal,
        Journal[Charged](folder / SPENDING, Charged) as spending,
    ):
        # nobody else writes it meanwhile
        _agree(folder, name, plan, begun=bool(journal.records))
        return _Run(store, name, plan, options, journal=journal, spending=spending, tell=progress).play()


def _agree(folder: Path, name: str, plan: Plan, *, begun: bool) -> None:
    """Writes the plan down, or, once an episode of it was begun, sees that it is the one that is there."""
    path = folder / PLAN
    if not (begun and path.exists()):
        write_whole(path, msgspec.json.format(canonical_bytes(plan), indent=1) + b"\n")
        return
    differ = differences(_kept_plan(folder, name), plan)
    if differ:
        raise StoreError(
            f"the run {name!r} has another plan ({'; '.join(differ)}). Go on with it by: "
            f"iwreplay bench resume {name}; or give this one a name of its own with --run"
        )


def _check_rates(plan: Plan, per_minute: Mapping[str, float]) -> None:
    asked = {provider_of(parse_model(n).model) for n in (*plan.assistants, *plan.humans) if is_model(n)}
    for provider in per_minute:
        if provider not in asked:
            hint = "" if asked else "No hosted model plays in it."
            raise UnknownNameError("provider of this run", provider, known=tuple(sorted(asked)), hint=hint)


def run_state(store_root: Path, name: str) -> RunState:
    """Where a run stands, as its journal has it. UnknownNameError, StoreDamagedError."""
    Store.open(store_root)
    folder = _folder(store_root, name)
    plan = _kept_plan(folder, name)
    spent = Spent()
    for charged in _records(folder / SPENDING, Charged):
        spent = spent.plus(charged)
    return state_of(name, plan, progress_of(_records(folder / JOURNAL, RunRecord)), spent)


def run_episodes(store_root: Path, name: str) -> tuple[str, ...]:
    """Ids of the episodes that count for a run, in the order of its plan. UnknownNameError, StoreDamagedError."""
    Store.open(store_root)
    folder = _folder(store_root, name)
    plan, at = _kept_plan(folder, name), progress_of(_records(folder / JOURNAL, RunRecord))
    return tuple(at.ended[c.key].episode for c in plan.cells() if c.key in at.ended)


def is_run(store_root: Path, name: str) -> bool:
    """Whether the store has a run of that name."""
    return bool(_NAME.fullmatch(name)) and (store_root / RUNS / name / PLAN).exists()


def list_runs(store_root: Path) -> tuple[RunState, ...]:
    """Every run of a store, by name."""
    store = Store.open(store_root)
    folder = store.root / RUNS
    names = sorted(p.name for p in folder.iterdir() if (p / PLAN).exists()) if folder.is_dir() else []
    return tuple(run_state(store_root, name) for name in names)


def _records(path: Path, kind: Any) -> tuple[Any, ...]:
    return read_journal(path, kind) if path.exists() else ()


def _folder(store: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise StoreError(f"{name!r} is no name for a run: letters, digits, dots, dashes and underscores, at most 64")
    return store / RUNS / name


def _kept_plan(folder: Path, name: str) -> Plan:
    path = folder / PLAN
    try:
        raw = path.read_bytes()
        if msgspec.json.decode(raw, type=_PlanFormat).format > PLAN_FORMAT:
            raise StoreDamagedError(f"{path} was written by a newer iwreplay; upgrade to go on with this run")
        return msgspec.json.decode(raw, type=Plan)
    except FileNotFoundError:
        there = sorted(p.name for p in folder.parent.iterdir()) if folder.parent.is_dir() else []
        raise UnknownNameError("run", name, known=tuple(there), hint="Begin one with: iwreplay bench run") from None
    except msgspec.MsgspecError as e:
        raise StoreDamagedError(f"{path}: {e}. The episodes are untouched.") from None


def _again(kept: Plan, options: BenchOptions) -> Plan:
    """The kept plan, when everything that it names is still what it was."""
    now = plan_run(
        assistants=kept.assistants,
        humans=kept.humans,
        tasks=kept.asked,
        seeds=kept.seeds,
        frames=kept.frames,
        secrets=options.secrets,
    )
    differ = differences(kept, now)
    if differ:
        raise StoreError(f"the run can't go on as it was planned: {'; '.join(differ)}. Begin a new one.")
    return kept


class _PlanFormat(msgspec.Struct):
    """What is read of a plan before the rest."""

    format: int


class _Run:
    """One run, while it is played."""

    def __init__(
        self,
        store: Store,
        name: str,
        plan: Plan,
        options: BenchOptions,
        *,
        journal: Journal[RunRecord],
        spending: Journal[Charged],
        tell: Callable[[RunState], None],
    ) -> None:
        self.store, self.name, self.plan, self.options = store, name, plan, options
        packs = find_tasks(plan.asked)
        limited = options.budget.narrowed(options.episode_budget)
        look = partial(check_participants, tasks=packs, frames=plan.frames, secrets=options.secrets, budget=limited)
        for assistant in plan.assistants:
            for human in plan.humans:
                look(assistant, human)
        self.journal, self.tell = journal, tell
        spent = Spent()
        for charged in spending.records:
            spent = spent.plus(charged)
        self.meter = RunMeter(options.budget, per_minute=options.per_minute, spent=spent, keep=spending.append)
        self.at = progress_of(journal.records)
        self.packs = {p.id: p for p in packs}
        self.scripts = {a: script_of(a) for a in plan.assistants}
        #: why nothing more is begun; None while something is
        self.halted: str | None = None

    def play(self) -> RunState:
        self._settle()
        left = deque(c for c in self.plan.cells() if not self._is_ended(c))
        self._tell()
        # Ctrl-C is listened to while nothing is written down
        with self._engine() as engine, _broken_off(), Interrupts() as ctrl_c:
            flying: dict[str, Cell] = {}
            try:
                while (left and self.halted is None) or flying:
                    self._fill(engine, left, flying)
                    with ctrl_c.listening():
                        found = engine.wait(_TICK_S)
                    for done in found:
                        self._take(done, flying, left)
                    self._tell()
            except KeyboardInterrupt:
                self.halted = "interrupted"
            for done in engine.stop():
                self._take(done, flying, left)
            # an answer that Ctrl-C came across is not told any more
            for episode, cell in flying.items():
                self._settle_one(cell.key, episode, why="stopped")
        state = self.state
        if self.halted is not None:
            raise RunStopped(state, self.halted)
        return state

    @property
    def state(self) -> RunState:
        return state_of(self.name, self.plan, self.at, self.meter.spent)

    def _tell(self) -> None:
        self.tell(self.state)

    def _engine(self) -> Engine:
        if self.options.engine == "ray":
            from iwreplay.app.ray_engine import RayEngine

            return RayEngine(self.meter, address=self.options.ray_address, jobs=self.options.parallel)
        if self.options.parallel <= 1:
            return SequentialEngine(self.meter)
        return LocalEngine(self.meter, jobs=self.options.parallel)

    def _is_ended(self, cell: Cell) -> bool:
        ended = self.at.ended.get(cell.key)
        return ended is not None and (ended.valid or not self.options.retry_faults)

    def _fill(self, engine: Engine, left: deque[Cell], flying: dict[str, Cell]) -> None:
        """Hands out what there is room for. An episode whose worker was lost is played alone, so that it is known whose
        fault it is when that happens again."""
        while left and len(flying) < engine.capacity and self.halted is None:
            if flying and any(self.at.losses.get(c.key) for c in (left[0], *flying.values())):
                return
            self.halted = self._out_of_budget()
            if self.halted is not None:
                return
            cell = left.popleft()
            job = self._job(cell)
            self._note(Begun(cell=cell.key, episode=job.episode.id))
            flying[job.episode.id] = cell
            engine.submit(job)

    def _out_of_budget(self) -> str | None:
        used = self.meter.used_up()
        return None if used is None else f"the budget of the run is spent ({used})"

    def _job(self, cell: Cell) -> Job:
        episode = self.store.new_episode(
            task=cell.task, assistant=label_of(cell.assistant), human=label_of(cell.human), seed=cell.seed
        )
        wish = Wish(
            store=self.store.root,
            assistant=cell.assistant,
            script=self.scripts[cell.assistant],
            human=cell.human,
            seed=cell.seed,
            frames=self.plan.frames,
            threads=threads_for(self.options.parallel),
            secrets=self.options.secrets,
            budget=self.options.episode_budget,
            run_budget=self.options.budget,
        )
        return Job(episode=episode, task=self.packs[cell.task], wish=wish)

    def _note(self, record: RunRecord) -> None:
        self.journal.append(record)
        self.at.take(record)

    # -- what became of an episode -------------------------------------------------------------------------------

    def _take(self, done: Done, flying: dict[str, Cell], left: deque[Cell]) -> None:
        """Puts down what became of a job."""
        cell = flying.pop(done.job.episode.id)
        if done.recorded is not None:
            self._recorded(cell, done.recorded)
        elif isinstance(done.error, LostError):
            self._lost(cell, done.job.episode, left, alone=done.error.alone)
        elif isinstance(done.error, StoppedError):
            self._note(Lost(cell=cell.key, episode=done.job.episode.id, why="stopped"))
            self.halted = self.halted or "interrupted"
        else:
            assert done.error is not None, "a job has a result or an error"
            raise done.error

    def _recorded(self, cell: Cell, r: RecordedEpisode) -> None:
        if r.end_reason == "interrupted":
            self._note(Lost(cell=cell.key, episode=r.episode, why="stopped"))
            self.halted = self.halted or "interrupted"
        elif r.detail.split(": ")[1:2] == [RUN_BUDGET]:
            self._note(Lost(cell=cell.key, episode=r.episode, why="stopped"))
            self.halted = self.halted or self._out_of_budget()
        else:
            self._note(_ended(cell.key, r))

    def _lost(self, cell: Cell, episode: Episode, left: deque[Cell], *, alone: bool) -> None:
        """A worker died. The episode may be whole all the same; one that was not begun was only beside it."""
        whole = _whole(episode)
        if whole is not None:
            self._note(msgspec.structs.replace(whole, cell=cell.key))
            return
        began = alone or episode.begun
        _tidy(episode)
        if began and self.at.losses.get(cell.key):
            self._note(_given_up(cell, episode))
            return
        self._note(Lost(cell=cell.key, episode=episode.id, why="worker" if began else "stopped"))
        left.append(cell)

    def _settle(self) -> None:
        """Whoever played the run before may have been killed: what it had begun is whole, or lost."""
        for cell, episode_id in list(self.at.open.items()):
            self._settle_one(cell, episode_id, why="killed")

    def _settle_one(self, cell: str, episode_id: str, *, why: str) -> None:
        episode = {e.id: e for e in self.store.episodes()}.get(episode_id)
        whole = None if episode is None else _whole(episode)
        if whole is not None:
            self._note(msgspec.structs.replace(whole, cell=cell))
            return
        if episode is not None:
            _tidy(episode)
        self._note(Lost(cell=cell, episode=episode_id, why=why))


@contextmanager
def _broken_off() -> Iterator[None]:
    """A second Ctrl-C breaks off at once: what was begun is settled when the run goes on."""
    try:
        yield
    except EpisodeStopped:
        raise KeyboardInterrupt("broken off; what is whole is found when the run goes on") from None


def _tidy(episode: Episode) -> None:
    """Takes away the folder of an episode that was never begun."""
    if episode.folder is not None and not any(episode.folder.iterdir()):
        episode.folder.rmdir()


def _given_up(cell: Cell, episode: Episode) -> Ended:
    """An episode that kills its worker."""
    return Ended(
        cell=cell.key,
        episode=episode.id,
        root_hash="",
        status="unfinished",
        end_reason="fault",
        valid=False,
        passed=None,
        mcr=None,
        turns=0,
        actions=0,
        detail="its worker was killed, or ran out of memory, also when it played nothing else",
    )


def _ended(cell: str, r: RecordedEpisode) -> Ended:
    return Ended(
        cell=cell,
        episode=r.episode,
        root_hash=r.root_hash,
        status=r.status,
        end_reason=r.end_reason,
        valid=r.valid,
        passed=r.passed,
        mcr=r.mcr,
        turns=r.turns,
        actions=r.actions,
        detail=r.detail,
        calls=r.spent.calls,
        tokens=r.spent.tokens,
        cost_usd=r.spent.cost_usd,
    )


def _whole(episode: Episode) -> Ended | None:
    """What became of an episode whose recorder did not live to say it; None when it was broken off."""
    ended, spent, out_of_budget = None, Spent(), False
    try:
        with read_log(episode.log) as log:
            for _, event in log:
                if isinstance(event, EpisodeEnded):
                    ended = event
                elif isinstance(event, ModelCall) and event.outcome not in ("overflow", "failed"):
                    spent = spent.plus(event)
                elif isinstance(event, Fault):
                    out_of_budget = event.code == RUN_BUDGET
        if ended is None or ended.reason == "interrupted" or out_of_budget:
            return None
        # its recorder may have been killed between the last event and the seal
        seal(episode.log)
        with read_log(episode.log) as log:
            root, state = log.root_hash, log.state
    except (LogError, OSError):
        return None
    assert root is not None, "a sealed log has a root hash"
    values = {line.metric: line.value for line in score_episode(episode)}
    passed = values["pass"]
    return Ended(
        cell="",
        episode=episode.id,
        root_hash=root,
        status=status_of(state, end_reason=ended.reason),
        end_reason=ended.reason,
        valid=ended.valid,
        passed=None if passed is None else passed == 1.0,
        mcr=values["mcr"],
        turns=ended.turns,
        actions=ended.actions,
        detail=ended.detail,
        calls=spent.calls,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd,
    )
