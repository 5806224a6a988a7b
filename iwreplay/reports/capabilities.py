"""Capability scores: rule 35, the paper's Table 3."""

from __future__ import annotations

from functools import partial

from iwreplay.reports.document import Cell, Section, Table
from iwreplay.reports.instances import Instance
from iwreplay.reports.published import published
from iwreplay.reports.workings import Workings
from iwreplay.vocabulary import CAPABILITIES

__all__ = ["capabilities"]

_STATUSES = ("clean_pass", "assisted_pass", "fail", "not_reached")


def capabilities(work: Workings) -> Section:
    """Shares by arm, and what the other points came to."""
    rows: list[tuple[Cell, ...]] = []
    counts: list[tuple[Cell, ...]] = []
    for arm in work.arms:
        cells: list[Cell] = [arm.name]
        became: list[Cell] = [arm.name]
        for c in CAPABILITIES:
            mine = [i for i in work.selection.of(arm) if any(cap == c for cap, _ in i.points)]
            statuses = [s for i in mine for cap, s in i.points if cap == c]
            cells.append(
                work.share(
                    f"capability/{c}/{arm.name}",
                    mine,
                    k=partial(_clean, c),
                    n=partial(_points, c),
                )
            )
            became.append(" / ".join(str(statuses.count(s)) for s in _STATUSES) if statuses else "-")
        rows.append(tuple(cells))
        counts.append(tuple(became))
    if not any(i.points for arm in work.arms for i in work.selection.of(arm)):
        return Section(
            id="capability",
            title="Which capabilities are shown?",
            text="",
            empty="No recorded task has capability points.",
        )
    return Section(
        id="capability",
        title="Which capabilities are shown?",
        text=(
            "Share of a capability's evaluation points that were passed without help, every point weighing the same "
            "over all recorded tasks. Points of one task are not independent, so Wilson's intervals are rather too "
            f"narrow. Published: {published()['capability']['text']}."
        ),
        tables=(
            Table(
                id="capability",
                title="Capability scores",
                columns=("Assistant with Human", *CAPABILITIES),
                rows=tuple(rows),
                note="; ".join(f"{c}: {name}" for c, name in CAPABILITIES.items()),
            ),
            Table(
                id="capability_points",
                title="What became of the points",
                columns=("Assistant with Human", *CAPABILITIES),
                rows=tuple(counts),
                note="Passed / passed with help (a retry, or the Human by itself) / failed / not reached.",
            ),
        ),
    )


def _clean(capability: str, instance: Instance) -> int:
    return instance.points.count((capability, "clean_pass"))


def _points(capability: str, instance: Instance) -> int:
    return sum(c == capability for c, _ in instance.points)
