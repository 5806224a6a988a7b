"""Recording episodes into a store, and scoring each at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from iwreplay import __version__
from iwreplay.app.pool import each, threads_for
from iwreplay.app.scoring import score_episode
from iwreplay.app.tasks import find_tasks
from iwreplay.app.usable import check_tasks_load
from iwreplay.errors import IwreplayError, UnknownNameError
from iwreplay.frames.maker import FrameMaker
from iwreplay.loop import configured
from iwreplay.ports import Assistant, AssistantAct, Human
from iwreplay.scene.model import CompiledScene
from iwreplay.store import Episode, Store, status_of
from iwreplay.taskpack.loader import validate_task
from iwreplay.taskpack.model import TaskPack
from recorder.assistants import OracleAssistant, RandomAssistant, ScriptedAssistant, SilentAssistant, load_lines
from recorder.chance import SeededRng
from recorder.humans import LiteralHuman
from recorder.record import Recorded, RecordingInterrupted, record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator

__all__ = [
    "ASSISTANTS",
    "HUMANS",
    "RecordedEpisode",
    "RunBrokenError",
    "RunInterrupted",
    "Wish",
    "assistant_named",
    "human_named",
    "record_task",
    "record_tasks",
]

_SCRIPTED = "scripted:"
ASSISTANTS = ("oracle", "silent", "random", "scripted:FILE")
HUMANS = ("literal",)


class RecordedEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded episode, scored."""

    episode: str
    task: str
    assistant: str
    human: str
    #: None when the episode is not valid
    passed: bool | None
    #: satisfied share of the objectives; None when the episode is not valid
    mcr: float | None
    log: str
    root_hash: str
    end_reason: str
    #: what became of it, see `iwreplay.store.STATUSES`
    status: str
    valid: bool
    turns: int
    #: commands of live interaction, refused ones included
    actions: int
    events: int
    #: why it is not valid, or ""
    detail: str


class RunInterrupted(KeyboardInterrupt):
    """The user stopped a run. An interrupted episode is the last of `done`; those after it are not begun."""

    def __init__(self, done: tuple[RecordedEpisode, ...]) -> None:
        self.done = done
        super().__init__(f"interrupted; {len(done)} of the episodes are done")


class RunBrokenError(IwreplayError):
    """An episode of a run could not be recorded (`cause`, for example a full disk). Those before it are `done`,
    those after it are not begun, or not told of."""

    def __init__(self, done: tuple[RecordedEpisode, ...], cause: IwreplayError | OSError) -> None:
        self.done, self.cause = done, cause
        super().__init__(f"{cause}; {len(done)} of the episodes are done")


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How to record: everything but the task. Pickles, so that a worker process can carry it out."""

    store: Path
    #: as it was asked for
    assistant: str
    #: what a scripted Assistant says; its file is read once, it may be a pipe
    script: tuple[AssistantAct, ...] | None = None
    human: str
    seed: int = 0
    #: False: frames are not drawn, only what is visible is worked out
    frames: bool = True
    #: for drawing; None uses every core
    threads: int | None = None


def record_tasks(
    store: Path,
    tasks: tuple[str, ...],
    *,
    assistant: str = "oracle",
    human: str = "literal",
    seed: int = 0,
    frames: bool = True,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[RecordedEpisode, ...]:
    """Records one episode of each task. Every name is checked before the first episode begins.

    Raises UnknownNameError for a name, TaskError for a malformed task, ParticipantError for an unusable script,
    StoreError for a folder of other things; RunInterrupted after Ctrl-C, and RunBrokenError after any other fault, with
    what was recorded until then.
    """
    packs = find_tasks(tasks)
    script = _script_of(assistant)
    check_tasks_load(packs)
    human_named(human)
    Store.open_or_make(store, made_by=f"iwreplay {__version__}")
    wish = Wish(
        store=store,
        assistant=assistant,
        script=script,
        human=human,
        seed=seed,
        frames=frames,
        threads=threads_for(jobs),
    )
    done: list[RecordedEpisode] = []
    try:
        for recorded in each(partial(record_task, wish=wish), packs, jobs=jobs, progress=progress):
            done.append(recorded)
            if recorded.end_reason == "interrupted" and jobs == 1:
                break
    except KeyboardInterrupt:
        # between two episodes, or in the worker processes
        raise RunInterrupted(tuple(done)) from None
    except (IwreplayError, OSError) as e:
        if not done:
            raise
        raise RunBrokenError(tuple(done), e) from e
    if any(r.end_reason == "interrupted" for r in done):
        raise RunInterrupted(tuple(done))
    return tuple(done)


def record_task(task: TaskPack, *, wish: Wish) -> RecordedEpisode:
    """Records one episode in the store and scores it."""
    scene = validate_task(task)
    speaker = assistant_named(wish.assistant, task=task, scene=scene, script=wish.script, seed=wish.seed)
    listener = human_named(wish.human)
    store = Store.open_or_make(wish.store, made_by=f"iwreplay {__version__}")
    episode = store.new_episode(
        task=task.id, assistant=speaker.about().name, human=listener.about().name, seed=wish.seed
    )
    try:
        recorded = record_episode(
            task,
            scene=scene,
            assistant=speaker,
            human=listener,
            simulator=MujocoSimulator,
            frames=lambda scene, config: FrameMaker(scene, config=config, threads=wish.threads),
            path=episode.log,
            config=configured(task, seed=wish.seed, draw_frames=wish.frames),
        )
    except RecordingInterrupted as stopped:
        recorded = stopped.recorded
    finally:
        _tidy(episode)
    return _scored(episode, task, wish, recorded)


def assistant_named(
    name: str,
    *,
    task: TaskPack,
    scene: CompiledScene,
    script: tuple[AssistantAct, ...] | None = None,
    seed: int = 0,
) -> Assistant:
    """The Assistant of that name for that task; a scripted one says `script`, or the lines of its file when that is
    None; the random one speaks of what is there at the start. UnknownNameError; LinesError for an unusable script."""
    lines = _script_of(name) if script is None else script
    if lines is not None:
        return ScriptedAssistant(lines)
    if name == "random":
        there = [t.name for t in scene.things if t.name and t.attrs.get("exists") is not False]
        return RandomAssistant(tuple(dict.fromkeys(there)), rng=SeededRng(task.id, seed))
    return OracleAssistant(task.oracle) if name == "oracle" else SilentAssistant()


def _script_of(name: str) -> tuple[AssistantAct, ...] | None:
    """The lines of a scripted Assistant; None for one that needs none. UnknownNameError, LinesError."""
    if name.startswith(_SCRIPTED):
        file = name.removeprefix(_SCRIPTED)
        if not file:
            raise UnknownNameError("assistant", name, hint="Name the file of its lines: scripted:FILE.")
        return load_lines(file)
    if name not in ASSISTANTS:
        raise UnknownNameError("assistant", name, known=ASSISTANTS)
    return None


def human_named(name: str) -> Human:
    """The Human of that name, or UnknownNameError."""
    if name == "literal":
        return LiteralHuman()
    raise UnknownNameError("human", name, known=HUMANS)


def _scored(episode: Episode, task: TaskPack, wish: Wish, recorded: Recorded) -> RecordedEpisode:
    values = {line.metric: line.value for line in score_episode(episode)}
    passed = values["pass"]
    result = recorded.result
    return RecordedEpisode(
        episode=episode.id,
        task=task.id,
        assistant=wish.assistant,
        human=wish.human,
        passed=None if passed is None else passed == 1.0,
        mcr=values["mcr"],
        log=str(episode.log),
        root_hash=recorded.root_hash,
        end_reason=result.reason,
        status=status_of("sealed", end_reason=result.reason),
        valid=result.valid,
        turns=result.turns,
        actions=result.actions,
        events=recorded.events,
        detail=result.detail,
    )


def _tidy(episode: Episode) -> None:
    """Takes the folder away again when nothing was ever written into it."""
    if episode.folder is not None and not any(episode.folder.iterdir()):
        episode.folder.rmdir()
