"""Benchmark runs: every task with every Assistant and Human that was asked for, gone on with however they were stopped.

What a run consists of and where it stands is in its folder (`iwreplay.app.run_folder`).
The episodes are in the store like any others. One that is whole counts for its place in the plan, once; one that was
broken off stays where it is, counts for nothing, and is begun again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from iwreplay.app.bench_episodes import ended_of, given_up, tidy, whole
from iwreplay.app.engines import Done, Engine, Job, LocalEngine, LostError, SequentialEngine, StoppedError
from iwreplay.app.model_participants import ModelSpec, is_model, opened_model, parse_model
from iwreplay.app.pool import threads_for
from iwreplay.app.recording import Budget, RecordedEpisode, Wish, check_participants, label_of, script_of
from iwreplay.app.run_folder import RunFolder, run_names
from iwreplay.app.standing import PairResult, RunState, state_of
from iwreplay.app.tasks import find_tasks
from iwreplay.app.usable import check_tasks_load
from iwreplay.canonical import canonical_bytes, sha256_hex, struct_hash
from iwreplay.errors import IwreplayError, StoreError, UnknownNameError
from iwreplay.loop import EpisodeStopped
from iwreplay.scene.library import Library, load_library
from iwreplay.scene.loader import data_root
from iwreplay.store import Episode, Store
from iwreplay.store.journal import Journal
from iwreplay.taskpack.loader import compile_task
from iwreplay.taskpack.model import TaskPack
from iwreplay.version import __version__
from recorder.benchmark import (
    Begun,
    Cell,
    Charged,
    Limits,
    Lost,
    Plan,
    PlanTask,
    Progress,
    RunMeter,
    RunRecord,
    differences,
    progress_of,
)
from recorder.benchmark.meter import provider_of
from recorder.benchmark.plan import PLAN_FORMAT
from recorder.interrupts import Interrupts
from recorder.models.metering import MODEL_SHUT, RUN_BUDGET, Spent
from recorder.prompts import PROMPT_NAMES, load_prompt

__all__ = [
    "ENGINES",
    "BenchOptions",
    "Budget",
    "Limits",
    "PairResult",
    "RunState",
    "RunStopped",
    "Spent",
    "known_plan",
    "list_runs",
    "plan_run",
    "play_run",
    "run_state",
]

ENGINES = ("local", "ray")
#: how long is waited before it is looked what else there is to do
_TICK_S = 0.5


class BenchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is carried out. Nothing of it changes an episode, so it may differ whenever the run is gone on with."""

    parallel: int = 1
    engine: str = "local"
    #: address of a Ray cluster; None starts one here
    ray_address: str | None = None
    #: in place of those that the run had so far, where one is given
    limits: Limits = Limits()
    secrets: tuple[str, ...] = ()
    #: episodes that ended with a fault are begun again
    retry_faults: bool = False


class RunStopped(Exception):  # noqa: N818  nothing went wrong
    """A run was stopped before all of its episodes were there. `why` is "interrupted", which budget is spent, or what
    every call of a model would meet; `raised` is the option to go on with, where one must be given."""

    def __init__(self, state: RunState, why: str, *, raised: str = "") -> None:
        self.state, self.why, self.raised = state, why, raised
        super().__init__(f"{why}; {state.ended} of {state.planned} episodes are done")


def plan_run(
    *,
    assistants: tuple[str, ...],
    humans: tuple[str, ...],
    tasks: tuple[str, ...],
    seeds: tuple[int, ...] = (0,),
    frames: bool = True,
    secrets: tuple[str, ...] = (),
    known: Plan | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Plan:
    """The plan of a run; everything that it names is looked at, but for tasks that are as a `known` plan has them.
    UnknownNameError, TaskError, ModelError and ParticipantError as of `record_tasks`; UnknownNameError too for what is
    named twice."""
    for what, names in (("assistant", assistants), ("human", humans), ("seed", tuple(map(str, seeds)))):
        if not names:
            raise UnknownNameError(what, "", hint="Name at least one.")
        for name in names:
            if names.count(name) > 1:
                raise UnknownNameError(what, name, hint="It is named twice; each counts once.")
    packs = find_tasks(tasks)
    progress(0, len(packs))
    scripts = {a: script_of(a) for a in assistants}
    for assistant in assistants:
        for human in humans:
            check_participants(assistant, human, tasks=packs, frames=frames, secrets=secrets, budget=Budget())
    library = load_library(data_root() / "objects")
    looked_at = set() if known is None else set(known.tasks)
    planned = tuple(_planned(p, library) for p in packs)
    new = [pack for pack, task in zip(packs, planned, strict=True) if task not in looked_at]
    check_tasks_load(new, progress=progress)
    hosted = any(is_model(name) for name in (*assistants, *humans))
    return Plan(
        format=PLAN_FORMAT,
        assistants=assistants,
        humans=humans,
        asked=tasks,
        tasks=planned,
        seeds=seeds,
        frames=frames,
        prompts={n: sha256_hex(load_prompt(n).text.encode()) for n in PROMPT_NAMES} if hosted else {},
        scripts={a: sha256_hex(canonical_bytes(s)) for a, s in scripts.items() if s is not None},
        made_by=f"iwreplay {__version__}",
    )


def _planned(pack: TaskPack, library: Library) -> PlanTask:
    return PlanTask(
        id=pack.id,
        family=pack.family,
        version=pack.version,
        task_sha256=struct_hash(pack),
        scene_sha256=struct_hash(compile_task(pack, library=library)),
    )


def play_run(
    store_root: Path,
    name: str,
    *,
    plan: Plan | None,
    options: BenchOptions,
    progress: Callable[[RunState], None] = lambda state: None,
    looking: Callable[[int, int], None] = lambda done, of: None,
) -> RunState:
    """Plays what is left of a run; begins it when there is none of that name and a plan is given. `looking` hears of
    the tasks that are looked at before.

    Raises UnknownNameError for a run that there is not, StoreError for a plan that is another than the run's, and for a
    name that is no name; LogLockedError when the run is being played already; RunStopped after Ctrl-C, when the budget
    is spent and when a model can't be asked. A fault of an episode is in its log and in the state; anything else that
    fails is raised, with what was recorded kept. A run that is refused leaves nothing behind.
    """
    if options.engine not in ENGINES:
        raise UnknownNameError("engine", options.engine, known=ENGINES)
    folder = RunFolder(store_root, name)
    limits = folder.limits().changed_by(options.limits)
    if plan is None:
        Store.open(store_root)
        kept = folder.plan()
        over = _nothing_to_play(folder, kept, limits, options)
        if over is not None:
            return over
        plan = _again(kept, options, looking)
    _check_rates(plan, limits.per_minute)
    _check_limited(plan, limits, options)
    store = Store.open_or_make(store_root, made_by=f"iwreplay {__version__}")
    new = folder.make()
    try:
        with (
            Journal[RunRecord](folder.journal, RunRecord) as journal,
            Journal[Charged](folder.spending, Charged) as spending,
        ):
            # nobody else writes it meanwhile
            _agree(folder, plan, begun=bool(journal.records))
            folder.keep_limits(limits)
            run = _Run(store, name, plan, options, limits, journal=journal, spending=spending, tell=progress)
            new = new and not journal.records
            try:
                return run.play()
            finally:
                new = new and not journal.records
    except (IwreplayError, OSError):
        if new:
            folder.remove()
        raise


def _nothing_to_play(folder: RunFolder, plan: Plan, limits: Limits, options: BenchOptions) -> RunState | None:
    """Where a run stands of which nothing is left; None when something is. RunStopped when its budget is spent."""
    at, spent = folder.progress(), folder.spent()
    if at.open:
        return None
    state = state_of(folder.name, plan, at, spent, limits)
    if all(_counts(at, cell, options) for cell in plan.cells()):
        return state
    _refuse_spent(state, limits)
    return None


def _refuse_spent(state: RunState, limits: Limits) -> None:
    """RunStopped when nothing more may be asked of models."""
    used = limits.run.used_up_by(state.spent)
    if used is not None:
        raise RunStopped(state, f"the budget of the run is spent ({used})", raised=_larger(limits.run, state.spent))


def _larger(budget: Budget, spent: Spent) -> str:
    """The option that raises what is spent."""
    tokens = budget.tokens is not None and spent.tokens >= budget.tokens
    return "--run-tokens N" if tokens else "--run-cost USD"


def _counts(at: Progress, cell: Cell, options: BenchOptions) -> bool:
    """Whether there is an episode in that place of the plan."""
    ended = at.ended.get(cell.key)
    return ended is not None and (ended.valid or not options.retry_faults)


def _agree(folder: RunFolder, plan: Plan, *, begun: bool) -> None:
    """Writes the plan down, or, once an episode of it was begun, sees that it is the one that is there."""
    if not (begun and folder.planned):
        folder.keep_plan(plan)
        return
    differ = differences(folder.plan(), plan)
    if differ:
        raise StoreError(
            f"the run {folder.name!r} has another plan ({'; '.join(differ)}). Go on with it by: "
            f"iwreplay bench resume {folder.name}; or give this one a name of its own with --run"
        )


def _models_of(plan: Plan) -> tuple[ModelSpec, ...]:
    return tuple(parse_model(n) for n in (*plan.assistants, *plan.humans) if is_model(n))


def _check_rates(plan: Plan, per_minute: Mapping[str, float]) -> None:
    asked = {provider_of(spec.model) for spec in _models_of(plan)}
    for provider in per_minute:
        if provider not in asked:
            hint = "" if asked else "No hosted model plays in it."
            raise UnknownNameError("provider of this run", provider, known=tuple(sorted(asked)), hint=hint)


def _check_limited(plan: Plan, limits: Limits, options: BenchOptions) -> None:
    """ModelError when what is limited can't be counted."""
    for spec in _models_of(plan):
        opened_model(spec, secrets=options.secrets, limited=limits.run.narrowed(limits.episode))


def known_plan(store_root: Path, name: str) -> Plan | None:
    """The plan of a run, None when there is no such run. StoreError, StoreDamagedError."""
    folder = RunFolder(store_root, name)
    return folder.plan() if folder.planned else None


def run_state(store_root: Path, name: str) -> RunState:
    """Where a run stands, as its journal has it. UnknownNameError, StoreDamagedError."""
    Store.open(store_root)
    folder = RunFolder(store_root, name)
    plan = folder.plan()
    return state_of(name, plan, folder.progress(), folder.spent(), folder.limits())


def run_episodes(store_root: Path, name: str) -> tuple[str, ...]:
    """Ids of the episodes that count for a run, in the order of its plan. UnknownNameError, StoreDamagedError."""
    Store.open(store_root)
    folder = RunFolder(store_root, name)
    plan, at = folder.plan(), folder.progress()
    return tuple(at.ended[c.key].episode for c in plan.cells() if c.key in at.ended)


def is_run(store_root: Path, name: str) -> bool:
    """Whether the store has a run of that name."""
    return name in run_names(store_root)


def list_runs(store_root: Path) -> tuple[RunState, ...]:
    """Every run of a store, by name."""
    return tuple(run_state(store_root, name) for name in run_names(Store.open(store_root).root))


def _again(kept: Plan, options: BenchOptions, looking: Callable[[int, int], None]) -> Plan:
    """The kept plan, when everything that it names is still what it was."""
    now = plan_run(
        assistants=kept.assistants,
        humans=kept.humans,
        tasks=kept.asked,
        seeds=kept.seeds,
        frames=kept.frames,
        secrets=options.secrets,
        known=kept,
        progress=looking,
    )
    differ = differences(kept, now)
    if differ:
        raise StoreError(f"the run can't go on as it was planned: {'; '.join(differ)}. Begin a new one.")
    return kept


class _Run:
    """One run, while it is played."""

    def __init__(
        self,
        store: Store,
        name: str,
        plan: Plan,
        options: BenchOptions,
        limits: Limits,
        *,
        journal: Journal[RunRecord],
        spending: Journal[Charged],
        tell: Callable[[RunState], None],
    ) -> None:
        self.store, self.name, self.plan, self.options, self.limits = store, name, plan, options, limits
        packs = find_tasks(plan.asked)
        self.journal, self.tell = journal, tell
        spent = Spent()
        for charged in spending.records:
            spent = spent.plus(charged)
        self.meter = RunMeter(limits.run, per_minute=limits.per_minute, spent=spent, keep=spending.append)
        self.at = progress_of(journal.records)
        self.packs = {p.id: p for p in packs}
        self.scripts = {a: script_of(a) for a in plan.assistants}
        #: why nothing more is begun; None while something is
        self.halted: str | None = None
        #: participant whose model can't be asked by any episode -> why; the others are played
        self.shut: dict[str, str] = {}

    def play(self) -> RunState:
        self._settle()
        left = deque(c for c in self.plan.cells() if not _counts(self.at, c, self.options))
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
        if self.halted is None and self.shut:
            self.halted = "; ".join(dict.fromkeys(self.shut.values()))
        if self.halted is None:
            return state
        if self.meter.used_up() is not None and self.halted != "interrupted":
            _refuse_spent(state, self.limits)
        raise RunStopped(state, self.halted)

    @property
    def state(self) -> RunState:
        return state_of(self.name, self.plan, self.at, self.meter.spent, self.limits)

    def _tell(self) -> None:
        self.tell(self.state)

    def _engine(self) -> Engine:
        if self.options.engine == "ray":
            from iwreplay.app.ray_engine import RayEngine

            return RayEngine(self.meter, address=self.options.ray_address, jobs=self.options.parallel)
        if self.options.parallel <= 1:
            return SequentialEngine(self.meter)
        return LocalEngine(self.meter, jobs=self.options.parallel)

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
            budget=self.limits.episode,
            run_budget=self.limits.run,
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
            self._recorded(cell, done.recorded, left)
        elif isinstance(done.error, LostError):
            self._lost(cell, done.job.episode, left, alone=done.error.alone)
        elif isinstance(done.error, StoppedError):
            tidy(done.job.episode)
            self._note(Lost(cell=cell.key, episode=done.job.episode.id, why="stopped"))
            self.halted = self.halted or "interrupted"
        else:
            assert done.error is not None, "a job has a result or an error"
            raise done.error

    def _recorded(self, cell: Cell, r: RecordedEpisode, left: deque[Cell]) -> None:
        if r.end_reason == "interrupted":
            self._note(Lost(cell=cell.key, episode=r.episode, why="stopped"))
            self.halted = self.halted or "interrupted"
        elif r.fault == RUN_BUDGET:
            self._note(Lost(cell=cell.key, episode=r.episode, why="stopped"))
            self.halted = self.halted or self._out_of_budget()
        elif r.fault == MODEL_SHUT:
            self._note(Lost(cell=cell.key, episode=r.episode, why="stopped"))
            source, _, reason = r.detail.split(": ", 2)
            self.shut[cell.assistant if source == "participant:assistant" else cell.human] = reason
            # every other episode of that participant would end so too
            open_ = [c for c in left if not self._is_shut(c)]
            left.clear()
            left.extend(open_)
        else:
            self._note(ended_of(cell.key, r))

    def _lost(self, cell: Cell, episode: Episode, left: deque[Cell], *, alone: bool) -> None:
        """A worker died. The episode may be whole all the same; one that was not begun was only beside it."""
        ended = whole(episode)
        if ended is not None:
            self._note(msgspec.structs.replace(ended, cell=cell.key))
            return
        began = alone or episode.begun
        tidy(episode)
        if began and self.at.losses.get(cell.key):
            self._note(given_up(cell, episode))
            return
        self._note(Lost(cell=cell.key, episode=episode.id, why="worker" if began else "stopped"))
        if not self._is_shut(cell):
            left.append(cell)

    def _is_shut(self, cell: Cell) -> bool:
        return cell.assistant in self.shut or cell.human in self.shut

    def _settle(self) -> None:
        """Whoever played the run before may have been killed: what it had begun is whole, or lost."""
        for cell, episode_id in list(self.at.open.items()):
            self._settle_one(cell, episode_id, why="killed")

    def _settle_one(self, cell: str, episode_id: str, *, why: str) -> None:
        episode = {e.id: e for e in self.store.episodes()}.get(episode_id)
        ended = None if episode is None else whole(episode)
        if ended is not None:
            self._note(msgspec.structs.replace(ended, cell=cell))
            return
        if episode is not None:
            tidy(episode)
        self._note(Lost(cell=cell, episode=episode_id, why=why))


@contextmanager
def _broken_off() -> Iterator[None]:
    """A second Ctrl-C breaks off at once: what was begun is settled when the run goes on."""
    try:
        yield
    except EpisodeStopped:
        raise KeyboardInterrupt("broken off; what is whole is found when the run goes on") from None
