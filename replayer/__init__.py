"""Replays: re-execution with logged participants, grades and the first divergence, and frames drawn again.

State replay is the fold of the core, `iwreplay.world.state.fold`.
"""

from __future__ import annotations

from replayer.frames import Moment, ReplayedFrame, moments, replay_frames
from replayer.grades import GRADES, Grade
from replayer.lines import Lines, collect_lines
from replayer.participants import LoggedAssistant, LoggedHuman
from replayer.reexecution import ReplayableLog, reexecute
from replayer.report import Decision, Difference, EnvironmentDifference, Reexecution, StepGrade

__all__ = [
    "GRADES",
    "Decision",
    "Difference",
    "EnvironmentDifference",
    "Grade",
    "Lines",
    "LoggedAssistant",
    "LoggedHuman",
    "Moment",
    "Reexecution",
    "ReplayableLog",
    "ReplayedFrame",
    "StepGrade",
    "collect_lines",
    "moments",
    "reexecute",
    "replay_frames",
]
