"""Makes the sample episodes anew: ``python -m tests.tasks.make_samples [FOLDER]``, or ``make samples``.

The wall clock stands still while they are recorded, so that the same code on the same machine gives the same bytes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from iwreplay.checks import evaluate_task
from iwreplay.events import EpisodeOpened, FrameCaptured
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.loop import configured
from iwreplay.ports import Assistant
from iwreplay.taskpack.loader import load_tasks, validate_task
from iwreplay.taskpack.model import TaskPack
from recorder.assistants import OracleAssistant, SilentAssistant
from recorder.humans import LiteralHuman
from recorder.record import record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator
from scorers import Score, score_all

__all__ = ["FOLDER", "MANIFEST", "SAMPLES", "make", "manifest_of"]

FOLDER = Path(__file__).resolve().parents[2] / "episodes" / "samples"
MANIFEST = "samples.json"
#: name of the file -> (task, "oracle", "silent" or the id of a near miss)
SAMPLES = {
    "D03-one-too-many": ("D03", "one_too_many"),
    "G05-oracle": ("G05", "oracle"),
    "V06-oracle": ("V06", "oracle"),
    "V06-silent": ("V06", "silent"),
}


class _StoppedClock:
    """It is always the same moment."""

    def now_ns(self) -> int:
        return 0


def _assistant(task: TaskPack, how: str) -> Assistant:
    if how == "silent":
        return SilentAssistant()
    if how == "oracle":
        return OracleAssistant(task.oracle)
    return OracleAssistant(next(m.oracle for m in task.near_misses if m.id == how), name=f"near_miss:{how}")


def make(folder: Path) -> None:
    """Records every sample into the folder, in place of those that are there, and writes the manifest."""
    tasks = {t.id: t for t in load_tasks()}
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {}
    for name, (task_id, how) in SAMPLES.items():
        task = tasks[task_id]
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            path = Path(scratch) / "log.arrows"
            record_episode(
                task,
                scene=validate_task(task),
                assistant=_assistant(task, how),
                human=LiteralHuman(),
                simulator=MujocoSimulator,
                frames=lambda scene, config: FrameMaker(scene, config=config),
                path=path,
                config=configured(task),
                clock=_StoppedClock(),
            )
            manifest[name] = manifest_of(path)
            os.replace(path, folder / f"{name}.arrows")
    text = json.dumps(manifest, indent=2, sort_keys=True)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def manifest_of(path: Path) -> dict[str, Any]:
    """What is to be known of a sample: its root hash, its scores, and what it was recorded with."""
    with read_log(path) as log:
        events = tuple(log.events())
        opened = events[0]
        assert isinstance(opened, EpisodeOpened)
        scores = {s.metric: s.value if isinstance(s, Score) else None for s in score_all(log)}
        root = log.root_hash
    found = evaluate_task(events)
    failed = [o.id for o in found.objectives if not o.satisfied]
    failed += [g.id for g in (*found.gates, *found.keeps) if not g.held]
    return {
        "assistant": opened.assistant.name,
        "events": len(events),
        "failed_checks": failed,
        "fingerprint": opened.fingerprint,
        "frames": sum(isinstance(e, FrameCaptured) for e in events),
        "renderer": opened.renderer,
        "root_hash": root,
        "scores": scores,
        "task": opened.task.id,
    }


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
