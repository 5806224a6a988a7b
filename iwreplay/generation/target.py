"""The assessment target: whether it is one, and whether a task keeps it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from iwreplay.errors import names_near
from iwreplay.generation.model import Control, PointStatement, Proposal, Statement, Target
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import CAPABILITIES

__all__ = ["check_lines", "proposal_problems", "target_changes", "target_problems"]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
#: a task needs a wrong choice, and an omission or a wrong order
_NEAR_MISSES = 2


def proposal_problems(proposal: Proposal, *, scenes: tuple[str, ...], scene: str = "") -> tuple[str, ...]:
    """What is wrong with a proposal before anybody reviews it. scene: the one that was asked for, if any."""
    found = [f"{name} is empty" for name in ("title", "request", "situation", "why_help") if not _has(proposal, name)]
    found += [f"{name} is empty" for name in ("evidence", "steps") if not getattr(proposal, name)]
    if proposal.scene not in scenes:
        found.append(f"scene {proposal.scene!r} does not exist. {names_near(proposal.scene, scenes)}")
    elif scene and proposal.scene != scene:
        found.append(f"scene {proposal.scene!r} was not asked for, {scene!r} was")
    return tuple(found)


def _has(proposal: Proposal, name: str) -> bool:
    return bool(getattr(proposal, name).strip())


def target_problems(target: Target, *, capability: str) -> tuple[str, ...]:
    """What is wrong with a target in itself."""
    checks = [*target.objectives, *target.gates, *target.keeps]
    found = list(_name_problems((*checks, *target.points, *target.near_misses)))
    if not target.objectives:
        found.append("there is no objective")
    known = {c.id for c in checks}
    found += [
        f"point {p.id!r}: capability {p.capability!r} is none of {', '.join(CAPABILITIES)}"
        for p in target.points
        if p.capability not in CAPABILITIES
    ]
    if capability not in {p.capability for p in target.points}:
        found.append(f"no point is for the capability {capability}, which was asked for")
    if len(target.near_misses) < _NEAR_MISSES:
        found.append(f"there must be {_NEAR_MISSES} near misses or more, there are {len(target.near_misses)}")
    for miss in target.near_misses:
        if not miss.fails:
            found.append(f"near miss {miss.id!r} fails no check")
        found += [
            f"near miss {miss.id!r} fails {name!r}, which is no objective, gate or keep"
            for name in miss.fails
            if name not in known
        ]
    return tuple(found)


def _name_problems(named: Iterable[Statement | PointStatement | Control]) -> Iterator[str]:
    named = list(named)
    for item in named:
        if not _NAME.fullmatch(item.id):
            yield f"id {item.id!r} must be lower-case letters, digits and _, beginning with a letter"
        if not item.text.strip():
            yield f"{item.id!r} has no text"
    for name, count in Counter(n.id for n in named).items():
        if count > 1:
            yield f"id {name!r} is given {count} times"


def target_changes(target: Target, proposal: Proposal, task: TaskPack, *, task_id: str, family: str) -> tuple[str, ...]:
    """What of the frozen target, and of the proposal that it rests on, a task does not keep; () when it keeps all."""
    fixed = (("id", task.id, task_id), ("family", task.family, family), ("scene", task.scene, proposal.scene))
    said = (("title", task.title, proposal.title), ("request", task.request, proposal.request))
    found = [f"{what} is {now!r}, must be {then!r}" for what, now, then in (*fixed, *said) if now != then]
    for name in msgspec.structs.asdict(target):
        wanted = {t.id: _words(t) for t in getattr(target, name)}
        given = {t.id: _words(t) for t in getattr(task, name)}
        found += [f"{name}: {i!r} is missing" for i in wanted if i not in given]
        found += [f"{name}: {i!r} is not part of the target" for i in given if i not in wanted]
        found += [
            f"{name}: {i!r} says {given[i]!r}, must say {wanted[i]!r}"
            for i in wanted
            if i in given and given[i] != wanted[i]
        ]
    return tuple(found)


def _words(item: object) -> tuple[object, ...]:
    """What is frozen of a statement, a point or a control, and of the part of a task with its formula or its steps."""
    return tuple(
        tuple(sorted(value)) if name == "fails" else value
        for name in ("text", "capability", "fails")
        if (value := getattr(item, name, None)) is not None
    )


def check_lines(task: TaskPack) -> tuple[str, ...]:
    """Each check of a task as one line: what it is, what it says, and its formula, for a reviewer to compare."""
    lines = []
    for kind, checks in (("objective", task.objectives), ("gate", task.gates), ("keep", task.keeps)):
        for check in checks:
            parts = {"formula": check.formula, "credit_if": getattr(check, "credit_if", None)}
            lines.append(_line(kind, check.id, check.text, parts))
    for point in task.points:
        parts = {"formula": point.formula, "reached": point.reached}
        lines.append(_line(f"point for {point.capability}", point.id, point.text, parts))
    return tuple(lines)


def _line(kind: str, name: str, text: str, parts: dict[str, object]) -> str:
    said = " ".join(f"{k} = {msgspec.json.encode(v).decode()}" for k, v in parts.items() if v is not None)
    return f"{kind} {name}: {text} :: {said}"
