"""Re-execution: the same loop over a log's own task, scene and configuration, with logged participants, compared
event by event with the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from iwreplay.actions import ActionEngine
from iwreplay.checks import trigger
from iwreplay.events import EpisodeConfig, Event, Fault
from iwreplay.loop import EngineFactory, EpisodeStopped, Frames, WatchFactory, environment_fingerprint, run_episode
from iwreplay.ports import Simulator
from iwreplay.scene.model import CompiledScene
from replayer.comparer import Comparer
from replayer.grades import worst
from replayer.lines import collect_lines
from replayer.participants import LoggedAssistant, LoggedHuman
from replayer.report import Reexecution

__all__ = ["ReplayableLog", "reexecute"]


class ReplayableLog(Protocol):
    """A log that can be read more than once: `iwreplay.log.LogReader`, `MemoryLog`."""

    def __iter__(self) -> Iterator[tuple[int, Event]]: ...

    @property
    def root_hash(self) -> str | None: ...


def reexecute(
    log: ReplayableLog,
    *,
    simulator: Callable[[], Simulator],
    frames: Callable[[CompiledScene, EpisodeConfig], Frames],
    engine: EngineFactory = ActionEngine,
    watch: WatchFactory = trigger,
    fingerprint: dict[str, str] | None = None,
    fail_fast: bool = False,
    progress: Callable[[int, int], None] = lambda turn, actions: None,
) -> Reexecution:
    """Runs a log's commands again and says how faithfully each step was reproduced.

    `fingerprint` is that of this environment (worked out when None). A different engine version or environment is
    compared all the same and listed; the verdict is then state-equal at best, because the opening differs. A log
    without an end is compared as far as it goes. Raises LogError for a log that can't be replayed at all, and
    KeyboardInterrupt when Ctrl-C is pressed meanwhile: there is no verdict then.
    """
    lines = collect_lines(log)
    opened = lines.opened
    comparer = Comparer(log, opened=opened, log_ended=lines.ended, fail_fast=fail_fast)
    played = False

    def interrupted(turn: int | None = None, calls: int = 0) -> None:
        """Where the user of the log pressed Ctrl-C, so does the replay: `calls` to models are still to be told."""
        nonlocal played
        at = lines.interrupted_at()
        if at is not None and comparer.received + calls >= at[0] and turn in (None, at[1]):
            played = True
            raise KeyboardInterrupt

    sim = simulator()
    try:
        run_episode(
            task=opened.task,
            scene=opened.scene,
            config=opened.config,
            assistant=LoggedAssistant(lines, no_answer=interrupted),
            human=LoggedHuman(lines, no_answer=interrupted),
            simulator=sim,
            frames=frames(opened.scene, opened.config),
            log=_Sink(comparer, interruption_is_played=lambda: played),
            fingerprint=environment_fingerprint() if fingerprint is None else fingerprint,
            engine=engine,
            watch=watch,
            behaviour_flags=opened.behaviour_flags,
            parent=opened.parent,
            checkpoint=interrupted,
            progress=progress,
        )
    except EpisodeStopped:
        # the comparer has seen enough
        pass
    except Exception as error:
        # the loop has put a fault into the log before it raised: then it is a difference like any other
        if comparer.faults[-1:] != [type(error).__name__]:
            raise
    finally:
        sim.close()
    comparer.finish()
    return Reexecution(
        verdict=worst([g.grade for g in comparer.grades]),
        steps=tuple(comparer.grades),
        differences=tuple(comparer.differences),
        difference_count=comparer.difference_count,
        environment=tuple(comparer.environment),
        events_compared=comparer.events_compared,
        recorded_root=log.root_hash if lines.ended else None,
        root=comparer.root,
        log_ended=lines.ended,
        stopped=comparer.stopped,
    )


class _Sink:
    """The loop takes any Ctrl-C for the end of its episode. One that the log does not have is of the user of the
    replay: it must not be compared, and ends the replay."""

    def __init__(self, comparer: Comparer, *, interruption_is_played: Callable[[], bool]) -> None:
        self._comparer, self._played = comparer, interruption_is_played

    def append(self, event: Event) -> int:
        if isinstance(event, Fault) and event.source == "user" and not self._played():
            raise KeyboardInterrupt
        return self._comparer.append(event)

    def commit(self) -> None:
        self._comparer.commit()
