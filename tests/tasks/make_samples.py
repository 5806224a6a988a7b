"""Makes the sample episodes anew: ``python -m tests.tasks.make_samples [FOLDER]``, or ``make samples``.

The wall clock stands still while they are recorded, so that the same code on the same machine gives the same bytes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from iwreplay.app.recording import assistant_named
from iwreplay.app.ways import NO_HELP, left_alone
from iwreplay.checks import evaluate_task
from iwreplay.errors import ParticipantError
from iwreplay.events import EpisodeEnded, EpisodeOpened, FrameCaptured, Participant
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.loop import configured
from iwreplay.ports import Assistant, AssistantAct, AssistantView
from iwreplay.taskpack.loader import load_tasks, validate_task
from recorder.humans import LiteralHuman
from recorder.record import RecordingInterrupted, record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator
from scorers import Score, score_all

__all__ = ["FOLDER", "MANIFEST", "README", "SAMPLES", "Sample", "make", "manifest_of", "readme_with", "table_of"]

FOLDER = Path(__file__).resolve().parents[2] / "episodes" / "samples"
MANIFEST, README = "samples.json", "README.md"
#: the table of the README is between these
_BEGINS, _ENDS = "<!-- written by make samples -->", "<!-- until here -->"


class Sample(NamedTuple):
    """An episode to be recorded."""

    task: str
    #: as `run --assistant` takes it
    assistant: str
    #: for the README
    shows: str
    #: in this turn the Assistant does not answer any more: the user stops the recording, or it fails
    breaks: tuple[int, BaseException] | None = None


#: name of the file -> what it is
SAMPLES = {
    "A04-interrupted": Sample(
        "A04", "oracle", "the user pressed Ctrl-C in the second turn", (2, KeyboardInterrupt("stopped by the user"))
    ),
    "A18-wet-chair-first": Sample(
        "A18",
        "near-miss:wet_chair_first",
        "the right chair in the end, after a wet one: everything done, a gate broken",
    ),
    "D03-one-too-many": Sample(
        "D03", "near-miss:one_too_many", "a wrong choice: one regular carton goes on display with the promoted ones"
    ),
    "D09-fault": Sample(
        "D09",
        "oracle",
        "the Assistant failed in the second turn, as a model does that can't be reached",
        (2, ParticipantError("no answer from the model")),
    ),
    "F10-silent": Sample("F10", "silent", "nothing is said, and the Human does nothing up to the limit of turns"),
    "G05-oracle": Sample("G05", "oracle", "the oracle leads through cutting, cooking and serving a tomato"),
    "P04-no-help": Sample("P04", "no-help", "what the Human does alone: it serves mouldy bread, uncut"),
    "V06-oracle": Sample("V06", "oracle", "the oracle stops a person who takes the used sponge for the clean one"),
    "V06-silent": Sample("V06", "silent", "the same person without help: the used sponge is put with the clean things"),
}


class _StoppedClock:
    """It is always the same moment."""

    def now_ns(self) -> int:
        return 0


class _Breaking:
    """An Assistant until a turn; then it raises."""

    def __init__(self, inner: Assistant, turn: int, error: BaseException) -> None:
        self._inner, self._turn, self._error = inner, turn, error

    def about(self) -> Participant:
        return self._inner.about()

    def decide(self, view: AssistantView) -> AssistantAct:
        if view.turn >= self._turn:
            raise self._error
        return self._inner.decide(view)


def make(folder: Path) -> None:
    """Records every sample into the folder, in place of those that are there, and writes manifest and table."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {}
    for name, sample in SAMPLES.items():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            path = Path(scratch) / "log.arrows"
            _record(sample, path)
            manifest[name] = manifest_of(path)
            os.replace(path, folder / f"{name}.arrows")
    text = json.dumps(manifest, indent=2, sort_keys=True)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    readme = (FOLDER / README).read_text(encoding="utf-8")
    (folder / README).write_text(readme_with(table_of(manifest), readme), encoding="utf-8")


def _record(sample: Sample, path: Path) -> None:
    task = next(t for t in load_tasks() if t.id == sample.task)
    scene = validate_task(task)
    speaker = assistant_named(sample.assistant, task=task, scene=scene)
    try:
        record_episode(
            left_alone(task) if sample.assistant == NO_HELP else task,
            scene=scene,
            assistant=speaker if sample.breaks is None else _Breaking(speaker, *sample.breaks),
            human=LiteralHuman(),
            simulator=MujocoSimulator,
            frames=lambda scene, config: FrameMaker(scene, config=config),
            path=path,
            config=configured(task),
            clock=_StoppedClock(),
        )
    except RecordingInterrupted:
        assert sample.breaks is not None


def manifest_of(path: Path) -> dict[str, Any]:
    """What is to be known of a sample: its root hash, how it ended, its scores, and what it was recorded with."""
    with read_log(path) as log:
        events = tuple(log.events())
        opened, ended = events[0], events[-1]
        assert isinstance(opened, EpisodeOpened)
        assert isinstance(ended, EpisodeEnded)
        scores = {s.metric: s.value if isinstance(s, Score) else None for s in score_all(log)}
        root = log.root_hash
    found = evaluate_task(events)
    failed = [o.id for o in found.objectives if not o.satisfied]
    failed += [g.id for g in (*found.gates, *found.keeps) if not g.held]
    return {
        "assistant": opened.assistant.name,
        "end_reason": ended.reason,
        "events": len(events),
        "failed_checks": failed,
        "family": opened.task.family,
        "fingerprint": opened.fingerprint,
        "frames": sum(isinstance(e, FrameCaptured) for e in events),
        "renderer": opened.renderer,
        "root_hash": root,
        "scores": scores,
        "task": opened.task.id,
    }


def table_of(manifest: dict[str, Any]) -> str:
    """The samples with how they ended and their scores, in Markdown."""
    rows = [
        "| file | family | what it shows | ended | pass | MCR | fails |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, known in sorted(manifest.items()):
        passed, mcr = known["scores"]["pass"], known["scores"]["mcr"]
        scored = ("not scored", "", "") if passed is None else ("yes" if passed else "no", f"{mcr:.2f}", _fails(known))
        cells = (
            f"`{name}.arrows`",
            known["family"],
            SAMPLES[name].shows,
            known["end_reason"].replace("_", " "),
            *scored,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _fails(known: dict[str, Any]) -> str:
    return ", ".join(f"`{check}`" for check in known["failed_checks"])


def readme_with(table: str, readme: str) -> str:
    """The README with that table in its place."""
    before, rest = readme.split(_BEGINS)
    return f"{before}{_BEGINS}\n\n{table}\n\n{_ENDS}{rest.split(_ENDS)[1]}"


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
