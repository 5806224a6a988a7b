"""Playing tasks with the real engine and physics, undrawn; episodes are kept for the tests of one process."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

from iwreplay.checks import Evaluation, evaluate_task
from iwreplay.events import Event, Participant, PrimitiveOutcome
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.loop import configured
from iwreplay.ports import Assistant, AssistantAct, AssistantView, HumanAct, HumanView
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.loader import load_task, load_tasks, validate_task
from iwreplay.taskpack.model import TaskPack
from recorder.assistants import OracleAssistant, SilentAssistant
from recorder.humans import LiteralHuman
from recorder.record import record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator

__all__ = ["SIX", "SMALL", "Played", "failed_checks", "misses", "named", "of", "play", "played", "scene_of", "task_of"]

SIX = ("G05", "P04", "A04", "D03", "V06", "F03")
SMALL = ("about_to_err", "correction", "delivery", "phone_call")
_FOLDER = Path(__file__).parent / "small"
E = TypeVar("E", bound=Event)


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """A finished episode, and everything that its participants were shown."""

    path: Path
    events: tuple[Event, ...]
    evaluation: Evaluation
    assistant_views: tuple[AssistantView, ...]
    human_views: tuple[HumanView, ...]


class _Watched:
    """A participant with a witness of its views."""

    def __init__(self, assistant: Assistant) -> None:
        self.assistant, self.human = assistant, LiteralHuman()
        self.assistant_views: list[AssistantView] = []
        self.human_views: list[HumanView] = []


class _WatchedAssistant:
    def __init__(self, watched: _Watched) -> None:
        self._watched = watched

    def about(self) -> Participant:
        return self._watched.assistant.about()

    def decide(self, view: AssistantView) -> AssistantAct:
        self._watched.assistant_views.append(view)
        return self._watched.assistant.decide(view)


class _WatchedHuman:
    def __init__(self, watched: _Watched) -> None:
        self._watched = watched

    def about(self) -> Participant:
        return self._watched.human.about()

    def act(self, view: HumanView) -> HumanAct:
        self._watched.human_views.append(view)
        return self._watched.human.act(view)

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        return self._watched.human.report(outcomes)


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="iwreplay-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def task_of(name: str) -> TaskPack:
    """One of the six by id, or a small one by the name of its file."""
    if name in SMALL:
        return load_task(_FOLDER / f"{name}.toml")
    return {t.id: t for t in load_tasks()}[name]


@cache
def scene_of(name: str) -> CompiledScene:
    """The compiled scene of a task by name."""
    return validate_task(task_of(name))


def play(task: TaskPack, assistant: Assistant, *, scene: CompiledScene, name: str) -> Played:
    """Records an episode. Frames are worked out (what is visible, cameras) and not drawn."""
    watched = _Watched(assistant)
    path = _folder() / f"{task.id}-{name}.arrows"
    record_episode(
        task,
        scene=scene,
        assistant=_WatchedAssistant(watched),
        human=_WatchedHuman(watched),
        simulator=MujocoSimulator,
        frames=lambda scene, config: FrameMaker(scene, config=config, threads=1),
        path=path,
        config=configured(task, draw_frames=False),
    )
    with read_log(path) as log:
        events = tuple(log.events())
    return Played(
        path=path,
        events=events,
        evaluation=evaluate_task(events),
        assistant_views=tuple(watched.assistant_views),
        human_views=tuple(watched.human_views),
    )


@cache
def played(name: str, how: str) -> Played:
    """ "oracle", "silent", "no_help" or the id of a near miss; each is played once."""
    task, scene = task_of(name), scene_of(name)
    if how == "no_help":
        alone = msgspec.structs.replace(task.human, intent=task.no_help)
        return play(msgspec.structs.replace(task, human=alone), SilentAssistant(), scene=scene, name=how)
    if how == "silent":
        return play(task, SilentAssistant(), scene=scene, name=how)
    steps = task.oracle if how == "oracle" else {m.id: m.oracle for m in task.near_misses}[how]
    return play(task, OracleAssistant(steps), scene=scene, name=how)


def named(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every episode that is played of these tasks: (task, how)."""
    return [
        (name, how)
        for name in names
        for how in ("oracle", "silent", *(["no_help"] if task_of(name).no_help else []), *misses(name))
    ]


def misses(name: str) -> tuple[str, ...]:
    """Ids of a task's near misses."""
    return tuple(m.id for m in task_of(name).near_misses)


def failed_checks(evaluation: Evaluation) -> set[str]:
    """Ids of the objectives, gates and keeps that do not hold."""
    failed = {o.id for o in evaluation.objectives if not o.satisfied}
    return failed | {g.id for g in (*evaluation.gates, *evaluation.keeps) if not g.held}


def of(events: tuple[Event, ...], kind: type[E]) -> list[E]:
    """The events of one kind."""
    return [e for e in events if isinstance(e, kind)]
