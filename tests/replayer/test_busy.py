"""A busy episode with the real physics (moving, pushing, stacking, dropping, pouring, opening) gives one root hash
however often it is carried out again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from iwreplay.actions import ActionEngine
from iwreplay.events import EpisodeConfig, Happened, PrimitiveOutcome
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import MemoryLog
from iwreplay.loop import configured, run_episode
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import HumanRole, Objective, Placement, TaskPack
from recorder.assistants import SilentAssistant
from recorder.humans import LiteralHuman
from recorder.simulators.mujoco_backend import MujocoSimulator
from replayer import reexecute

ROOT = Path(__file__).resolve().parents[2]
#: moves, stacks, opens, takes out of and puts into, pushes, pours, breaks, walks
COMMANDS = (
    "[Walk] dining table",
    "[Grab] white plate",
    "[PutOn] white plate, brown plate",
    "[Push] blue mug, 0.12",
    "[Walk] fridge",
    "[Open] fridge",
    "[Walk] water bottle",
    "[Grab] water bottle",
    "[Walk] dining table",
    "[Pour] water bottle, red mug",
    "[PutOn] water bottle, dining table",
    "[Grab] glass",
    "[Walk] work table",
    "[Drop] glass",
    "[Walk] top drawer",
    "[Open] top drawer",
    "[Grab] pen",
    "[Walk] display table",
    "[Drop] pen",
    "[Walk] side door",
    "[Open] side door",
    "[Walk] side room",
    "[Walk] fridge",
    "[Close] fridge",
    "[Wait] 3",
)

TASK = TaskPack(
    format=1,
    id="G99",
    family="guidance",
    title="Busy",
    scene="proving_ground",
    request="Please help me tidy up.",
    human=HumanRole(role="You are at home.", restriction="guidance"),
    things=(
        Placement(id="plate_1", adjectives=("white",)),
        Placement(id="plate_3", cls="plate", adjectives=("brown",), at="dining_table_1.top", pos=(0.0, 0.25)),
        Placement(id="water_bottle_1", attrs={"contains": {"water": 0.5}, "sealed": False}),
    ),
    warmup=COMMANDS,
    oracle=(),
    objectives=(Objective(id="glass", text="The glass is whole.", formula=["attr", "glass_1", "broken", False]),),
)


def _frames(scene: CompiledScene, config: EpisodeConfig) -> FrameMaker:
    return FrameMaker(scene, config=config)


def record() -> MemoryLog:
    """The episode, its frames drawn small."""
    scene = compile_scene(load_scene(TASK.scene), TASK.things)
    config = configured(TASK, frame_width=64, frame_height=48, max_turns=1, max_actions=99)
    log = MemoryLog()
    run_episode(
        task=TASK,
        scene=scene,
        config=config,
        assistant=SilentAssistant(),
        human=LiteralHuman(),
        simulator=MujocoSimulator(),
        frames=_frames(scene, config),
        log=log,
        fingerprint={"python": "test"},
        engine=ActionEngine,
    )
    return log


@pytest.fixture(scope="module")
def busy() -> MemoryLog:
    return record()


def test_the_episode_is_busy(busy: MemoryLog) -> None:
    """Everything that it is meant to show does happen in it."""
    events = [e for _, e in busy]
    done = Counter(e.primitive for e in events if isinstance(e, PrimitiveOutcome) and e.ok)
    refused = [(e.command, e.code, e.sentence) for e in events if isinstance(e, PrimitiveOutcome) and not e.ok]
    assert refused == []
    assert {"navigate_to", "grab", "put_on", "push", "open", "close", "pour", "drop", "wait"} <= set(done)
    happened = Counter(e.what for e in events if isinstance(e, Happened))
    assert happened["broke"] == 1
    assert happened["fell"] == 2
    assert happened["pour"] >= 1


def _again(log: MemoryLog, times: int) -> set[str]:
    roots = set()
    for _ in range(times):
        verdict = reexecute(log, simulator=MujocoSimulator, frames=_frames, fingerprint={"python": "test"})
        assert verdict.exact, verdict.first
        roots.add(verdict.root)
    return roots


def test_three_re_executions_give_one_root_hash(busy: MemoryLog) -> None:
    assert _again(busy, 3) == {busy.root_hash}


def test_another_process_records_the_same_root_hash(busy: MemoryLog) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "77"}
    code = "from tests.replayer.test_busy import record; print(record().root_hash)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == busy.root_hash


@pytest.mark.slow
def test_a_hundred_re_executions_give_one_root_hash(busy: MemoryLog) -> None:
    assert _again(busy, 100) == {busy.root_hash}
