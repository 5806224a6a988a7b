"""An episode that goes on from the beginning of a turn is, event by event, the one that it goes on from."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from iwreplay.actions import ActionEngine
from iwreplay.app.shorter import Marks
from iwreplay.events import Event
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import MemoryLog
from iwreplay.loop import Resumption, configured, run_episode
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.loader import load_task, load_tasks, validate_task
from iwreplay.taskpack.model import TaskPack
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman
from recorder.simulators.mujoco_backend import MujocoSimulator

SMALL = Path(__file__).parents[1] / "tasks" / "small"


@cache
def _task(name: str) -> tuple[TaskPack, CompiledScene]:
    path = SMALL / f"{name}.toml"
    task = load_task(path) if path.is_file() else next(t for t in load_tasks() if t.id == name)
    return task, validate_task(task)


def _play(name: str, sim: MujocoSimulator, marks: Marks, resume: Resumption | None = None) -> tuple[Event, ...]:
    task, scene = _task(name)
    log = MemoryLog()
    config = configured(task, draw_frames=False)
    run_episode(
        task=task,
        scene=scene,
        config=config,
        assistant=OracleAssistant(task.oracle),
        human=LiteralHuman(),
        simulator=sim,
        frames=FrameMaker(scene, config=config, threads=1),
        log=log,
        fingerprint={},
        engine=marks.engine if resume is None else ActionEngine,
        resume=resume,
    )
    return tuple(log.events())


@pytest.mark.parametrize(
    "name",
    [
        "about_to_err",
        "phone_call",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("V06", "correction", "delivery")),
    ],
)
def test_it_is_the_same_from_every_turn_on(name: str) -> None:
    """Scripted events that fired and that are to come, what is left of an intent, what was seen, what is held."""
    sim, marks = MujocoSimulator(), Marks()
    whole = _play(name, sim, marks)
    turns = sorted(marks.snapshots)
    assert turns == list(range(1, len(turns) + 1))
    assert len(turns) > 2
    for turn in turns:
        before = tuple(e for e in whole if e.turn < turn and e.phase != "end")
        again = _play(name, sim, marks, Resumption(turn=turn, events=before, simulator=marks.snapshots[turn]))
        assert len(again) == len(whole)
        assert next((i for i, (a, b) in enumerate(zip(whole, again, strict=True)) if a != b), None) is None, turn
