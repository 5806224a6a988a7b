"""First errors of failed episodes: rule 37, the paper's Figure 4."""

from __future__ import annotations

from typing import Any

from iwreplay.annotations import LABELS
from iwreplay.reports.document import Cell, Number, Section, Table
from iwreplay.reports.instances import Arm, Instance
from iwreplay.reports.plots import stacked
from iwreplay.reports.published import published
from iwreplay.reports.workings import Workings, by_task, ids
from iwreplay.statistics.figures import label_shares
from iwreplay.statistics.resampling import bootstrap

__all__ = ["first_errors"]


def first_errors(work: Workings) -> Section:
    """Distributions over the failed episodes that have a label."""
    about: dict[str, Any] = {"id": "errors", "title": "What goes wrong first?"}
    rows: list[tuple[Cell, ...]] = []
    drawn: list[tuple[str, tuple[float, ...]]] = []
    unlabelled = 0
    for arm in work.arms:
        every = [i for i in work.selection.of(arm) if not i.passed]
        failed = [i for i in every if not i.invalid]
        labelled = [i for i in failed if i.first_error]
        unlabelled += len(failed) - len(labelled)
        if labelled:
            shares = _shares(work, arm, labelled)
            rows.append((arm.name, *shares, f"{len(labelled)} of {len(failed)}", _reasons(every)))
            drawn.append((arm.name, tuple(s.value or 0.0 for s in shares)))
    if not rows:
        waiting = "1 failed episode waits" if unlabelled == 1 else f"{unlabelled} failed episodes wait"
        failed_at_all = f" {waiting} for one." if unlabelled else " No valid episode failed."
        return Section(
            **about,
            text="",
            empty=f"No failed episode has a label yet.{failed_at_all} iwreplay annotate add gives one.",
        )
    return Section(
        **about,
        text=(
            "The earliest critical error of each valid failed episode, as annotators agreed or as it was adjudicated. "
            "Episodes without an agreed label, and those that annotators found to say nothing about their Assistant, "
            "are in no share; the last columns count them. Published: "
            f"{published()['errors']['text']}."
        ),
        tables=(
            Table(
                id="errors",
                title="First errors",
                columns=(
                    "Assistant with Human",
                    *(f"{k} {v}" for k, v in LABELS.items()),
                    "Labelled",
                    "Found invalid",
                ),
                rows=tuple(rows),
                note="Percent of labelled failed episodes, with 95 % intervals of the task bootstrap.",
            ),
        ),
        figures=(stacked("errors", "First errors, share of labelled failures", list(LABELS), drawn),),
    )


def _reasons(failed: list[Instance]) -> str:
    """How many were found invalid, by reason."""
    reasons = [i.invalid for i in failed if i.invalid]
    return "; ".join(f"{reasons.count(r)} {r}" for r in sorted(set(reasons))) or "none"


def _shares(work: Workings, arm: Arm, labelled: list[Instance]) -> list[Number]:
    tasks = by_task(labelled)
    counts = [[sum(i.first_error == e for i in mine) for e in LABELS] for mine in tasks.values()]
    found = bootstrap(
        label_shares(counts, labels=len(LABELS)),
        families=[mine[0].family for mine in tasks.values()],
        rng=work.rng(f"errors/{arm.name}"),
        resamples=work.resamples,
    )
    return [
        Number(
            id=f"errors/{label}/{arm.name}",
            value=f.value,
            k=sum(i.first_error == label for i in labelled),
            n=len(labelled),
            low=None if f.interval is None else f.interval.low,
            high=None if f.interval is None else f.interval.high,
            episodes=ids(labelled),
        )
        for label, f in zip(LABELS, found, strict=True)
    ]
