"""Outcomes that nobody recorded, for reports: a few Assistants and Humans over 120 tasks, the same every time."""

from __future__ import annotations

import random
from typing import Any

from iwreplay.reports import Instance, TaskFacts
from iwreplay.vocabulary import CAPABILITIES, FAMILIES, Family

LETTERS = dict(zip(FAMILIES, "GPADVF", strict=True))
#: chance to pass the shortest task of a family
SKILL: dict[str, tuple[float, ...]] = {
    "lab/big": (0.5, 0.5, 0.55, 0.95, 0.75, 0.6),
    "lab/big+memory": (0.5, 0.45, 0.55, 0.95, 0.85, 0.75),
    "lab/small": (0.2, 0.25, 0.3, 0.6, 0.3, 0.3),
}


def tasks() -> list[TaskFacts]:
    """Twenty of each family, of 3 to 22 steps."""
    return [
        TaskFacts(id=f"{LETTERS[f]}{n:02d}", family=f, version=1, oracle_actions=2 + n)
        for f in FAMILIES
        for n in range(1, 21)
    ]


def instance(task: TaskFacts, /, **changes: Any) -> Instance:
    """A failed episode of a task, unless told otherwise."""
    who = (changes.get("assistant", "lab/big"), changes.get("human", "literal"))
    base: dict[str, Any] = {
        "episode": "-".join([task.id, *map(_name, who), "s0"]),
        "root_hash": "0" * 64,
        "task": task.id,
        "task_version": task.version,
        "family": task.family,
        "assistant": "lab/big",
        "human": "literal",
        "seed": 0,
        "setup": {"limits": "the tasks' own", "renderer": "r/1"},
        "status": "ended",
        "problem": "",
        "passed": False,
        "mcr": 0.5,
    }
    return Instance(**{**base, **changes})


def _name(participant: str) -> str:
    return participant.replace("/", "_")


def outcomes(*, seed: int = 3, humans: tuple[str, ...] = ("literal", "lab/hand")) -> list[Instance]:
    """Every task with every Assistant and Human."""
    lots = random.Random(seed)
    return [
        _outcome(lots, task, assistant=assistant, human=human)
        for assistant in SKILL
        for human in humans
        for task in tasks()
    ]


def _outcome(lots: random.Random, task: TaskFacts, *, assistant: str, human: str) -> Instance:
    family: Family = task.family
    h = (task.oracle_actions - 3) / 19
    passed = lots.random() < SKILL[assistant][FAMILIES.index(family)] * (1.0 - 0.7 * h)
    names = list(CAPABILITIES)
    points = tuple((names[(i + task.oracle_actions) % 9], _status(lots, passed=passed)) for i in range(3))
    values = {"pass": float(passed)}
    details: dict[str, dict[str, Any]] = {
        "token_cost": {
            "assistant": {"calls": 4, "input_tokens": 9000, "output_tokens": 120, "cost_usd": 0.03},
            "human": {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0},
        }
    }
    values["token_cost"] = 9120.0
    if passed:
        extra = lots.randrange(4)
        refused = lots.randrange(extra + 1)
        oracle = task.oracle_actions
        values["action_cost"] = (oracle + extra) / oracle
        details["action_cost"] = {
            "actions": oracle + extra, "refused": refused, "oracle_actions": oracle,
            "without_refused": (oracle + extra - refused) / oracle,
        }  # fmt: skip
        values["turn_cost"] = 1.0 + 0.1 * extra
    if family == "prevention":
        verdict = "right" if passed else lots.choice(["needless", "late", "missed"])
        values["interventions"] = float(verdict == "right")
        details["interventions"] = {"verdict": verdict, "needless": int(verdict == "needless")}
    return instance(
        task,
        assistant=assistant,
        human=human,
        passed=passed,
        mcr=1.0 if passed else lots.randrange(4) / 4,
        points=points,
        values=values,
        details=details,
        first_error=""
        if passed or lots.random() < 0.2
        else lots.choice(["R1", "R1", "R2", "R2", "R3", "R4", "R5", "R6"]),
    )


def _status(lots: random.Random, *, passed: bool) -> str:
    if passed:
        return "clean_pass" if lots.random() < 0.9 else "assisted_pass"
    return lots.choice(["clean_pass", "fail", "fail", "not_reached"])
