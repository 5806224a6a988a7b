"""Pass and MCR by family: rules 33 and 34, the paper's Table 2."""

from __future__ import annotations

import math

from iwreplay.reports.document import Bar, Cell, Number, Section, Table
from iwreplay.reports.instances import Arm
from iwreplay.reports.plots import intervals
from iwreplay.reports.published import published, published_number, published_row
from iwreplay.reports.workings import Workings, by_task, ids
from iwreplay.statistics.figures import family_mean
from iwreplay.statistics.passes import PassTable, pass_table
from iwreplay.vocabulary import FAMILIES

__all__ = ["passes"]

_HEADS = ("Average", *(f.capitalize() for f in FAMILIES))


def passes(work: Workings) -> Section:
    """Both tables, and the averages drawn."""
    found = {arm: _found(work, arm) for arm in work.arms}
    rows = [_row(work, arm, found[arm]) for arm in work.arms]
    table = Table(
        id="pass",
        title="Pass by family",
        columns=("Assistant with Human", *_HEADS, "Missing tasks"),
        rows=(*rows, *_published()),
        note=(
            "Percent of a family's 20 tasks whose objectives, gates and keeps are all met; a missing task counts as "
            "not passed. With several seeds a task counts as the share of them that passed. The average is the mean of "
            "the six families. In brackets 95 % intervals: Wilson's for families, the task bootstrap's for averages "
            "and where a task has several seeds."
        ),
    )
    drawn = [_bar(row[1], str(row[0])) for row in table.rows]
    return Section(
        id="pass",
        title="How often are tasks passed?",
        text=f"Task bootstrap: {work.resamples} resamples of tasks within their family, seed {work.seed}.",
        tables=(table, _mcr(work)),
        figures=(intervals("pass", "Average pass, percent, with 95 % intervals", drawn),),
    )


def _found(work: Workings, arm: Arm) -> PassTable:
    name = f"pass/average/{arm.name}"
    return pass_table(work.passes(arm), rng=work.rng(name), resamples=work.resamples)


def _row(work: Workings, arm: Arm, found: PassTable) -> tuple[Cell, ...]:
    cells: list[Cell] = [arm.name]
    mine = work.selection.of(arm)
    average = found.average
    cells.append(
        Number(
            id=f"pass/average/{arm.name}",
            value=average.value,
            low=None if average.interval is None else average.interval.low,
            high=None if average.interval is None else average.interval.high,
            note=f"{found.missing} missing" if found.missing else "",
            episodes=ids(mine),
        )
    )
    for line in found.families:
        interval = line.wilson or line.bootstrap
        cells.append(
            Number(
                id=f"pass/{line.family}/{arm.name}",
                value=line.share,
                k=line.passed,
                n=line.denominator,
                low=None if interval is None else interval.low,
                high=None if interval is None else interval.high,
                note=f"{line.missing} missing" if line.missing else "",
                episodes=ids(i for i in mine if i.family == line.family),
            )
        )
    lacking = work.selection.missing(arm)
    cells.append("; ".join(f"{f} {_some(tasks)}" for f, tasks in lacking.items()) or "none")
    return tuple(cells)


def _some(tasks: tuple[str, ...]) -> str:
    whole = 20
    if len(tasks) == whole:
        return "all"
    return " ".join(tasks) if len(tasks) <= 4 else f"{' '.join(tasks[:3])} and {len(tasks) - 3} more"


def _published() -> list[tuple[Cell, ...]]:
    about = published()["pass"]
    rows: list[tuple[Cell, ...]] = [(*published_row(values), f"with {about['human']}") for values in about["rows"]]
    for name, average in about["averages"]:
        rows.append(
            (
                f"{name} (published)",
                published_number(average),
                *[Number(id="", value=None, published=True)] * len(FAMILIES),
                f"with {about['human']}",
            )
        )
    return sorted(rows, key=lambda r: -(r[1].value or 0.0) if isinstance(r[1], Number) else 0.0)


def _mcr(work: Workings) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for arm in work.arms:
        cells: list[Cell] = [arm.name]
        parts = {
            f: work.mean(f"mcr/{f}/{arm.name}", work.selection.of(arm, families=(f,)), of=lambda i: i.mcr or 0.0)
            for f in FAMILIES
        }
        tasks = by_task(work.selection.of(arm))
        whole = all(p.value is not None for p in parts.values())
        if whole:
            statistic = family_mean(
                [math.fsum(i.mcr or 0.0 for i in mine) for mine in tasks.values()],
                denominators=[float(len(mine)) for mine in tasks.values()],
                families=[mine[0].family for mine in tasks.values()],
            )
            name = f"mcr/average/{arm.name}"
            (found,) = work.resampled(name, statistic, tasks)
            cells.append(work.estimated(name, found, work.selection.of(arm), unit="percent"))
        else:
            cells.append(Number(id="", value=None, note="a family is missing"))
        rows.append((*cells, *parts.values()))
    return Table(
        id="mcr",
        title="Mean completion rate by family",
        columns=("Assistant with Human", *_HEADS),
        rows=tuple(rows),
        note=(
            "Mean share of a task's objectives that are satisfied, over the recorded episodes (a missing task is in no "
            "mean); gates and keeps leave it alone. Intervals by the task bootstrap, over five tasks or more."
        ),
    )


def _bar(cell: Cell, label: str) -> Bar:
    assert isinstance(cell, Number), "the second column is the average"
    return Bar(label=label, value=cell.value, low=cell.low, high=cell.high, published=cell.published)
