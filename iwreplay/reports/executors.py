"""What the Human changes: rules 40 and 42, the paper's Figure 5 (left), Table 14 and Figure 10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iwreplay.reports.document import Cell, Number, Section, Table
from iwreplay.reports.instances import Arm, Instance
from iwreplay.reports.plots import matrix, outcomes
from iwreplay.reports.published import published
from iwreplay.reports.workings import Workings, ids
from iwreplay.statistics.executors import executor_agreement
from iwreplay.vocabulary import FAMILIES, Family

__all__ = ["executors"]

#: families in which the Human does most (rule 42)
SWAPPED: tuple[Family, ...] = ("guidance", "planning", "accessibility")


def executors(work: Workings) -> Section:
    """Every Assistant that played with two Humans or more."""
    about: dict[str, Any] = {"id": "executors", "title": "What does the Human change?"}
    several = _several(work)
    if not several:
        return Section(**about, text="", empty="No Assistant has played the same tasks with two Humans.")
    humans = list(dict.fromkeys(a.human for arms in several.values() for a in arms))
    tables = [_mcr(work, several, humans)]
    agreement = executor_agreement(
        {name: {a.human: _outcomes(work, arms, a) for a in arms} for name, arms in several.items()}
    )
    for name, arms in several.items():
        tables.append(_outcome_table(work, name, arms))
    tables.append(
        Table(
            id="executor_agreement",
            title="Same outcome with two Humans",
            columns=("Assistant", "Agreement, mean of pairs", "Fewest and most tasks passed"),
            rows=(
                *(
                    (
                        a.assistant,
                        Number(
                            id=f"agreement/{a.assistant}",
                            value=a.agreement,
                            note="no pair with a task in common" if a.agreement is None else "",
                            episodes=_episodes(work, several[a.assistant]),
                        ),
                        f"{a.fewest} to {a.most}",
                    )
                    for a in agreement.assistants
                ),
                (
                    "pooled",
                    Number(
                        id="agreement/pooled",
                        value=agreement.pooled,
                        episodes=tuple(e for arms in several.values() for e in _episodes(work, arms)),
                    ),
                    "",
                ),
            ),
            note=(
                "Share of tasks with the same outcome, averaged over pairs of Humans. The Humans play the same tasks, "
                "so they are no independent samples and no interval is made of them. Published: "
                f"{published()['executors']['agreement_with_people']} % between the model and people, "
                f"{published()['executors']['agreement_of_people']} % between people."
            ),
        )
    )
    tables.append(_published())
    return Section(
        **about,
        text=(
            "The same Assistants with other Humans, on the tasks (and one seed of each) that all Humans of an "
            "Assistant have played."
        ),
        tables=tuple(tables),
        figures=(
            matrix(
                "executors",
                "MCR on Guidance, Planning and Accessibility, percent",
                rows=list(several),
                columns=humans,
                values=[[_cell_value(tables[0], r, c) for c in range(len(humans))] for r in range(len(several))],
            ),
            *(
                outcomes(
                    f"outcomes_{name}",
                    f"{name}, task by task: filled squares are passed",
                    rows=[a.human for a in arms],
                    groups=[(f.capitalize(), n) for f, n in _by_family(work, arms).items() if n],
                    passed=[_outcomes(work, arms, a) for a in arms],
                )
                for name, arms in several.items()
            ),
        ),
    )


def _several(work: Workings) -> dict[str, list[Arm]]:
    found: dict[str, list[Arm]] = {}
    for arm in work.arms:
        more = ", ".join(part for part in (arm.setup, arm.variant) if part)
        found.setdefault(f"{arm.assistant} ({more})" if more else arm.assistant, []).append(arm)
    return {name: arms for name, arms in found.items() if len(arms) > 1 and _common(work, arms)}


def _common(work: Workings, arms: Sequence[Arm]) -> list[str]:
    """Tasks of which every arm has an episode of one seed, in the order of the benchmark."""
    there = _seeds(work, arms)
    return [t for t in work.tasks if t in there]


def _seeds(work: Workings, arms: Sequence[Arm]) -> dict[str, int]:
    """Task -> the lowest seed of it that every arm has."""
    places = [{(i.task, i.seed) for i in work.selection.of(a)} for a in arms]
    found: dict[str, int] = {}
    for task, seed in sorted(set.intersection(*places)):
        found.setdefault(task, seed)
    return found


def _played(work: Workings, arms: Sequence[Arm], arm: Arm) -> dict[str, Instance]:
    """One episode of each of those tasks, of the seed that all arms have."""
    seeds = _seeds(work, arms)
    return {i.task: i for i in work.selection.of(arm) if seeds.get(i.task) == i.seed}


def _outcomes(work: Workings, arms: Sequence[Arm], arm: Arm) -> list[bool | None]:
    mine = _played(work, arms, arm)
    return [mine[t].passed for t in _common(work, arms)]


def _episodes(work: Workings, arms: Sequence[Arm]) -> tuple[str, ...]:
    common = _common(work, arms)
    return tuple(_played(work, arms, a)[t].episode for a in arms for t in common)


def _mcr(work: Workings, several: dict[str, list[Arm]], humans: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, arms in several.items():
        by_human = {a.human: a for a in arms}
        cells: list[Cell] = [name]
        for human in humans:
            mine = work.selection.of(by_human[human], families=SWAPPED) if human in by_human else ()
            cells.append(
                work.mean(f"executors/mcr/{name}/{human}", mine, of=lambda i: i.mcr or 0.0)
                if mine
                else Number(id="", value=None, note="not played")
            )
        rows.append(tuple(cells))
    return Table(
        id="executor_mcr",
        title="MCR on Guidance, Planning and Accessibility",
        columns=("Assistant", *humans),
        rows=tuple(rows),
        note="Percent; with 95 % intervals of the task bootstrap.",
    )


def _outcome_table(work: Workings, name: str, arms: Sequence[Arm]) -> Table:
    common = _common(work, arms)
    rows: list[tuple[Cell, ...]] = []
    for arm in arms:
        played = _played(work, arms, arm)
        mine = [played[t] for t in common]
        rows.append(
            (
                arm.human,
                Number(
                    id=f"executors/passed/{name}/{arm.human}",
                    value=float(sum(bool(i.passed) for i in mine)),
                    unit="count",
                    n=len(mine),
                    episodes=ids(mine),
                ),
                *(
                    Number(
                        id=f"executors/passed_{f}/{name}/{arm.human}",
                        value=float(sum(bool(i.passed) for i in mine if i.family == f)),
                        unit="count",
                        n=n,
                        episodes=ids(i for i in mine if i.family == f),
                    )
                    for f, n in _by_family(work, arms).items()
                    if n
                ),
            )
        )
    return Table(
        id=f"executors_{name}",
        title=f"{name}: tasks passed with each Human, of {len(common)} that all of them played",
        columns=("Human", "All", *(f"{f.capitalize()} (of {n})" for f, n in _by_family(work, arms).items() if n)),
        rows=tuple(rows),
    )


def _by_family(work: Workings, arms: Sequence[Arm]) -> dict[Family, int]:
    """How many of the tasks that all arms have are of each family."""
    common = _common(work, arms)
    return {f: sum(work.tasks[t].family == f for t in common) for f in FAMILIES}


def _cell_value(table: Table, row: int, column: int) -> float | None:
    cell = table.rows[row][column + 1]
    assert isinstance(cell, Number), "all but the first are numbers"
    return cell.value


def _published() -> Table:
    about = published()["executors"]
    rows: list[tuple[Cell, ...]] = [
        (f"{name} (published)", *(Number(id="", value=float(v), unit="count", published=True) for v in values))
        for name, *values in about["rows"]
    ]
    return Table(
        id="executors_published",
        title=f"Published: tasks passed of {about['tasks']}",
        columns=("Assistant", *about["columns"]),
        rows=tuple(rows),
    )
