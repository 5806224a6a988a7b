"""The check language: formulas over a log, evaluated event by event, with evidence.

Its reference is `docs/checks.md`.
"""

from __future__ import annotations

from iwreplay.checks.check import Check, compile_check
from iwreplay.checks.derive import Relations, derived_relations
from iwreplay.checks.evaluation import (
    CheckRun,
    Evaluation,
    GateResult,
    ObjectiveResult,
    PointResult,
    evaluate_task,
    task_checks,
)
from iwreplay.checks.language import CHECKS_VERSION
from iwreplay.checks.lint import Finding, lint_start, lint_task
from iwreplay.checks.monitor import Monitor, Trigger, Verdict, trigger
from iwreplay.checks.points import PointStatus
from iwreplay.checks.selecting import EventRun, EventRuns, run_selected

__all__ = [
    "CHECKS_VERSION",
    "Check",
    "CheckRun",
    "Evaluation",
    "EventRun",
    "EventRuns",
    "Finding",
    "GateResult",
    "Monitor",
    "ObjectiveResult",
    "PointResult",
    "PointStatus",
    "Relations",
    "Trigger",
    "Verdict",
    "compile_check",
    "derived_relations",
    "evaluate_task",
    "lint_start",
    "lint_task",
    "run_selected",
    "task_checks",
    "trigger",
]
