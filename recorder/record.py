"""Records one episode: task, scene, simulator, frames and participants in, a sealed log out."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from iwreplay.actions import ActionEngine
from iwreplay.checks import trigger
from iwreplay.events import EpisodeConfig
from iwreplay.log import LogWriter
from iwreplay.loop import (
    EngineFactory,
    EpisodeResult,
    EpisodeStopped,
    Frames,
    WatchFactory,
    configured,
    environment_fingerprint,
    run_episode,
)
from iwreplay.ports import Assistant, Clock, Human, Simulator
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import TaskPack
from recorder.interrupts import Interrupts

__all__ = ["Recorded", "RecordingInterrupted", "SystemClock", "record_episode"]


class SystemClock:
    """The machine's wall clock."""

    def now_ns(self) -> int:
        return time.time_ns()


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded and sealed episode."""

    path: Path
    result: EpisodeResult
    root_hash: str
    events: int


class RecordingInterrupted(KeyboardInterrupt):
    """The user stopped the recording. Its log is whole and sealed; it says that it was interrupted."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        super().__init__(f"interrupted after turn {recorded.result.turns}; the log is {recorded.path}")


def record_episode(
    task: TaskPack,
    *,
    scene: CompiledScene,
    assistant: Assistant,
    human: Human,
    simulator: Callable[[], Simulator],
    frames: Callable[[CompiledScene, EpisodeConfig], Frames],
    path: Path | str,
    config: EpisodeConfig | None = None,
    clock: Clock | None = None,
    fingerprint: dict[str, str] | None = None,
    engine: EngineFactory = ActionEngine,
    watch: WatchFactory = trigger,
    behaviour_flags: tuple[str, ...] = (),
    progress: Callable[[int, int], None] = lambda turn, actions: None,
) -> Recorded:
    """Plays an episode and writes its log at `path`, which must not exist. Failed episodes are kept like any other.

    `scene` is the task's compiled scene; `config` defaults to the task's limits. `progress` gets (turn, actions).
    Raises RecordingInterrupted after Ctrl-C, with the log sealed as interrupted; a second Ctrl-C breaks off at once and
    leaves the log open, complete up to its last commit. A programmer's error is raised after the log was sealed with
    its fault. LogWriteError when the log can't be written.
    """
    used = config or configured(task)
    writer = LogWriter.create(path, clock=clock or SystemClock())
    try:
        with closing(simulator()) as sim, Interrupts() as interrupts:
            result = run_episode(
                task=task,
                scene=scene,
                config=used,
                assistant=interrupts.assistant(assistant),
                human=interrupts.human(human),
                simulator=sim,
                frames=frames(scene, used),
                log=writer,
                fingerprint=environment_fingerprint() if fingerprint is None else fingerprint,
                engine=engine,
                watch=watch,
                behaviour_flags=behaviour_flags,
                checkpoint=interrupts.checkpoint,
                progress=progress,
            )
    except EpisodeStopped:
        # the log is left alone: a write may have been broken off in the middle of memory, never of the disk
        raise KeyboardInterrupt("broken off; the log is complete up to its last commit") from None
    except BaseException:
        _end_after_error(writer)
        raise
    events = writer.next_seq
    recorded = Recorded(path=Path(path), result=result, root_hash=writer.seal(), events=events)
    if result.reason == "interrupted":
        raise RecordingInterrupted(recorded)
    return recorded


def _end_after_error(writer: LogWriter) -> None:
    """Seals what the loop has ended properly. A log that can't be written any more stays as it is on disk; one that
    nothing was written to is taken away."""
    if writer.committed and writer.committed == writer.next_seq:
        writer.seal()
        return
    writer.close()
    if writer.next_seq == 0:
        writer.path.unlink()
