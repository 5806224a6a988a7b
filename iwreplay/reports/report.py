"""A report of what was recorded: every question of the paper, in its order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iwreplay.reports.capabilities import capabilities
from iwreplay.reports.comparisons import assistants, memory
from iwreplay.reports.costs import costs, interventions
from iwreplay.reports.document import Cell, Report, Section, Table
from iwreplay.reports.errors import first_errors
from iwreplay.reports.executors import executors
from iwreplay.reports.horizons import horizon
from iwreplay.reports.instances import Selection
from iwreplay.reports.passes import passes
from iwreplay.reports.static import StaticAnswer, static
from iwreplay.reports.workings import Workings

__all__ = ["make_report"]


def make_report(
    selection: Selection,
    *,
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    answers: Sequence[StaticAnswer] = (),
    seed: int = 11,
    resamples: int = 10_000,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Report:
    """facts: what else should be known of the run, name and value. answers: to static questions."""
    work = Workings(selection, seed=seed, resamples=resamples)
    parts: tuple[Callable[[], Section], ...] = (
        lambda: passes(work),
        lambda: capabilities(work),
        lambda: costs(work),
        lambda: first_errors(work),
        lambda: interventions(work),
        lambda: executors(work),
        lambda: memory(work),
        lambda: assistants(work),
        lambda: horizon(work),
        lambda: static(work, answers),
    )
    sections: list[Section] = []
    if selection.arms:
        for n, part in enumerate(parts):
            progress(n, len(parts))
            sections.append(part())
        progress(len(parts), len(parts))
    counted = sum(len(mine) for mine in selection.counted.values())
    none = () if counted else ("No episode counts: below is why each was left out.",)
    return Report(
        title=title,
        warnings=(*none, *selection.warnings),
        sections=(*sections, _configuration(work, facts)),
    )


def _configuration(work: Workings, facts: Sequence[tuple[str, str]]) -> Section:
    """How it was recorded, what counts and what does not."""
    selection = work.selection
    rows: list[tuple[Cell, ...]] = []
    for arm in selection.arms:
        mine = selection.of(arm)
        for name in dict.fromkeys(n for i in mine for n in i.setup):
            values = sorted({i.setup.get(name, "") for i in mine})
            rows.append((arm.name, name, "; ".join(v or "none" for v in values)))
        rows.append((arm.name, "seeds", " ".join(str(s) for s in sorted({i.seed for i in mine}))))
        rows.append((arm.name, "episodes", str(len(mine))))
    known = (("tasks of the benchmark", str(len(selection.tasks))), *facts)
    return Section(
        id="configuration",
        title="How was it recorded?",
        text="",
        tables=(
            Table(id="facts", title="This report", columns=("What", "Value"), rows=tuple(known)),
            Table(
                id="configuration",
                title="Configuration",
                columns=("Assistant with Human", "Setting", "Value"),
                rows=tuple(rows),
            ),
            Table(
                id="left_out",
                title="Episodes that no number rests on",
                columns=("Episode", "Why"),
                rows=tuple((e.episode, e.reason) for e in selection.left_out),
                note="" if selection.left_out else "Every episode counts.",
            ),
        ),
    )
