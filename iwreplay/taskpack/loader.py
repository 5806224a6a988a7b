"""Task packs from TOML: read, checked, and compiled with their scene.

`load_task` finds everything that is wrong with the file alone; `compile_task` puts the task's things into its scene;
`validate_task` also compiles every formula and every command against that scene.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from iwreplay.actions.grammar import parse_command
from iwreplay.actions.refusal import RefusedError
from iwreplay.checks import compile_check
from iwreplay.checks.formulas import task_formulas
from iwreplay.errors import SceneError, TaskError, UnknownNameError, names_near
from iwreplay.scene.attributes import checked
from iwreplay.scene.library import Library, load_library
from iwreplay.scene.loader import compile_scene, data_root, load_scene, scene_ids
from iwreplay.scene.model import CompiledScene
from iwreplay.scene.placing import is_off_stage
from iwreplay.scene.toml import Source, converted, parsed, shown
from iwreplay.taskpack.model import OracleStep, ScriptAction, TaskPack
from iwreplay.vocabulary import CAPABILITIES, FAMILIES

__all__ = ["TASK_FORMAT", "compile_task", "load_task", "load_tasks", "survey_tasks", "validate_task"]

#: the task format that this build reads
TASK_FORMAT = 1

_LETTERS = dict(zip("GPADVF", FAMILIES, strict=True))
_ID = re.compile(r"[GPADVF]\d{2}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
#: 4 or 2-5
_SPAN = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?")


def load_task(path: Source) -> TaskPack:
    """The task in a file. TaskError names the file, the key and the value that is wrong."""
    table = parsed(path, error=TaskError)
    version = table.get("format")
    if version != TASK_FORMAT:
        raise TaskError(f"{path.name}: format: {version!r} is not {TASK_FORMAT}, the one that this build reads")
    task = converted(_spelled_out(table, where=path.name), TaskPack, where=path.name, error=TaskError)
    for key, value, why in _problems(task):
        raise TaskError(f"{path.name}: {key}: {why}, found {shown(value)}")
    return task


def _spelled_out(table: dict[str, Any], *, where: str) -> dict[str, Any]:
    """The table with the steps that near misses share with the oracle (4, "1-3", counted from 1) written out."""
    steps, misses = table.get("oracle"), table.get("near_misses")
    if not isinstance(steps, list) or not isinstance(misses, list):
        return table
    return table | {
        "near_misses": [_with_steps(m, steps, where=f"{where}: near_misses[{i}]") for i, m in enumerate(misses)]
    }


def _with_steps(miss: Any, steps: list[Any], *, where: str) -> Any:
    if not isinstance(miss, dict) or not isinstance(miss.get("oracle"), list):
        return miss
    written: list[Any] = []
    for i, item in enumerate(miss["oracle"]):
        if isinstance(item, dict):
            written.append(item)
            continue
        span = _SPAN.fullmatch(str(item)) if type(item) in (int, str) else None
        first = int(span[1]) if span else 0
        last = int(span[2] or span[1]) if span else 0
        if not 1 <= first <= last <= len(steps):
            raise TaskError(
                f"{where}: oracle[{i}]: must be a step with say and do, the number of one of the oracle's {len(steps)} "
                f'steps, or several as "2-{len(steps)}", found {shown(item)}'
            )
        written += steps[first - 1 : last]
    return miss | {"oracle": written}


def load_tasks(root: Source | None = None) -> tuple[TaskPack, ...]:
    """Every task of the data package, by family in the usual order, then by id. TaskError for a file that is malformed,
    or whose id another has."""
    tasks, problems = survey_tasks(root)
    if problems:
        raise problems[0]
    return tasks


def survey_tasks(root: Source | None = None) -> tuple[tuple[TaskPack, ...], tuple[TaskError, ...]]:
    """(every task that can be read, in the order of `load_tasks`; what is wrong with the other files)."""
    folder = root or data_root()
    seen: dict[str, tuple[str, TaskPack]] = {}
    problems: list[TaskError] = []
    for family in FAMILIES:
        if not (folder / family).is_dir():
            continue
        for file in sorted((folder / family).iterdir(), key=lambda f: f.name):
            if not file.name.endswith(".toml"):
                continue
            where = f"{family}/{file.name}"
            try:
                task = load_task(file)
                if task.id in seen:
                    raise TaskError(f"{where}: id: {task.id!r} is used by {seen[task.id][0]} already")
                if task.family != family:
                    raise TaskError(f"{where}: family: {task.family!r} is not the folder's")
            except TaskError as problem:
                problems.append(problem)
            else:
                seen[task.id] = (where, task)
    order = {f: i for i, f in enumerate(FAMILIES)}
    tasks = tuple(t for _, t in sorted(seen.values(), key=lambda s: (order[s[1].family], s[1].id)))
    return tasks, tuple(problems)


def compile_task(task: TaskPack, *, root: Source | None = None, library: Library | None = None) -> CompiledScene:
    """The task's scene with its things in it. TaskError when the scene is unknown or a placement does not hold."""
    folder = root or data_root()
    try:
        scene = load_scene(task.scene, root=folder)
        spawn = None
        if task.spawn is not None:
            x, y, yaw_deg = task.spawn
            spawn = (x, y, math.radians(yaw_deg))
        return compile_scene(scene, task.things, library=library or load_library(folder / "objects"), spawn=spawn)
    except UnknownNameError as problem:
        near = names_near(task.scene, scene_ids(folder))
        raise TaskError(f"task {task.id}: scene: no scene {task.scene!r}. {near} All: iwreplay scene list") from problem
    except SceneError as problem:
        raise TaskError(f"task {task.id}: things: {problem}") from problem


def validate_task(task: TaskPack, *, root: Source | None = None, library: Library | None = None) -> CompiledScene:
    """Compiles the task and everything in it that names things of its scene. Returns the scene.

    TaskError for placements, scripts and commands; CheckError for formulas, with task, check and path."""
    scene = compile_task(task, root=root, library=library)
    scripts = tuple(s.id for s in task.script)
    for name, formula, live in task_formulas(task):
        compile_check(formula, task=task.id, check=name, scene=scene, scripts=scripts, live=live)
    for event in task.script:
        for i, action in enumerate(event.do):
            _check_action(task, scene, action, where=f"task {task.id}: script {event.id}: do[{i}]")
    for where, command in _commands(task):
        _check_command(command, where=f"task {task.id}: {where}")
    return scene


def _commands(task: TaskPack) -> Iterable[tuple[str, str]]:
    lists: list[tuple[str, tuple[str, ...]]] = [("warmup", task.warmup), ("no_help", task.no_help)]
    lists.append(("human.intent", task.human.intent))
    lists.extend((f"oracle[{i}].do", step.do) for i, step in enumerate(task.oracle))
    for miss in task.near_misses:
        lists.extend((f"near_misses {miss.id}: oracle[{i}].do", s.do) for i, s in enumerate(miss.oracle))
    for event in task.script:
        lists.extend((f"script {event.id}: do[{i}].commands", a.commands) for i, a in enumerate(event.do))
    for name, commands in lists:
        for i, command in enumerate(commands):
            yield f"{name}[{i}]", command


def _check_command(command: str, *, where: str) -> None:
    if command.strip() == "[NoOp]":
        return
    try:
        parse_command(command)
    except RefusedError as problem:
        raise TaskError(f"{where}: {problem.refusal.sentence} Found {shown(command)}") from problem


def _check_action(task: TaskPack, scene: CompiledScene, action: ScriptAction, *, where: str) -> None:
    if action.do in ("say", "intend"):
        return
    things = {t.id: t for t in scene.things}
    thing = things.get(action.thing)
    if thing is None:
        raise TaskError(f"{where}: thing: no thing {action.thing!r} in scene {scene.id}")
    if action.do == "set":
        try:
            checked(action.attr, action.value, where=f"{where}: value", has=thing.attrs)
        except SceneError as problem:
            raise TaskError(str(problem)) from problem
        if action.attr == "exists" and action.value is True and is_off_stage(thing.pose):
            raise TaskError(
                f'{where}: attr: {action.thing} is placed at "off", so nothing says where it comes to exist; place it '
                f'where it belongs with attrs.exists = false, or use do = "place"'
            )
    if action.do in ("ring", "stop_ring") and "phone" not in thing.affordances:
        raise TaskError(f"{where}: thing: {action.thing} is no phone")
    if action.do == "place" and action.at not in ("floor", "off"):
        owner, _, part = action.at.partition(".")
        links = [k for t in scene.things if t.id == owner for k in t.links]
        places = [s.name for k in links for s in k.surfaces] + [i.name for k in links for i in k.interiors]
        if part not in places:
            raise TaskError(f"{where}: at: no place {action.at!r}; {owner} has {', '.join(places) or 'none'}")


def _problems(task: TaskPack) -> Iterable[tuple[str, object, str]]:
    """(key, value, what is wrong) of everything that the file alone shows; the caller stops at the first."""
    if not _ID.fullmatch(task.id):
        yield "id", task.id, "must be a family's letter (G P A D V F) and two digits"
    elif _LETTERS[task.id[0]] != task.family:
        yield "family", task.family, f"does not go with id {task.id}"
    for key in ("title", "request", "scene"):
        if not getattr(task, key).strip():
            yield key, getattr(task, key), "must not be empty"
    for label in task.tests:
        if label not in CAPABILITIES:
            yield "tests", label, f"must be one of {', '.join(CAPABILITIES)}"
    if not task.oracle or not task.objectives:
        yield "oracle" if not task.oracle else "objectives", [], "must not be empty"
    if task.spawn is not None and not all(math.isfinite(v) for v in task.spawn):
        yield "spawn", task.spawn, "must be finite"
    yield from _repeated("things", [t.id for t in task.things])
    checks = [o.id for o in task.objectives] + [g.id for g in (*task.gates, *task.keeps)]
    yield from _repeated("objectives, gates and keeps", checks)
    yield from _repeated("points", [p.id for p in task.points])
    yield from _repeated("script", [s.id for s in task.script])
    yield from _repeated("near_misses", [m.id for m in task.near_misses])
    for p in task.points:
        if p.capability not in CAPABILITIES:
            yield f"points {p.id}: capability", p.capability, f"must be one of {', '.join(CAPABILITIES)}"
    scripts = [s.id for s in task.script]
    for s in task.script:
        if s.when.after is not None and (s.when.after not in scripts or s.when.after == s.id):
            yield f"script {s.id}: when.after", s.when.after, "must be another scripted event of the task"
        if s.when.turn is None and s.when.after_s is None and s.when.formula is None and s.when.after is None:
            yield f"script {s.id}: when", {}, "must say when: turn, after_s, formula or after"
        if not s.do:
            yield f"script {s.id}: do", [], "must not be empty"
    for m in task.near_misses:
        unknown = [f for f in m.fails if f not in checks]
        if unknown or not m.fails:
            yield f"near_misses {m.id}: fails", m.fails, f"must name objectives, gates or keeps ({', '.join(checks)})"
        yield from _empty_steps(f"near_misses {m.id}", m.oracle)
    yield from _empty_steps("oracle", task.oracle)
    if task.limits is not None and (task.limits.turns < 1 or task.limits.actions < 1):
        yield "limits", [task.limits.turns, task.limits.actions], "must be at least 1"


def _repeated(key: str, ids: list[str]) -> Iterable[tuple[str, object, str]]:
    for i, name in enumerate(ids):
        if name in ids[:i]:
            yield key, name, "is there twice"
        if not _NAME.fullmatch(name):
            yield key, name, "an id is a lower-case letter, then letters, digits and _"


def _empty_steps(key: str, steps: tuple[OracleStep, ...]) -> Iterable[tuple[str, object, str]]:
    for i, step in enumerate(steps):
        if step.do and not step.say.strip():
            yield f"{key}[{i}]", step.do, "commands without words: the Assistant has only its voice"
