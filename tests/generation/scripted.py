"""What scripted models answer: the task of docs/tasks.md, as an author would have come to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from iwreplay.generation import Control, PointStatement, Proposal, Statement, Target
from iwreplay.ports import ModelReply, ModelRequest
from iwreplay.taskpack.loader import load_task
from iwreplay.taskpack.model import TaskPack

ROOT = Path(__file__).resolve().parents[2]
ACCEPT = '{"verdict": "accept", "problems": []}'


@cache
def pack_text() -> str:
    page = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"```toml\n(.*?)```", page, re.S))


def task_from(folder: Path) -> TaskPack:
    path = folder / "g90.toml"
    path.write_text(pack_text(), encoding="utf-8")
    return load_task(path)


def proposal_of(task: TaskPack) -> Proposal:
    return Proposal(
        title=task.title,
        scene=task.scene,
        request=task.request,
        situation="Two mugs and a note are on the counter.",
        why_help="Only who reads the note knows which mug is the guest's; the wearer takes either.",
        evidence=("the note on the counter",),
        alternatives=("the blue mug", "the red mug"),
        steps=("read the note", "take the mug that it names", "put it on the dining table"),
    )


def target_of(task: TaskPack) -> Target:
    def said(checks: Any) -> tuple[Statement, ...]:
        return tuple(Statement(id=c.id, text=c.text) for c in checks)

    return Target(
        objectives=said(task.objectives),
        gates=said(task.gates),
        keeps=said(task.keeps),
        points=tuple(PointStatement(id=p.id, capability=p.capability, text=p.text) for p in task.points),
        near_misses=tuple(Control(id=m.id, text=m.text, fails=m.fails) for m in task.near_misses),
    )


def as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def fenced(text: str, language: str) -> str:
    return f"Here it is:\n\n```{language}\n{text}\n```\nI hope that helps."


class ScriptedModel:
    """Answers one text after the other. An exception in the list is raised."""

    def __init__(self, name: str, answers: list[str | Exception]) -> None:
        self._name, self.left = name, list(answers)
        self.asked: list[ModelRequest] = []

    @property
    def name(self) -> str:
        return self._name

    def ask(self, request: ModelRequest, *, content: Mapping[str, bytes] = MappingProxyType({})) -> ModelReply:
        self.asked.append(request)
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ModelReply(text=answer, input_tokens=10, output_tokens=2, cost_usd=0.25, finish="stop", retries=0)
