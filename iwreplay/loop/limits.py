"""Limits of an episode (rule 8) and how much a participant may answer at once."""

from __future__ import annotations

from iwreplay.events import EpisodeConfig
from iwreplay.taskpack.model import Limits, TaskPack

__all__ = [
    "HUMAN_FRAMES",
    "MAX_TEXT_CHARS",
    "NOOP",
    "NOOP_IDLE_S",
    "configured",
    "limits_of",
]

#: how a turn without commands is written in the log
NOOP = "[NoOp]"
#: simulated seconds that pass in a turn without commands
NOOP_IDLE_S = 2.0
#: latest frames that a sighted Human is shown: those of one action
HUMAN_FRAMES = 4
#: a longer text in one answer is outside the protocol
MAX_TEXT_CHARS = 20_000


def limits_of(task: TaskPack) -> Limits:
    """The task's own limits, or 3 x oracle turns + 8 and 4 x oracle actions + 16."""
    if task.limits is not None:
        return task.limits
    actions = sum(len(step.do) for step in task.oracle)
    return Limits(turns=3 * len(task.oracle) + 8, actions=4 * actions + 16)


def configured(task: TaskPack, **settings: object) -> EpisodeConfig:
    """An EpisodeConfig with the task's limits and the given settings (names of EpisodeConfig fields)."""
    limits = limits_of(task)
    merged: dict[str, object] = {"max_turns": limits.turns, "max_actions": limits.actions, **settings}
    return EpisodeConfig(**merged)  # type: ignore[arg-type]
