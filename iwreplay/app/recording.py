"""Recording episodes into a store, and scoring each at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from iwreplay.app.episodes import find_episode
from iwreplay.app.model_participants import (
    is_model,
    model_assistant,
    model_human,
    model_on_cassette,
    opened_model,
    parse_model,
)
from iwreplay.app.pool import each, threads_for
from iwreplay.app.scoring import score_episode
from iwreplay.app.tasks import find_tasks
from iwreplay.app.usable import check_tasks_load
from iwreplay.app.ways import NEAR_MISS, NO_HELP, left_alone, near_miss_named, nobody
from iwreplay.errors import IwreplayError, ParticipantError, UnknownNameError
from iwreplay.events import EpisodeConfig
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.loop import configured
from iwreplay.ports import Assistant, AssistantAct, Human
from iwreplay.scene.model import CompiledScene
from iwreplay.store import Episode, Store, status_of
from iwreplay.taskpack.loader import validate_task
from iwreplay.taskpack.model import TaskPack
from iwreplay.version import __version__
from recorder.assistants import OracleAssistant, RandomAssistant, ScriptedAssistant, SilentAssistant, load_lines
from recorder.assistants.hosted import arm_name
from recorder.assistants.person import PersonAssistant
from recorder.chance import SeededRng
from recorder.console import Console
from recorder.humans import LiteralHuman
from recorder.humans.person import PersonHuman
from recorder.models.metering import MODEL_SHUT, Budget, EpisodeMeter, Meter, Spent
from recorder.models.unheard import Unheard, unheard
from recorder.record import Recorded, RecordingInterrupted, record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator

__all__ = [
    "ASSISTANTS",
    "HUMANS",
    "Budget",
    "RecordedEpisode",
    "RunBrokenError",
    "RunInterrupted",
    "RunShut",
    "Wish",
    "assistant_named",
    "check_participants",
    "human_named",
    "is_person",
    "label_of",
    "record_into",
    "record_task",
    "record_tasks",
    "script_of",
]

_SCRIPTED = "scripted:"
PERSON = "person"
#: said when a list of participants was cut at the comma before a setting
_AFTER_SEMICOLON = "Settings of a model stand after a semicolon in a list: 'model:openai/NAME;memory=on'."
_NO_LIMIT = Budget()
ASSISTANTS = ("oracle", "silent", NO_HELP, f"{NEAR_MISS}ID", "random", "scripted:FILE", "model:NAME", PERSON)
HUMANS = ("literal", "model:NAME", PERSON)
#: the console of the person who plays an episode
OpenConsole = Callable[[Episode], Console]


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
    #: what its models took
    spent: Spent = Spent()
    #: which of their answers could not be used
    unheard: Unheard = Unheard()

    @property
    def fault(self) -> str:
        """Code of the fault of a participant that ended it, or ""."""
        return (self.detail.split(": ", 2)[1:2] or [""])[0] if self.end_reason == "fault" else ""


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


class RunShut(Exception):  # noqa: N818  what went wrong is in the last episode
    """A model can't be asked (its name, its key), as the last of `done` tells; the tasks `left` are not begun, because
    every call would meet that."""

    def __init__(self, done: tuple[RecordedEpisode, ...], left: tuple[str, ...]) -> None:
        self.done, self.left = done, left
        super().__init__(f"{len(left)} of the episodes are not begun")


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How to record: everything but the task. Pickles, so that a worker process can carry it out, unless it has a
    console: a person plays one episode at a time, in this process."""

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
    #: for hosted models: what nothing may show, what each episode may take, and who else counts
    secrets: tuple[str, ...] = ()
    budget: Budget = Budget()
    meter: Meter | None = None
    #: what the whole run may take; `meter` counts it
    run_budget: Budget = Budget()
    #: log of an episode whose models answer again, in place of their providers
    cassette: Path | None = None
    #: None: nobody is there to play
    console: OpenConsole | None = None


def record_tasks(
    store: Path,
    tasks: tuple[str, ...],
    *,
    assistant: str = "oracle",
    human: str = "literal",
    seed: int = 0,
    frames: bool = True,
    jobs: int = 1,
    secrets: tuple[str, ...] = (),
    budget: Budget = _NO_LIMIT,
    console: OpenConsole | None = None,
    cassette: str | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[RecordedEpisode, ...]:
    """Records one episode of each task. Every name is checked before the first episode begins. `budget` is what hosted
    models may take in each; `secrets` are their keys, which nothing may show; a person plays at a `console`; the
    models of the episode `cassette` answer again in place of their providers.

    Raises UnknownNameError for a name, ModelError for a model that can't be used, TaskError for a malformed task,
    ParticipantError for an unusable script or for a person who can't play, StoreError for a folder of other things;
    with what was recorded until then RunInterrupted after Ctrl-C, RunShut when a model can't be asked by any episode,
    and RunBrokenError after any other fault.
    """
    packs = find_tasks(tasks)
    script = script_of(assistant)
    tape = None if cassette is None else find_episode(store, cassette).log
    check_participants(
        assistant,
        human,
        tasks=packs,
        frames=frames,
        secrets=secrets,
        budget=budget,
        there=console is not None,
        cassette=tape,
    )
    if jobs > 1 and is_person(assistant, human):
        raise ParticipantError(f"a person plays one episode at a time; leave --jobs {jobs} out")
    check_tasks_load(packs)
    Store.open_or_make(store, made_by=f"iwreplay {__version__}")
    wish = Wish(
        store=store,
        assistant=assistant,
        script=script,
        human=human,
        seed=seed,
        frames=frames,
        threads=threads_for(jobs),
        secrets=secrets,
        budget=budget,
        console=console if is_person(assistant, human) else None,
        cassette=tape,
    )
    done: list[RecordedEpisode] = []
    try:
        work = partial(record_task, wish=wish)
        for recorded in each(work, packs, jobs=jobs, progress=progress, enough=_shut):
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
    begun = {r.task for r in done}
    if len(begun) < len(packs):
        raise RunShut(tuple(done), tuple(p.id for p in packs if p.id not in begun))
    return tuple(done)


def _shut(recorded: RecordedEpisode) -> bool:
    return recorded.fault == MODEL_SHUT


def record_task(task: TaskPack, *, wish: Wish) -> RecordedEpisode:
    """Records one episode in the store and scores it."""
    store = Store.open_or_make(wish.store, made_by=f"iwreplay {__version__}")
    speaks, acts = label_of(wish.assistant), label_of(wish.human)
    return record_into(store.new_episode(task=task.id, assistant=speaks, human=acts, seed=wish.seed), task, wish=wish)


def record_into(episode: Episode, task: TaskPack, *, wish: Wish) -> RecordedEpisode:
    """Records an episode in its folder, which is new, and scores it."""
    if wish.assistant == NO_HELP:
        task = left_alone(task)
    try:
        scene = validate_task(task)
        meter = EpisodeMeter(wish.budget)
        config = configured(task, seed=wish.seed, draw_frames=wish.frames)
        speaker, listener = _participants(task, scene=scene, config=config, episode=episode, meter=meter, wish=wish)
        recorded = record_episode(
            task,
            scene=scene,
            assistant=speaker,
            human=listener,
            simulator=MujocoSimulator,
            frames=lambda scene, config: FrameMaker(scene, config=config, threads=wish.threads),
            path=episode.log,
            config=config,
        )
    except RecordingInterrupted as stopped:
        recorded = stopped.recorded
    finally:
        _tidy(episode)
    return _scored(episode, task, wish, recorded, meter.spent)


def _participants(
    task: TaskPack, *, scene: CompiledScene, config: EpisodeConfig, episode: Episode, meter: Meter, wish: Wish
) -> tuple[Assistant, Human]:
    # the episode's own first: what may not be asked needs no place in the run's rate
    meters = (meter,) if wish.meter is None else (meter, wish.meter)
    limited = wish.budget.narrowed(wish.run_budget)
    open_model = partial(opened_model, secrets=wish.secrets, limited=limited, meters=meters)
    if wish.cassette is not None:
        open_model = partial(model_on_cassette, log=wish.cassette, meters=meters)
    speaker: Assistant
    listener: Human
    if is_model(wish.assistant):
        spec = parse_model(wish.assistant)
        speaker = model_assistant(open_model(spec), spec, task=task, scene=scene, episode=episode, secrets=wish.secrets)
    elif is_person(wish.assistant):
        assert wish.console is not None, "check_participants asks for it"
        speaker = PersonAssistant(wish.console(episode))
    else:
        speaker = assistant_named(wish.assistant, task=task, scene=scene, script=wish.script, seed=wish.seed)
    if is_model(wish.human):
        spec = parse_model(wish.human)
        listener = model_human(open_model(spec), spec, task=task, scene=scene, episode=episode, secrets=wish.secrets)
    elif is_person(wish.human):
        assert wish.console is not None, "check_participants asks for it"
        listener = PersonHuman(wish.console(episode))
    else:
        listener = human_named(wish.human)
    return speaker, listener


def label_of(participant: str) -> str:
    """What an episode is named by: a model's name, a near miss, or the word before the colon."""
    if not is_model(participant):
        return participant if participant.startswith(NEAR_MISS) else participant.partition(":")[0]
    spec = parse_model(participant)
    return arm_name(spec.model, memory=spec.memory)


def is_person(*participants: str) -> bool:
    """Whether one of those participants is a person."""
    return PERSON in participants


def check_participants(
    assistant: str,
    human: str,
    *,
    tasks: tuple[TaskPack, ...],
    frames: bool,
    secrets: tuple[str, ...],
    budget: Budget,
    there: bool = False,
    cassette: Path | None = None,
) -> None:
    """Whether those can play these tasks, before anything is recorded; `there`: somebody is at a console; `cassette`:
    log whose models answer again. UnknownNameError, ParticipantError, ModelError, LogError."""
    if assistant.startswith(NEAR_MISS):
        for task in tasks:
            near_miss_named(task, assistant.removeprefix(NEAR_MISS))
    if is_person(assistant, human):
        if not there:
            raise ParticipantError("a person plays at a console; there is one in: iwreplay run")
        if is_person(assistant) and is_person(human):
            raise ParticipantError("one person is Assistant or Human, not both: each would see what only the other may")
        if not frames:
            raise ParticipantError("a person is shown frames, so they must be drawn: leave --no-frames out")
    hosted = [parse_model(name) for name in (assistant, human) if is_model(name)]
    if is_model(human) and parse_model(human).memory:
        raise ParticipantError("memory=on is for an Assistant; a Human has no notebook")
    sighted = is_model(assistant) or any(task.human.restriction != "accessibility" for task in tasks)
    if hosted and sighted and not frames:
        raise ParticipantError("a hosted model is shown frames, so they must be drawn: leave --no-frames out")
    for spec in hosted:
        if cassette is None:
            opened_model(spec, secrets=secrets, limited=budget)
        else:
            model_on_cassette(spec, log=cassette, meters=())
    if cassette is not None and not hosted:
        raise ParticipantError("a cassette is for hosted models, and neither the Assistant nor the Human is one")
    if not (is_model(human) or is_person(human)):
        human_named(human)


def assistant_named(
    name: str,
    *,
    task: TaskPack,
    scene: CompiledScene,
    script: tuple[AssistantAct, ...] | None = None,
    seed: int = 0,
) -> Assistant:
    """The Assistant of that name for that task; a scripted one says `script`, or the lines of its file when that is
    None; the random one speaks of what is there at the start. For `no-help` the Human must be `left_alone` with it.
    UnknownNameError; LinesError for an unusable script."""
    lines = script_of(name) if script is None else script
    if lines is not None:
        return ScriptedAssistant(lines)
    if name.startswith(NEAR_MISS):
        return near_miss_named(task, name.removeprefix(NEAR_MISS))
    if name == NO_HELP:
        return nobody(task)
    if name == "random":
        there = [t.name for t in scene.things if t.name and t.attrs.get("exists") is not False]
        return RandomAssistant(tuple(dict.fromkeys(there)), rng=SeededRng(task.id, seed))
    if name == "oracle":
        return OracleAssistant(task.oracle)
    assert name == "silent", f"{name} is made elsewhere"
    return SilentAssistant()


def script_of(name: str) -> tuple[AssistantAct, ...] | None:
    """The lines of a scripted Assistant; None for one that needs none. UnknownNameError, LinesError."""
    if name.startswith(_SCRIPTED):
        file = name.removeprefix(_SCRIPTED)
        if not file:
            raise UnknownNameError("assistant", name, hint="Name the file of its lines: scripted:FILE.")
        return load_lines(file)
    if name not in ASSISTANTS and not name.startswith(NEAR_MISS) and not is_model(name):
        hint = _AFTER_SEMICOLON if "=" in name else ""
        raise UnknownNameError("assistant", name, known=() if hint else ASSISTANTS, hint=hint)
    return None


def human_named(name: str) -> Human:
    """The Human of that name, or UnknownNameError."""
    if name == "literal":
        return LiteralHuman()
    hint = _AFTER_SEMICOLON if "=" in name else ""
    raise UnknownNameError("human", name, known=() if hint else HUMANS, hint=hint)


def _scored(episode: Episode, task: TaskPack, wish: Wish, recorded: Recorded, spent: Spent) -> RecordedEpisode:
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
        spent=spent,
        unheard=_unheard(episode) if is_model(wish.assistant) or is_model(wish.human) else Unheard(),
    )


def _unheard(episode: Episode) -> Unheard:
    with read_log(episode.log) as log:
        return unheard(event for _, event in log)


def _tidy(episode: Episode) -> None:
    """Takes the folder away again when nothing was ever written into it."""
    if episode.folder is not None and not any(episode.folder.iterdir()):
        episode.folder.rmdir()
