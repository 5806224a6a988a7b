"""Reports: the episodes of a store, or of some runs, gathered for `iwreplay.reports`, and the files written."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.app.benching import is_run, run_episodes
from iwreplay.app.catalogue import open_catalogue
from iwreplay.app.episodes import find_episode
from iwreplay.app.report_files import PAGE, TABLES, TEXT, check_folder, read_numbers, write_files
from iwreplay.app.scoring import score_episodes
from iwreplay.app.tasks import all_or_none, list_tasks
from iwreplay.catalogue import Catalogue
from iwreplay.errors import ReportError
from iwreplay.loop import limits_of
from iwreplay.reports import (
    Instance,
    Number,
    StaticAnswer,
    TaskFacts,
    make_report,
    select,
)
from iwreplay.taskpack.model import TaskPack
from iwreplay.version import __version__

__all__ = ["Traced", "Written", "trace", "write_report"]

_MOST_EPISODES = 1_000_000
_HASH = re.compile(r"[0-9a-f]{64}")
_EPISODES = """
SELECT episode, root_hash, task, task_version, task_state, family, assistant, human, seed,
       assistant_params, human_params, assistant_prompt, human_prompt, simulator, renderer, format_version,
       status, problem, max_turns, max_actions
FROM episodes ORDER BY episode
"""
_SCORES = """
SELECT episode, metric, value, status, reason, details FROM scores
WHERE metric IN ('pass', 'mcr', 'action_cost', 'turn_cost', 'token_cost', 'interventions') ORDER BY ALL
"""
_POINTS = "SELECT episode, capability, status FROM points ORDER BY ALL"
_FIRST_ERRORS = "SELECT episode, status, label, invalid, reasons FROM first_errors ORDER BY ALL"
_DETAILED = ("action_cost", "turn_cost", "token_cost", "interventions")
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A report that was written."""

    page: str
    text: str
    #: folder of the CSV files
    tables: str
    counted: int
    left_out: int
    warnings: tuple[str, ...]


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """A number of a report, with the episodes that it rests on."""

    number: Number
    #: (episode, root hash) of each
    episodes: tuple[tuple[str, str], ...]


def write_report(
    store: Path,
    wanted: Sequence[str],
    *,
    out: Path,
    separate: bool = False,
    static: Path | None = None,
    seed: int = 11,
    resamples: int = 10_000,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
) -> Written:
    """Writes the page, the text and the tables into the folder `out`, which is new, empty or of an earlier report.

    wanted: names of runs, episodes or beginnings of their ids; all of the store when there are none. separate: what was
    recorded in another way is an arm of its own. static: answers to static questions, a CSV file with the columns
    assistant, task and correct.

    UnknownNameError; ReportError for a folder that holds something else or answers that can't be read; LogWriteError
    when the disk refuses.
    """
    check_folder(out)
    tasks, problems = list_tasks()
    all_or_none(problems)
    answers = () if static is None else _answers(static, {t.id for t in tasks})
    chosen = _chosen(store, wanted)
    if chosen == ():
        raise ReportError(f"{', '.join(wanted)}: no episode has ended yet")
    progress(0, 3, "scores")
    score_episodes(store, chosen or (), progress=lambda n, of: progress(0, 3, f"scores {n} of {of}"))
    progress(1, 3, "catalogue")
    with open_catalogue(store) as catalogue:
        catalogue.refresh(progress=lambda n, of: progress(1, 3, f"catalogue {n} of {of}"))
        instances = _instances(catalogue, tasks, None if chosen is None else set(chosen))
    selection = select(instances, tasks=[_facts(t) for t in tasks], separate=separate)
    report = make_report(
        selection,
        title=f"InteractiveBench: {', '.join(wanted)}" if wanted else "InteractiveBench: all episodes of the store",
        facts=(("made by", f"iwreplay {__version__}"), ("seed", str(seed)), ("resamples", f"{resamples:,}")),
        answers=answers,
        seed=seed,
        resamples=resamples,
        progress=lambda n, of: progress(2, 3, f"part {n} of {of}"),
    )
    write_files(out, report, root_hashes={i.episode: i.root_hash or "" for i in instances})
    progress(3, 3, "written")
    return Written(
        page=str(out / PAGE),
        text=str(out / TEXT),
        tables=str(out / TABLES),
        counted=sum(len(mine) for mine in selection.counted.values()),
        left_out=len(selection.left_out),
        warnings=report.warnings,
    )


def trace(out: Path, name: str) -> Traced:
    """The number of that name in a report that was written to `out`. ReportError when there is no such report or
    number."""
    found = read_numbers(out)
    for number in found.numbers:
        if number.id == name:
            return Traced(number=number, episodes=tuple((e, found.root_hashes.get(e, "")) for e in number.episodes))
    near = [n.id for n in found.numbers if name.lower() in n.id.lower()]
    hint = (
        f"There are: {'; '.join(near[:8])}" + (" ..." if len(near) > 8 else "")
        if near
        else f"{out}/numbers.json has all names."
    )
    raise ReportError(f"the report in {out} has no number {name!r}. {hint}")


def _chosen(store: Path, wanted: Sequence[str]) -> tuple[str, ...] | None:
    """Ids of the episodes that are wanted; None: all."""
    if not wanted:
        return None
    found: dict[str, None] = {}
    for name in wanted:
        if is_run(store, name):
            found.update(dict.fromkeys(run_episodes(store, name)))
        else:
            found[find_episode(store, name).id] = None
    return tuple(found)


def _facts(task: TaskPack) -> TaskFacts:
    return TaskFacts(
        id=task.id,
        family=task.family,
        version=task.version,
        oracle_actions=sum(len(step.do) for step in task.oracle),
    )


def _instances(catalogue: Catalogue, tasks: Iterable[TaskPack], chosen: set[str] | None) -> list[Instance]:
    limits = {t.id: (limits_of(t).turns, limits_of(t).actions) for t in tasks}
    scores: dict[str, dict[str, dict[str, Any]]] = {}
    for row in _rows(catalogue, _SCORES):
        scores.setdefault(row["episode"], {})[row["metric"]] = row
    points: dict[str, list[tuple[str, str]]] = {}
    for row in _rows(catalogue, _POINTS):
        points.setdefault(row["episode"], []).append((row["capability"], row["status"]))
    labels = {row["episode"]: row for row in _rows(catalogue, _FIRST_ERRORS)}
    return [
        _instance(
            row,
            scores.get(row["episode"], {}),
            tuple(points.get(row["episode"], ())),
            labels.get(row["episode"], {}),
            limits,
        )
        for row in _rows(catalogue, _EPISODES)
        if chosen is None or row["episode"] in chosen
    ]


def _rows(catalogue: Catalogue, sql: str) -> list[dict[str, Any]]:
    answer = catalogue.ask(sql, max_rows=_MOST_EPISODES)
    if answer.cut:
        raise ReportError(f"the store has more than {_MOST_EPISODES:,} rows to report on; name runs or episodes")
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def _instance(
    row: dict[str, Any],
    scores: dict[str, dict[str, Any]],
    points: tuple[tuple[str, str], ...],
    label: dict[str, Any],
    limits: dict[str, tuple[int, int]],
) -> Instance:
    passed, mcr = scores.get("pass", {}).get("value"), scores.get("mcr", {}).get("value")
    return Instance(
        episode=row["episode"],
        root_hash=row["root_hash"],
        task=row["task"] or "?",
        task_version=row["task_version"] or 0,
        task_state=row["task_state"] or "unknown",
        # an unreadable log has no family; it is left out by its status before that matters
        family=row["family"] or "guidance",
        assistant=row["assistant"] or "?",
        human=row["human"] or "?",
        seed=row["seed"] or 0,
        setup=_setup(row, limits) if row["task"] else {},
        script=" ".join(h for who in ("assistant_params", "human_params") for h in _hashes(row[who])),
        status=row["status"],
        problem=row["problem"] or scores.get("pass", {}).get("reason") or "",
        passed=None if passed is None else passed == 1.0,
        mcr=mcr,
        points=points,
        details={
            m: msgspec.json.decode(s["details"]) for m, s in scores.items() if m in _DETAILED and s["value"] is not None
        },
        values={m: s["value"] for m, s in scores.items() if s["value"] is not None},
        first_error=label.get("label") or "",
        disputed=label.get("status") == "open",
        invalid=(label.get("reasons") or "no reason given") if label.get("invalid") else "",
    )


def _setup(row: dict[str, Any], limits: dict[str, tuple[int, int]]) -> dict[str, str]:
    own = limits.get(row["task"]) == (row["max_turns"], row["max_actions"])
    return {
        "prompt of the Assistant": row["assistant_prompt"] or "",
        "prompt of the Human": row["human_prompt"] or "",
        "parameters of the Assistant": _settings(row["assistant_params"]),
        "parameters of the Human": _settings(row["human_params"]),
        "limits": "the tasks' own" if own else f"{row['max_turns']} turns, {row['max_actions']} actions",
        "simulator": row["simulator"],
        "renderer": row["renderer"],
        "log format": str(row["format_version"]),
    }


def _settings(params: str | None) -> str:
    """An object of strings on one line; left out is the prompt, which has a line of its own, and what is a hash."""
    found: dict[str, str] = msgspec.json.decode(params) if params else {}
    return ", ".join(
        f"{k} {v}" for k, v in sorted(found.items()) if not k.startswith("prompt") and not _HASH.fullmatch(v)
    )


def _hashes(params: str | None) -> list[str]:
    """Of what a participant plays from, such as the lines of a script, which each task has its own of."""
    found: dict[str, str] = msgspec.json.decode(params) if params else {}
    return [v for k, v in sorted(found.items()) if not k.startswith("prompt") and _HASH.fullmatch(v)]


def _answers(path: Path, tasks: set[str]) -> tuple[StaticAnswer, ...]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"assistant", "task", "correct"} <= set(reader.fieldnames or ()):
                raise ReportError(f"{path}: its first line must name the columns assistant, task and correct")
            found = [_answer(path, n, line, tasks) for n, line in enumerate(reader, start=2)]
    except OSError as e:
        raise ReportError(f"{path} can't be read: {e.strerror}") from None
    except (UnicodeError, csv.Error) as e:
        raise ReportError(f"{path} is no CSV file in UTF-8: {e}") from None
    if not found:
        raise ReportError(f"{path} has no answer")
    places = [(a.assistant, a.task) for a in found]
    for n, place in enumerate(places, start=2):
        if place in places[: n - 2]:
            raise ReportError(f"{path}, line {n}: {place[0]} has answered {place[1]} before")
    return tuple(found)


def _answer(path: Path, n: int, line: dict[str, str], tasks: set[str]) -> StaticAnswer:
    task, said = (line["task"] or "").strip(), (line["correct"] or "").strip().lower()
    if task not in tasks:
        raise ReportError(f"{path}, line {n}: {task!r} is no task of the benchmark")
    if said not in _YES + _NO:
        raise ReportError(f"{path}, line {n}: correct is true or false, not {line['correct']!r}")
    name = (line["assistant"] or "").strip()
    if not name:
        raise ReportError(f"{path}, line {n}: whose answer is it? assistant is empty")
    return StaticAnswer(assistant=name, task=task, correct=said in _YES)
