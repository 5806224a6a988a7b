"""What episodes cost (rule 36, the paper's Figure 3), and whether the Assistant spoke up in time (Prevention)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from iwreplay.reports.document import Bar, Cell, Number, Section, Table
from iwreplay.reports.instances import Arm, Instance
from iwreplay.reports.plots import intervals
from iwreplay.reports.published import published
from iwreplay.reports.workings import Workings, ids
from iwreplay.vocabulary import FAMILIES

__all__ = ["costs", "interventions"]

_VERDICTS = ("right", "needless", "late", "missed")


def costs(work: Workings) -> Section:
    """Actions and turns against the oracle's, tokens and dollars."""
    actions = [_cost_row(work, arm, "action_cost") for arm in work.arms]
    turns = [_cost_row(work, arm, "turn_cost") for arm in work.arms]
    variants = [_variants(work, arm) for arm in work.arms]
    tokens = [row for arm in work.arms for row in _tokens(work, arm)]
    heads = ("Assistant with Human", "All", *(f.capitalize() for f in FAMILIES))
    bars = [_bar(row) for row in actions]
    return Section(
        id="cost",
        title="What does it cost?",
        text=(
            "Steps over those of the task's oracle, on passed episodes only; commands that were refused count, what "
            "the Human does by itself does not. The headline is the mean of the ratios; a dash: none passed. "
            f"Published: {published()['cost']['text']}."
        ),
        tables=(
            Table(id="action_cost", title="Action cost", columns=heads, rows=tuple(actions)),
            Table(
                id="action_cost_variants",
                title="Action cost, in three ways",
                columns=("Assistant with Human", "Mean of ratios", "Ratio of sums", "Mean without refused commands"),
                rows=tuple(variants),
            ),
            Table(id="turn_cost", title="Turn cost", columns=heads, rows=tuple(turns)),
            *(
                (
                    Table(
                        id="tokens",
                        title="Tokens and money of hosted models",
                        columns=("Assistant with Human", "Model as", "Calls", "Tokens in", "Tokens out", "US dollars"),
                        rows=tuple(tokens),
                        note="Over all episodes that count, passed or not; dollars where every price is known.",
                    ),
                )
                if tokens
                else ()
            ),
        ),
        figures=(intervals("cost", "Action cost, times the oracle, with 95 % intervals", bars, unit="times"),)
        if any(b.value is not None for b in bars)
        else (),
    )


def _cost_row(work: Workings, arm: Arm, metric: str) -> tuple[Cell, ...]:
    cells: list[Cell] = [arm.name]
    for label, families in (("all", FAMILIES), *((f, (f,)) for f in FAMILIES)):
        mine = _with(work.selection.of(arm, families=families), metric)
        cells.append(
            work.mean(f"{metric}/{label}/{arm.name}", mine, of=lambda i: i.values[metric], unit="times")
            if mine
            else Number(id="", value=None, unit="times")
        )
    return tuple(cells)


def _variants(work: Workings, arm: Arm) -> tuple[Cell, ...]:
    mine = _with(work.selection.of(arm), "action_cost")
    if not mine:
        return (arm.name, *[Number(id="", value=None, unit="times")] * 3)
    detail = "action_cost"
    return (
        arm.name,
        work.mean(f"action_cost/all/{arm.name}", mine, of=lambda i: i.values[detail], unit="times"),
        work.mean(
            f"action_cost/ratio_of_sums/{arm.name}",
            mine,
            of=lambda i: i.details[detail]["actions"],
            per=lambda i: i.details[detail]["oracle_actions"],
            unit="times",
        ),
        work.mean(
            f"action_cost/without_refused/{arm.name}",
            mine,
            of=lambda i: i.details[detail]["without_refused"],
            unit="times",
        ),
    )


def _tokens(work: Workings, arm: Arm) -> Iterable[tuple[Cell, ...]]:
    mine = _with(work.selection.of(arm), "token_cost")
    for role in ("assistant", "human"):
        used = [i for i in mine if i.details["token_cost"][role]["calls"]]
        if not used:
            continue
        usd = [i.details["token_cost"][role]["cost_usd"] for i in used]
        yield (
            arm.name,
            role.capitalize(),
            *(
                Number(
                    id=f"tokens/{role}/{name}/{arm.name}",
                    value=float(sum(i.details["token_cost"][role][name] for i in used)),
                    unit="count",
                    episodes=ids(used),
                )
                for name in ("calls", "input_tokens", "output_tokens")
            ),
            Number(
                id=f"tokens/{role}/usd/{arm.name}",
                value=None if None in usd else math.fsum(usd),
                unit="usd",
                note="a price is not known" if None in usd else "",
                episodes=ids(used),
            ),
        )


def interventions(work: Workings) -> Section:
    """Verdicts over Prevention."""
    about: dict[str, Any] = {
        "id": "interventions",
        "title": "Does the Assistant speak up in time?",
        "text": (
            "Prevention only, and about the time of the first word alone, not about what it says. The wearer acts by "
            "itself until it is interrupted, the same way every time, so the turn at which the oracle first speaks is "
            "the first one with a reason to. Right: the task's points for proactivity (C8) are passed; in a task "
            "without one, the first word came no earlier than the oracle's and before a gate was broken or all was "
            "done that the wearer intended. Needless: it came before there was a reason. Late: it came too late."
        ),
    }
    rows: list[tuple[Cell, ...]] = []
    for arm in work.arms:
        mine = _with(work.selection.of(arm, families=("prevention",)), "interventions")
        if not mine:
            continue
        rows.append(
            (
                arm.name,
                *(
                    work.share(
                        f"interventions/{v}/{arm.name}",
                        mine,
                        k=partial(_is, v),
                        n=lambda i: 1,
                    )
                    for v in _VERDICTS
                ),
                Number(
                    id=f"interventions/needless_words/{arm.name}",
                    value=float(sum(i.details["interventions"]["needless"] for i in mine)),
                    unit="count",
                    episodes=ids(mine),
                ),
            )
        )
    if not rows:
        return Section(**about, empty="No Prevention episode counts.")
    table = Table(
        id="interventions",
        title="First interruption of a Prevention episode",
        columns=("Assistant with Human", *(v.capitalize() for v in _VERDICTS), "Words before there was a reason"),
        rows=tuple(rows),
    )
    return Section(**about, tables=(table,))


def _is(verdict: str, instance: Instance) -> int:
    return int(instance.details["interventions"]["verdict"] == verdict)


def _with(instances: Iterable[Instance], metric: str) -> list[Instance]:
    return [i for i in instances if metric in i.values]


def _bar(row: tuple[Cell, ...]) -> Bar:
    cell = row[1]
    assert isinstance(cell, Number), "the second column is a number"
    return Bar(label=str(row[0]), value=cell.value, low=cell.low, high=cell.high)
