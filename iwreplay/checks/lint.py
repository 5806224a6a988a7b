"""Lints of a task: what can be known before it is played, and at the start of live interaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from iwreplay.checks.attributes import constant_of, is_constant
from iwreplay.checks.check import compile_check
from iwreplay.checks.derive import Relations
from iwreplay.checks.evaluation import runs_over
from iwreplay.checks.formulas import task_formulas
from iwreplay.checks.index import SceneIndex
from iwreplay.checks.language import FUTURE, INSTANT, compare
from iwreplay.checks.operators import bag_key
from iwreplay.checks.scope import is_static, static_ids
from iwreplay.errors import CheckError, LogError
from iwreplay.events import Event
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import Choice, TaskPack
from iwreplay.vocabulary import CAPABILITIES

__all__ = ["MOST_BY_LOT", "Finding", "choice_outcomes", "expected_by_lot", "lint_start", "lint_task"]

#: choosing by lot must not be right more often than this
MOST_BY_LOT = 0.5
#: what can be chosen: a hand does something with it, or somebody sits down on it
_CHOSEN = frozenset(("grab", "open", "switch", "plug", "seat", "push", "phone", "wear", "bin", "container", "surface"))


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing wrong with a task. An error must be mended; a warning is very likely a mistake."""

    level: Literal["error", "warning"]
    #: id of the check, scripted event or near-miss; "" for the task
    where: str
    message: str
    #: path inside the formula
    path: tuple[int, ...] = ()


def lint_task(task: TaskPack, scene: CompiledScene) -> tuple[Finding, ...]:
    """Everything that is wrong with the formulas, ids and references of a task, errors first. Never raises for it."""
    index = SceneIndex(scene)
    findings = [*_ids(task), *_references(task)]
    for where, formula, live in task_formulas(task):
        try:
            compile_check(
                formula,
                task=task.id,
                check=where,
                scene=index,
                scripts=tuple(s.id for s in task.script),
                live=live,
            )
        except CheckError as error:
            findings.append(Finding(level="error", where=where, message=error.reason, path=error.path))
            continue
        findings += _lint_formula(where, formula, index=index, live=live)
    findings += [*_lint_evidence(task, index), *_lint_choices(task, index)]
    return tuple(sorted(findings, key=lambda f: f.level != "error"))


def lint_start(
    events: Iterable[Event | tuple[int, Event]], *, relations: Relations | None = None
) -> tuple[Finding, ...]:
    """At the start of live interaction every objective is false, every keep true and no gate broken; `events` is a
    log that reaches it. Raises LogError when it does not."""
    for run in runs_over(events, relations=relations):
        if run.live_seq is None:
            continue
        evaluation = run.evaluation()
        held = [(o.id, "objective", not o.satisfied) for o in evaluation.objectives]
        held += [(k.id, "keep", k.held) for k in evaluation.keeps]
        held += [(g.id, "gate", g.held) for g in evaluation.gates]
        return tuple(
            Finding(
                level="error",
                where=where,
                message=f"{what} is {'true' if what == 'objective' else 'false'} at the start of live interaction",
            )
            for where, what, good in held
            if not good
        )
    raise LogError("the log ends before live interaction starts: it has no baseline snapshot")


def _ids(task: TaskPack) -> Iterator[Finding]:
    if not task.objectives:
        yield Finding(level="error", where="", message="a task needs at least one objective")
    checks = [o.id for o in task.objectives] + [g.id for g in (*task.gates, *task.keeps)] + [p.id for p in task.points]
    for kind, ids in (("check", checks), ("scripted event", [s.id for s in task.script])):
        for name, n in sorted(Counter(ids).items()):
            if n > 1:
                yield Finding(level="error", where=name, message=f"{n} {kind}s have the id {name!r}")
            if not name or "/" in name:
                yield Finding(level="error", where=name, message=f"{kind} id {name!r} is empty or has a slash in it")


def _references(task: TaskPack) -> Iterator[Finding]:
    for c in task.tests:
        if c not in CAPABILITIES:
            yield Finding(level="error", where="", message=f"tests unknown capability {c!r}")
        elif all(p.capability != c for p in task.points):
            yield Finding(level="error", where="", message=f"tests {c} ({CAPABILITIES[c]}), but no point measures it")
    for p in task.points:
        if p.capability not in CAPABILITIES:
            yield Finding(level="error", where=p.id, message=f"unknown capability {p.capability!r}")
        elif p.capability not in task.tests:
            yield Finding(level="error", where=p.id, message=f"measures {p.capability}, which `tests` does not list")
    vetoes = {o.id for o in task.objectives} | {g.id for g in (*task.gates, *task.keeps)}
    for miss in task.near_misses:
        if not miss.fails:
            yield Finding(level="error", where=miss.id, message="a near-miss must fail something")
        for name in miss.fails:
            if name not in vetoes:
                text = f"fails {name!r}, which is no objective, gate or keep of the task"
                yield Finding(level="error", where=miss.id, message=text)
    after = {s.id: s.when.after for s in task.script}
    for name, first in after.items():
        seen, at = {name}, first
        while at is not None and at not in seen:
            if at not in after:
                yield Finding(level="error", where=name, message=f"waits for unknown scripted event {at!r}")
                break
            seen.add(at)
            at = after[at]
        if at == name:
            yield Finding(level="error", where=name, message="waits for itself, by way of `after`")


def _lint_evidence(task: TaskPack, index: SceneIndex) -> Iterator[Finding]:
    for i, e in enumerate(task.evidence or ()):
        where = f"evidence[{i}]"
        if bool(e.see) == bool(e.read):
            yield Finding(level="error", where=where, message="has either `see` or `read`, the id of a thing")
            continue
        name, _, face = (e.read or e.see).partition(".")
        thing = index.things.get(name)
        faces = [] if thing is None else [f.name for link in thing.links for f in link.faces]
        if thing is None:
            yield Finding(level="error", where=where, message=f"the scene has no thing {name!r}")
        elif e.see and face:
            yield Finding(level="error", where=where, message=f"`see` takes the id of a thing, not {e.see!r}")
        elif e.read and not faces:
            yield Finding(level="error", where=where, message=f"{name} has no face for a text; use `see`")
        elif face and face not in faces:
            text = f"{name} has no face {face!r}; it has {', '.join(faces)}"
            yield Finding(level="error", where=where, message=text)
        yield from _lint_before(e.before, where=where, task=task, index=index)


def _lint_before(before: Any, *, where: str, task: TaskPack, index: SceneIndex) -> Iterator[Finding]:
    if isinstance(before, str):
        known = [o.id for o in task.objectives]
        if before not in known:
            text = f"before: {before!r} is no objective of the task ({', '.join(known)}), and no formula"
            yield Finding(level="error", where=where, message=text)
        return
    try:
        compile_check(before, task=task.id, check=where, scene=index, scripts=tuple(s.id for s in task.script))
    except CheckError as error:
        yield Finding(level="error", where=where, message=f"before: {error.reason}", path=error.path)


def _lint_choices(task: TaskPack, index: SceneIndex) -> Iterator[Finding]:
    for i, c in enumerate(task.choices or ()):
        where = f"choices[{i}]"
        for name, n in sorted(Counter(c.of).items()):
            thing = index.things.get(name)
            if n > 1:
                yield Finding(level="error", where=where, message=f"of: {name!r} is there {n} times")
            if thing is None:
                yield Finding(level="error", where=where, message=f"of: the scene has no thing {name!r}")
            elif not thing.name or not _CHOSEN.intersection(thing.affordances):
                text = f"of: nobody can choose {name}: a hand does nothing with it ({', '.join(thing.affordances)})"
                yield Finding(level="error", where=where, message=text)
        outcomes = choice_outcomes(c)
        if outcomes < 2:
            text = f"taking {c.take} of {len(c.of)} to {c.places} places leaves nothing to choose"
            yield Finding(level="error", where=where, message=text)
        elif not 1 <= c.right < outcomes:
            text = f"right: {c.right} of {outcomes} outcomes can't be right; at least 1, and fewer than all"
            yield Finding(level="error", where=where, message=text)


def choice_outcomes(choice: Choice) -> int:
    """How many ways there are to choose; 0 when there are none."""
    if not 1 <= choice.take <= len(choice.of) or choice.places < 1:
        return 0
    outcomes = 1
    for i in range(choice.take):
        outcomes = outcomes * (len(choice.of) - i) // (i + 1)
    for _ in range(choice.take):
        outcomes *= choice.places
    return outcomes


def expected_by_lot(task: TaskPack) -> float | None:
    """The probability that choosing by lot gives the right outcome of every choice; None when the task states none."""
    if not task.choices:
        return None
    chance = 1.0
    for c in task.choices:
        chance *= c.right / max(1, choice_outcomes(c))
    return chance


def _lint_formula(where: str, formula: Any, *, index: SceneIndex, live: bool) -> Iterator[Finding]:
    if _instant(formula):
        text = "an event holds for one step only, and the value counts after it; use once, since or at_last"
        yield Finding(level="warning" if live else "error", where=where, message=text)
    if formula[0] in FUTURE:
        text = f"{formula[0]!r} looks ahead from the last step, where nothing is left; use once or hist"
        yield Finding(level="warning", where=where, message=text)
    for path, part in _parts(formula, ()):
        problem = _impossible(part, index)
        if problem is not None:
            yield Finding(level="error", where=where, message=problem, path=path)


def _instant(f: Any) -> bool:
    """True when `f` can only hold at the step of an event."""
    op = f[0]
    if op in INSTANT:
        return True
    if op == "and":
        return any(_instant(x) for x in f[1:])
    if op == "or":
        return all(_instant(x) for x in f[1:])
    return bool(op in ("exists", "bind") and _instant(f[-1]))


def _parts(f: Any, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    if isinstance(f, list | tuple) and f:
        if isinstance(f[0], str):
            yield path, f
        for i, x in enumerate(f):
            yield from _parts(x, (*path, i))


def _impossible(f: Any, index: SceneIndex) -> str | None:
    """Why a count or a bag can never be reached with the things that the scene has."""
    op = f[0]
    if not (len(f) == 4 and isinstance(f[1], list | tuple) and f[1]):
        return None
    if op == "count" and (is_static(f[1]) or f[1][0] == "in"):
        n = len(static_ids(f[1], index=index, env={}) if is_static(f[1]) else index.movable)
        if not any(compare(k, f[2], f[3]) for k in range(n + 1)):
            return f"only {n} things can be selected, so that the count is never {f[2]} {f[3]}"
    if op == "bag" and (is_static(f[1]) or f[1][0] == "in"):
        ids = static_ids(f[1], index=index, env={}) if is_static(f[1]) else index.movable
        return _short(f[2], list(f[3]), ids, index)
    if op == "assign":
        return _short(f[2], [v for bag in f[3] for v in bag], index.movable, index)
    return None


def _short(attr: str, values: list[Any], ids: tuple[str, ...], index: SceneIndex) -> str | None:
    if len(values) > len(ids):
        return f"{len(values)} values are asked of {len(ids)} things"
    if not is_constant(index, attr):
        return None
    missing = Counter(map(bag_key, values)) - Counter(bag_key(constant_of(index, t, attr)) for t in ids)
    if not missing:
        return None
    lacking = [v for v in values if bag_key(v) in missing]
    return f"the scene has too few things with {attr} {', '.join(str(v) for v in dict.fromkeys(lacking))}"
