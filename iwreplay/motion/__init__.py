"""The human action layer: where to stand, which way to walk, how to reach; refusals before anything moves."""

from __future__ import annotations

from iwreplay.motion.model import Approach, Names, Posture, Reach, Refusal, Route, Stance, Trajectory
from iwreplay.motion.planner import Planner

__all__ = ["Approach", "Names", "Planner", "Posture", "Reach", "Refusal", "Route", "Stance", "Trajectory"]
