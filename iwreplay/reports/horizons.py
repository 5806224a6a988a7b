"""Do longer tasks fail more often? Rule 39, the paper's Figures 6 and 9."""

from __future__ import annotations

from typing import Any

from iwreplay.reports.document import Cell, Number, Section, Table
from iwreplay.reports.plots import curves
from iwreplay.reports.published import published
from iwreplay.reports.workings import Workings, ids
from iwreplay.statistics.horizon import horizon_effect
from iwreplay.statistics.results import Undefined

__all__ = ["horizon"]


def horizon(work: Workings) -> Section:
    """The pooled fit, and one curve for each arm."""
    about: dict[str, Any] = {"id": "horizon", "title": "Do longer tasks fail more often?"}
    tasks = work.selection.tasks
    counts = {a.name: {t.task: t for t in work.passes(a)} for a in work.arms}
    found = horizon_effect(
        [t.oracle_actions for t in tasks],
        families=[t.family for t in tasks],
        passed={name: [mine[t.id].passed if t.id in mine else 0 for t in tasks] for name, mine in counts.items()},
        tried={name: [mine[t.id].tried if t.id in mine else 0 for t in tasks] for name, mine in counts.items()},
        rng=work.rng("horizon"),
        resamples=work.resamples,
        permutations=work.resamples,
    )
    if isinstance(found, Undefined):
        return Section(**about, text="", empty=f"The fit is undefined: {found.reason}.")
    everything = [i for a in work.arms for i in work.selection.of(a)]
    paper = published()["horizon"]
    rows: list[tuple[Cell, ...]] = [
        (
            "all together",
            work.estimated("horizon/slope", found.slope, everything, unit="plain"),
            work.estimated("horizon/change", found.change_points, everything, unit="points"),
            Number(
                id="horizon/p", value=found.p, unit="p", n=found.permutations, episodes=ids(everything),
                note=f"{found.permutations} permutations",
            ),
        )
    ]  # fmt: skip
    for arm, model in zip(work.arms, found.models, strict=True):
        mine = ids(work.selection.of(arm))
        rows.append(
            (
                arm.name,
                Number(
                    id=f"horizon/slope/{arm.name}",
                    value=model.slope,
                    unit="plain",
                    note=model.reason or "",
                    episodes=mine,
                ),
                Number(
                    id=f"horizon/change/{arm.name}",
                    value=model.change_points,
                    unit="points",
                    note=model.reason or "",
                    episodes=mine,
                ),
                "",
            )
        )
    rows.append(
        (
            "all together (published)",
            "not printed",
            Number(
                id="", value=paper["change_points"], unit="points", low=paper["low"], high=paper["high"], published=True
            ),
            "",
        )
    )
    return Section(
        **about,
        text=(
            "Oracle length is scaled to 0 (shortest) to 1 (longest) within each family; a Firth-penalised logistic fit "
            f"has an intercept for each family and one slope. {found.statement[0].upper()}{found.statement[1:]}. An "
            "association: long tasks of a family may differ from short ones in more than their length."
        ),
        tables=(
            Table(
                id="horizon",
                title="Passing against task length",
                columns=(
                    "Assistant with Human",
                    "Slope, log-odds",
                    "Change from shortest to longest, points",
                    "p, one-sided",
                ),
                rows=tuple(rows),
            ),
        ),
        figures=(
            curves(
                "horizon",
                "Probability of passing against scaled task length",
                grid=found.grid,
                pooled=found.curve,
                band=[(b.low, b.high) if b is not None else None for b in found.band],
                each=[(m.model, m.curve) for m in found.models if m.curve],
            ),
        ),
    )
