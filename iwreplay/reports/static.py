"""Static questions against living episodes: rule 38, the paper's Figure 8 and Table 13."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from iwreplay.reports.document import Cell, Number, Section, Table
from iwreplay.reports.plots import stacked
from iwreplay.reports.published import published, published_row
from iwreplay.reports.workings import Workings, by_task, shared
from iwreplay.statistics.proportions import share_of
from iwreplay.vocabulary import FAMILIES

__all__ = ["StaticAnswer", "static"]

_TASKS = 20
_AREAS = ("Both", "Static only", "Dynamic only", "Neither")


class StaticAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a model answered the static question of a task."""

    assistant: str
    task: str
    #: False also when the item had not enough evidence
    correct: bool


def static(work: Workings, answers: Sequence[StaticAnswer]) -> Section:
    """Accuracy by family, and where only one of the two ways succeeds."""
    about: dict[str, Any] = {"id": "static", "title": "Do static questions tell the same?"}
    heads = ("Assistant", *(f.capitalize() for f in FAMILIES))
    paper = tuple(published_row(values) for values in published()["static"]["rows"])
    if not answers:
        return Section(
            **about,
            text="",
            empty="No answers to static questions were given: --static FILE takes them.",
            tables=(Table(id="static", title="Static accuracy, published", columns=heads, rows=paper),),
        )
    rows: list[tuple[Cell, ...]] = []
    areas: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(a.assistant for a in answers):
        right = {a.task for a in answers if a.assistant == name and a.correct}
        rows.append(
            (
                name,
                *(shared("", share_of(sum(work.tasks[t].family == f for t in right), n=_TASKS), ()) for f in FAMILIES),
            )
        )
        for arm in (a for a in work.arms if a.assistant == name):
            tasks = by_task(work.selection.of(arm))
            passed = {t for t, mine in tasks.items() if 2 * sum(bool(i.passed) for i in mine) > len(mine)}
            mine = [i for t in tasks for i in tasks[t]]
            n = len(work.tasks)
            areas.append(
                (
                    arm.name,
                    *(
                        shared(f"static/{what}/{arm.name}", share_of(len(found), n=n), mine)
                        for what, found in (
                            ("both", right & passed),
                            ("static_only", right - passed),
                            ("dynamic_only", passed - right),
                            ("neither", set(work.tasks) - right - passed),
                        )
                    ),
                )
            )
    return Section(
        **about,
        text=(
            "A task's static question is asked over logged frames. The denominator stays 20 a family; an item without "
            "enough evidence counts as a failure, and a question without an answer too."
        ),
        tables=(
            Table(id="static", title="Static accuracy", columns=heads, rows=(*rows, *paper)),
            Table(
                id="static_areas",
                title="Tasks by where they succeed",
                columns=("Assistant with Human", *_AREAS),
                rows=tuple(areas),
                note="With several seeds a task is passed when most of its episodes are.",
            ),
        ),
        figures=(
            stacked(
                "static_areas",
                "Tasks by where they succeed, percent",
                list(_AREAS),
                [(str(row[0]), [c.value or 0.0 for c in row[1:] if isinstance(c, Number)]) for row in areas],
            ),
        )
        if areas
        else (),
    )
