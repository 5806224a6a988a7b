"""Validating tasks by running them (statements 28 to 30 of the protocol).

With the literal Human: the oracle passes, silence and no help fail, every near miss fails exactly the checks that it
names. Nothing is drawn, and nothing is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from iwreplay.actions import ActionEngine
from iwreplay.app.evidence import Proof, prove_evidence
from iwreplay.app.families import NEAR_MISSES, family_findings
from iwreplay.app.pictures import ready_folder
from iwreplay.app.pool import each, threads_for
from iwreplay.app.proofs import evidence_finding, guessing_finding, shortest_finding
from iwreplay.app.shorter import Marks, Search
from iwreplay.app.task_lines import header_of, line_of, line_of_check, line_of_command, line_of_id
from iwreplay.app.task_pages import Row, Verdict, page_name, write_index, write_task_page
from iwreplay.app.tasks import MalformedTask, TaskFile, survey, text_of
from iwreplay.app.usable import task_problems
from iwreplay.app.ways import left_alone
from iwreplay.checks import Evaluation, evaluate_task
from iwreplay.checks.lint import expected_by_lot, lint_start, lint_task
from iwreplay.errors import CheckError, IwreplayError
from iwreplay.events import Event, HumanTurn, PrimitiveOutcome
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.loop import EngineFactory, LeakScanner, configured, protocol_violations
from iwreplay.ports import Assistant
from iwreplay.scene.library import Library, load_library
from iwreplay.scene.loader import data_root
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.taskpack.loader import validate_task
from iwreplay.taskpack.model import OracleStep, TaskPack
from iwreplay.vocabulary import FAILURE_CODES
from recorder.assistants import OracleAssistant, SilentAssistant
from recorder.humans import LiteralHuman
from recorder.record import SystemClock, record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator

__all__ = ["TaskCheck", "TaskReport", "check_task", "check_tasks"]

_REACH = "everything used is within reach"
#: why a command of a Human on its own can't be refused, for it knows what it sees, where it stands and what it holds;
#: what is in the way, full, locked or too much it may well try
_SLIPS = frozenset(
    (*FAILURE_CODES["parse"], *FAILURE_CODES["grounding"], *FAILURE_CODES["hand"], "UNREACHABLE", "TOO_FAR")
)


class TaskCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    ok: bool
    #: what was found; says what is wrong when it is
    detail: str = ""


class TaskReport(msgspec.Struct, frozen=True, kw_only=True):
    """All checks of one task, or of a whole family (`turns` and `actions` are 0 then)."""

    #: id of the task, path of a file that is none, name of a family, or "all"
    task: str
    ok: bool
    checks: tuple[TaskCheck, ...]
    #: "" for a file that is no task
    family: str = ""
    #: length of its oracle
    turns: int = 0
    actions: int = 0
    #: wall time that the checks took
    seconds: float = 0.0
    #: how often choosing by lot is right, 0..1; None when the task declares no choice
    by_lot: float | None = None


def check_tasks(
    tasks: tuple[str, ...] = (),
    *,
    jobs: int = 1,
    search: Search = "bounded",
    pages: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[TaskReport, ...]:
    """Validates tasks, all when none is named, and then what is asked of the families that are whole. A file that can't
    be read is a task that does not load, named by its path. UnknownNameError for a name.

    pages: a folder for an HTML page about each task and an index of them; PictureWriteError when it can't be written,
    before anything is run.
    """
    found = survey(tasks)
    if pages is not None:
        ready_folder(pages)
    work = partial(_check_file, search=search, threads=threads_for(jobs), pages=pages)
    reports = [*each(work, found, jobs=jobs, progress=progress)]
    reports += _of_families([f.task for f in found if isinstance(f, TaskFile)])
    if pages is not None:
        write_index(pages, [_row(r, pages) for r in reports])
    return tuple(reports)


def _row(report: TaskReport, pages: Path) -> Row:
    page = page_name(report.task) if report.turns and (pages / page_name(report.task)).is_file() else ""
    return Row(
        report.task,
        report.family,
        page,
        report.turns,
        report.actions,
        report.by_lot,
        tuple(map(_verdict, report.checks)),
    )


def _verdict(check: TaskCheck) -> Verdict:
    return Verdict(check.name, check.ok, check.detail)


def _of_families(tasks: list[TaskPack]) -> Iterator[TaskReport]:
    found: dict[str, list[TaskCheck]] = {}
    for family, finding in family_findings(tasks):
        found.setdefault(family, []).append(TaskCheck(name=finding.name, ok=finding.ok, detail=finding.detail))
    for family, checks in found.items():
        yield TaskReport(task=family, ok=all(c.ok for c in checks), checks=tuple(checks), family=family)


def _check_file(
    found: TaskFile | MalformedTask, *, search: Search, threads: int, pages: Path | None = None
) -> TaskReport:
    if isinstance(found, TaskFile):
        return check_task(found.task, path=found.path, search=search, threads=threads, pages=pages)
    return TaskReport(task=found.path, ok=False, checks=(TaskCheck(name="loads", ok=False, detail=str(found)),))


def check_task(
    task: TaskPack,
    *,
    path: str = "",
    search: Search = "bounded",
    threads: int | None = None,
    pages: Path | None = None,
) -> TaskReport:
    """Validates one task; what is wrong with it is in the report, not raised, with lines of the file `path` if it is
    given. threads: that draw at a time. pages: a folder for an HTML page about it."""
    began_ns = SystemClock().now_ns()
    checks = _checks(task, path=path, search=search, threads=threads, pages=pages)
    return TaskReport(
        task=task.id,
        ok=all(c.ok for c in checks),
        checks=tuple(checks),
        family=task.family,
        turns=len(task.oracle),
        actions=sum(len(s.do) for s in task.oracle),
        seconds=(SystemClock().now_ns() - began_ns) / 1e9,
        by_lot=expected_by_lot(task),
    )


def _checks(task: TaskPack, *, path: str, search: Search, threads: int | None, pages: Path | None) -> list[TaskCheck]:
    file = _File(path, text_of(path) if path else "")
    try:
        library = load_library(data_root() / "objects")
        scene = validate_task(task, library=library)
    except IwreplayError as e:
        about = e.check if isinstance(e, CheckError) else ""
        line = None if about else line_of(file.text, str(e).removeprefix(f"task {task.id}: "))
        at = file.at_check(about) if about else file.at(line)
        return [TaskCheck(name="loads", ok=False, detail=f"{at}{e}")]
    checks = [_lint(task, scene, file), _hidden_names(task, scene)]
    if not checks[0].ok:
        return checks
    maker = FrameMaker(scene, config=configured(task, draw_frames=False), threads=threads)
    told: list[Event] = []
    with tempfile.TemporaryDirectory(prefix="iwreplay-check-") as folder:
        play = partial(_play, task, scene, Path(folder), maker=maker)
        marks = Marks()
        oracle = play(OracleAssistant(task.oracle), name="oracle", engine=marks.engine)
        if oracle.spoilt:  # nor can anything else be played
            return [*checks, _spoilt(oracle, file)]
        alone = _without_help(task, scene, Path(folder), maker=maker)
        told += (*oracle.events, *alone.events)
        proofs = prove_evidence(task, scene, oracle.events, maker=maker)
        checks += [
            _starts_unsolved(oracle, file),
            _passes(oracle, file),
            _clean(oracle),
            _commands_follow(task.oracle, oracle, name="oracle's words give its commands"),
            _protocol(oracle),
            *_proofs(task, scene, oracle, proofs=proofs, marks=marks, maker=maker, search=search),
            _fails(play(SilentAssistant(), name="silence"), name="silence fails"),
            _fails_alone(alone),
        ]
        if len(task.near_misses) < NEAR_MISSES:
            few = f"the task has {len(task.near_misses) or 'none'}; at least {NEAR_MISSES} are asked for"
            checks.append(TaskCheck(name="near misses", ok=False, detail=few))
        for miss in task.near_misses:
            played = play(OracleAssistant(miss.oracle), name=miss.id)
            told += played.events
            checks.append(_fails_exactly(miss.fails, played, name=f"near miss {miss.id}", at=file.at_check(miss.id)))
            checks.append(_commands_follow(miss.oracle, played, name=f"near miss {miss.id}: words give commands"))
    checks.append(_within_reach(task, scene, told, library=library, file=file))
    if pages is not None:
        verdicts = [_verdict(c) for c in checks]
        write_task_page(
            pages,
            task,
            about=header_of(file.text),
            events=oracle.events,
            alone=alone.events,
            proofs=proofs,
            verdicts=verdicts,
            maker=maker,
        )
    return checks


def _proofs(
    task: TaskPack,
    scene: CompiledScene,
    oracle: _Played,
    *,
    proofs: tuple[Proof, ...],
    marks: Marks,
    maker: FrameMaker,
    search: Search,
) -> Iterator[TaskCheck]:
    """What only an oracle that passes can show."""
    guessing = guessing_finding(task)
    yield TaskCheck(name=guessing.name, ok=guessing.ok, detail=guessing.detail)
    evidence = evidence_finding(task, proofs)
    yield TaskCheck(name=evidence.name, ok=evidence.ok, detail=evidence.detail)
    if not oracle.evaluation.passed:
        return
    simulator = MujocoSimulator()
    simulator.load(scene)
    shortest = shortest_finding(
        task,
        scene,
        oracle=oracle.events,
        marks=marks,
        config=maker.config,
        simulator=simulator,
        maker=maker,
        search=search,
    )
    yield TaskCheck(name=shortest.name, ok=shortest.ok, detail=shortest.detail)


def _within_reach(
    task: TaskPack, scene: CompiledScene, told: list[Event], *, library: Library, file: _File
) -> TaskCheck:
    """A hand gets to what the task puts into its scene, to the places of it, and to what its commands name."""
    commands: dict[str, str] = {}
    for event in told:
        if isinstance(event, PrimitiveOutcome):
            places = [f"{event.dest}.{part}" for t in scene.things if t.id == event.dest for part in _parts(t)]
            for name in (event.obj, event.dest, event.tool, *places):
                commands.setdefault(name, event.command)
    try:
        problems = task_problems(task, scene, library=library, also=commands)
    except IwreplayError as e:
        return TaskCheck(name=_REACH, ok=False, detail=str(e))
    said = []
    for p in problems:
        placed = next((q.id for q in task.things if p.where in (q.id, q.at)), "")
        command = commands.get(p.where, "")
        line = line_of_id(file.text, placed) if placed else line_of_command(file.text, command) if command else None
        said.append(f"{file.at(line)}{p}" + (f" ({command})" if command and not placed else ""))
    return TaskCheck(name=_REACH, ok=not said, detail="; ".join(said))


def _parts(thing: Thing) -> Iterator[str]:
    for link in thing.links:
        yield from (s.name for s in link.surfaces)
        yield from (i.name for i in link.interiors)


class _File(NamedTuple):
    """The file of a task, for what is wrong with it; both are "" where there is none."""

    path: str
    text: str

    def at(self, line: int | None) -> str:
        return f"{self.path}, line {line}: " if self.path and line else f"{self.path}: " if self.path else ""

    def at_check(self, where: str) -> str:
        """What a finding about a check, an event or a place in a list begins with."""
        return self.at(line_of_check(self.text, where))


class _Played(msgspec.Struct, frozen=True, kw_only=True):
    """A finished episode of the task."""

    events: tuple[Event, ...]
    evaluation: Evaluation
    #: "" or why the episode can't count
    spoilt: str


def _play(
    task: TaskPack,
    scene: CompiledScene,
    folder: Path,
    assistant: Assistant,
    *,
    name: str,
    maker: FrameMaker,
    engine: EngineFactory = ActionEngine,
) -> _Played:
    path = folder / f"{name}.arrows"
    recorded = record_episode(
        task,
        scene=scene,
        assistant=assistant,
        human=LiteralHuman(),
        simulator=MujocoSimulator,
        frames=lambda scene, config: maker,
        path=path,
        config=maker.config,
        engine=engine,
    )
    with read_log(path) as log:
        events = tuple(log.events())
    return _Played(
        events=events,
        evaluation=evaluate_task(events),
        spoilt="" if recorded.result.valid else recorded.result.detail,
    )


def _without_help(task: TaskPack, scene: CompiledScene, folder: Path, *, maker: FrameMaker) -> _Played:
    """Silence, while the Human does by itself what the no-help sequence says."""
    return _play(left_alone(task), scene, folder, SilentAssistant(), name="no_help", maker=maker)


def _lint(task: TaskPack, scene: CompiledScene, file: _File) -> TaskCheck:
    findings = lint_task(task, scene)
    errors = [f for f in findings if f.level == "error"]
    about_all = file.at(line_of(file.text, "tests: "))
    said = "; ".join(
        f"{file.at_check(f.where) if f.where else about_all}{f.level} in {f.where or 'the task'}: {f.message}"
        for f in findings
    )
    return TaskCheck(name="loads", ok=not errors, detail=said)


def _hidden_names(task: TaskPack, scene: CompiledScene) -> TaskCheck:
    """No identifier, check or formula in anything that is said or shown."""
    scanner = LeakScanner(task, scene)
    said = [task.request, task.human.role, task.human.extra]
    said += [step.say for steps in (task.oracle, *(m.oracle for m in task.near_misses)) for step in steps]
    said += [action.text for event in task.script for action in event.do]
    spoken = "\n".join([*said, *(c for step in task.oracle for c in step.do)])
    leaks = [f"{leak.kind} {leak.found!r} in {text!r}" for text in said for leak in scanner.scan(text, spoken=spoken)]
    commands = [*task.warmup, *task.no_help, *task.human.intent]
    commands += [c for steps in (task.oracle, *(m.oracle for m in task.near_misses)) for step in steps for c in step.do]
    commands += [c for event in task.script for action in event.do for c in action.commands]
    for command in commands:
        found = [leak.found for leak in scanner.scan(command, spoken=command) if leak.kind == "identifier"]
        leaks += [f"identifier {name!r} in the command {command!r}" for name in found]
    return TaskCheck(name="no hidden names are said", ok=not leaks, detail="; ".join(leaks))


def _starts_unsolved(played: _Played, file: _File) -> TaskCheck:
    findings = lint_start(played.events)
    said = [f"{file.at_check(f.where)}{f.where}: {f.message}" for f in findings]
    return TaskCheck(name="objectives are false, keeps true at the start", ok=not said, detail="; ".join(said))


def _spoilt(played: _Played, file: _File) -> TaskCheck:
    """Why the task can't be played at all: most often a command of its warmup that is refused."""
    refused = [e.command for e in played.events if isinstance(e, PrimitiveOutcome) and not e.ok]
    line = line_of_command(file.text, refused[-1]) if refused else None
    return TaskCheck(name="oracle passes", ok=False, detail=f"{file.at(line)}not valid{_because(played)}")


def _passes(played: _Played, file: _File) -> TaskCheck:
    found = played.evaluation
    if found.passed:
        return TaskCheck(name="oracle passes", ok=True, detail=f"mcr {found.mcr:.2f}")
    results = [o for o in found.objectives if not o.satisfied]
    results += [g for g in (*found.gates, *found.keeps) if not g.held]  # type: ignore[misc]
    said = [f"{file.at_check(r.id)}fails {r.id}{_decided(played.events, r.decided_seq)}" for r in results]
    detail = "; ".join(said) or "fails nothing, but its log lacks what a verdict needs"
    return TaskCheck(name="oracle passes", ok=False, detail=f"{detail}{_refusals(played)}")


def _decided(events: tuple[Event, ...], seq: int) -> str:
    """When a check became what it is: at the end for what never came about, else a turn and its command."""
    if seq >= len(events) - 1:
        return " at the end"
    turn = next((e.turn for e in reversed(events[: seq + 1]) if isinstance(e, HumanTurn)), None)
    command = next((e.command for e in events[seq:] if isinstance(e, PrimitiveOutcome)), "")
    return f" since turn {turn}, {command}" if turn is not None and command else ""


def _clean(played: _Played) -> TaskCheck:
    """The oracle is the shortest help: nothing it asks for is refused, and every capability point is won cleanly."""
    lost = [f"point {p.id} is {p.status}" for p in played.evaluation.points if p.status != "clean_pass"]
    refused = _refusals(played).removeprefix("; ")
    detail = "; ".join([*lost, refused] if refused else lost)
    return TaskCheck(name="oracle is never refused and wins every point", ok=not detail, detail=detail)


def _fails(played: _Played, *, name: str) -> TaskCheck:
    found = played.evaluation
    ok = not found.passed and not played.spoilt
    fails = f"mcr {found.mcr:.2f}, fails {', '.join(_failed(found))}"
    detail = fails if ok else f"not valid{_because(played)}" if played.spoilt else "passes"
    return TaskCheck(name=name, ok=ok, detail=detail)


def _fails_alone(played: _Played) -> TaskCheck:
    """Without help it fails, and by what the Human does: not by a command that could not be meant so."""
    check = _fails(played, name="no help fails")
    slips = [
        f"{e.command}: {e.code}: {e.sentence}"
        for e in played.events
        if isinstance(e, PrimitiveOutcome) and e.phase == "closed_loop" and e.code in _SLIPS
    ]
    if not check.ok or not slips:
        return check
    return TaskCheck(name=check.name, ok=False, detail=f"{'; '.join(slips)}; mend the sequence, so that it can be done")


def _fails_exactly(wanted: tuple[str, ...], played: _Played, *, name: str, at: str) -> TaskCheck:
    failed = _failed(played.evaluation)
    ok = set(failed) == set(wanted) and not played.spoilt
    detail = f"fails {', '.join(failed) or 'nothing'}"
    if not ok:
        detail = f"{at}{detail}"
        detail += f", not exactly {', '.join(wanted)}{_because(played)}{_refusals(played)}"
    return TaskCheck(name=name, ok=ok, detail=detail)


def _commands_follow(steps: tuple[OracleStep, ...], played: _Played, *, name: str) -> TaskCheck:
    """The literal Human made of each sentence the commands that the task says. Silent turns are its own affair."""
    turns = {e.turn: e.commands for e in played.events if isinstance(e, HumanTurn)}
    wrong = [
        f"turn {n}, {step.say!r}: {' '.join(got)} instead of {' '.join(step.do) or 'nothing'}"
        for n, step in enumerate(steps, start=1)
        if step.say.strip() and (got := turns.get(n)) is not None and got != (step.do or ("[NoOp]",))
    ]
    missing = [n for n in range(1, len(steps) + 1) if n not in turns]
    if missing:
        wrong.append(f"turns {', '.join(map(str, missing))} did not happen{_because(played)}")
    return TaskCheck(name=name, ok=not wrong, detail="; ".join(wrong))


def _protocol(played: _Played) -> TaskCheck:
    broken = protocol_violations(played.events)
    said = "; ".join(f"statement {v.statement} at event {v.seq}: {v.message}" for v in broken[:5])
    return TaskCheck(name="protocol is kept", ok=not broken, detail=said)


def _failed(found: Evaluation) -> list[str]:
    failed = [o.id for o in found.objectives if not o.satisfied]
    return failed + [g.id for g in (*found.gates, *found.keeps) if not g.held]


def _because(played: _Played) -> str:
    return f" ({played.spoilt})" if played.spoilt else ""


def _refusals(played: _Played) -> str:
    return "".join(_told(played.events))


def _told(events: tuple[Event, ...]) -> Iterator[str]:
    for event in events:
        if isinstance(event, PrimitiveOutcome) and not event.ok:
            yield f"; turn {event.turn}, {event.command}: {event.code}: {event.sentence}"
