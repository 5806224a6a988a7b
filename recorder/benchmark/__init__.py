"""Running a benchmark: the plan of its episodes, what became of each, and what the models took."""

from __future__ import annotations

from recorder.benchmark.journal import (
    Begun,
    Ended,
    Lost,
    Progress,
    RunRecord,
    progress_of,
)
from recorder.benchmark.limits import Limits
from recorder.benchmark.meter import Charged, RunMeter
from recorder.benchmark.plan import Cell, Plan, PlanTask, differences

__all__ = [
    "Begun",
    "Cell",
    "Charged",
    "Ended",
    "Limits",
    "Lost",
    "Plan",
    "PlanTask",
    "Progress",
    "RunMeter",
    "RunRecord",
    "differences",
    "progress_of",
]
