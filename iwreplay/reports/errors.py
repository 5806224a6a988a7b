"""First errors of failed episodes: rule 37, the paper's Figure 4."""

from __future__ import annotations

from typing import Any

import msgspec

from iwreplay.annotations import LABELS
from iwreplay.reports.document import Cell, Number, Section, Table
from iwreplay.reports.instances import Arm, Instance
from iwreplay.reports.plots import stacked
from iwreplay.reports.published import published
from iwreplay.reports.workings import Workings, by_task
from iwreplay.statistics.figures import label_shares

__all__ = ["first_errors"]


def first_errors(work: Workings) -> Section:
    """Distributions over the failed episodes that have a label."""
    about: dict[str, Any] = {"id": "errors", "title": "What goes wrong first?"}
    rows: list[tuple[Cell, ...]] = []
    drawn: list[tuple[str, tuple[float, ...]]] = []
    waiting = disputed = spoilt = 0
    for arm in work.arms:
        every = [i for i in work.selection.of(arm) if not i.passed]
        failed = [i for i in every if not i.invalid]
        labelled = [i for i in failed if i.first_error]
        disputed += sum(i.disputed for i in failed)
        waiting += sum(not i.first_error and not i.disputed for i in failed)
        spoilt += len(every) - len(failed)
        shares = _shares(work, arm, labelled) if labelled else [Number(id="", value=None)] * len(LABELS)
        if every:
            rows.append((arm.name, *shares, f"{len(labelled)} of {len(failed)}", _reasons(every)))
        if labelled:
            drawn.append((arm.name, tuple(s.value or 0.0 for s in shares)))
    if not drawn:
        counts = {"has labels that do not agree": disputed, "has no label": waiting, "was found invalid": spoilt}
        found = [_how_many(n, what) for what, n in counts.items() if n]
        told = f" Of those that failed {', '.join(found)}." if found else " No episode failed."
        ways = " iwreplay annotate add gives a label, iwreplay annotate adjudicate settles." if found else ""
        return Section(**about, text="", empty=f"No failed episode has a label that holds.{told}{ways}")
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


def _how_many(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what.replace('has ', 'have ', 1).replace('was ', 'were ', 1)}"


def _reasons(failed: list[Instance]) -> str:
    """How many were found invalid, by reason."""
    reasons = [i.invalid for i in failed if i.invalid]
    return "; ".join(f"{reasons.count(r)} {r}" for r in sorted(set(reasons))) or "none"


def _shares(work: Workings, arm: Arm, labelled: list[Instance]) -> list[Number]:
    tasks = by_task(labelled)
    counts = [[sum(i.first_error == e for i in mine) for e in LABELS] for mine in tasks.values()]
    found = work.resampled(f"errors/{arm.name}", label_shares(counts, labels=len(LABELS)), tasks)
    return [
        msgspec.structs.replace(
            work.estimated(f"errors/{label}/{arm.name}", f, labelled, unit="percent"),
            k=sum(i.first_error == label for i in labelled),
        )
        for label, f in zip(LABELS, found, strict=True)
    ]
