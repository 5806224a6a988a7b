"""Paired comparisons on the same tasks and seeds: two Assistants, and the two arms of one with and without memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from iwreplay.reports.document import Cell, Number, Section, Table
from iwreplay.reports.instances import Arm, Instance
from iwreplay.reports.published import published
from iwreplay.reports.workings import Workings, by_task, ids
from iwreplay.statistics.figures import difference, ratio
from iwreplay.statistics.paired import mcnemar, sign_flip
from iwreplay.statistics.results import Estimate
from iwreplay.vocabulary import FAMILIES, Family

__all__ = ["MEMORY_ARM", "assistants", "memory"]

#: what the memory arm of an Assistant is called after it
MEMORY_ARM = "+memory"
_MOST_PAIRS = 66


def assistants(work: Workings) -> Section:
    """Every two Assistants with the same Human."""
    about: dict[str, Any] = {"id": "pairs", "title": "Is one Assistant better than another?"}
    pairs = [
        (a, b) for a, b in combinations(work.arms, 2) if (a.human, a.setup) == (b.human, b.setup) and _pairs(work, a, b)
    ]
    if not pairs:
        return Section(**about, text="", empty="No two Assistants have played the same task with the same Human.")
    return Section(
        **about,
        text=(
            "On the tasks and seeds that both have: McNemar's exact test of which of them passes where one does, and a "
            "sign-flip permutation by task. p values are two-sided and not corrected for the number of comparisons."
        ),
        tables=(
            Table(
                id="pairs",
                title="Pairs of Assistants",
                columns=(
                    "First", "Second", "Human", "Both pass", "Only the first", "Only the second", "Neither",
                    "McNemar p", "Sign-flip p", "Difference, points",
                ),
                rows=tuple(_pair_row(work, a, b) for a, b in pairs[:_MOST_PAIRS]),
                note=f"The first {_MOST_PAIRS} of {len(pairs)} pairs." if len(pairs) > _MOST_PAIRS else "",
            ),
        ),
    )  # fmt: skip


def memory(work: Workings) -> Section:
    """The memory arm of each Assistant against the one without: rule 41, the paper's Figure 5 (right)."""
    about: dict[str, Any] = {"id": "memory", "title": "Does a notebook help?"}
    pairs = [
        (arm, other)
        for arm in work.arms
        if arm.assistant.endswith(MEMORY_ARM)
        for other in work.arms
        if other.assistant == arm.assistant.removesuffix(MEMORY_ARM)
        and (other.human, other.setup) == (arm.human, arm.setup)
        and _pairs(work, arm, other)
    ]
    if not pairs:
        return Section(
            **about,
            text="",
            empty="No Assistant was recorded in both arms. model:NAME;memory=on is the one with a notebook.",
        )
    rows: list[tuple[Cell, ...]] = []
    tests: list[tuple[Cell, ...]] = []
    for with_memory, without in pairs:
        cells: list[Cell] = [without.name, _change(work, with_memory, without, FAMILIES)]
        cells += [_change(work, with_memory, without, (f,)) for f in FAMILIES]
        rows.append(tuple(cells))
        tests.append(_pair_row(work, with_memory, without))
    return Section(
        **about,
        text=(
            "Pass with the hidden notebook less pass without it, on the tasks and seeds that both arms have; nothing "
            f"else differs between them. Published: {published()['memory']['text']}."
        ),
        tables=(
            Table(
                id="memory",
                title="Change by the notebook, points",
                columns=("Assistant with Human", "All", *(f.capitalize() for f in FAMILIES)),
                rows=tuple(rows),
                note="With 95 % intervals of the task bootstrap.",
            ),
            Table(
                id="memory_tests",
                title="With the notebook against without",
                columns=(
                    "First", "Second", "Human", "Both pass", "Only the first", "Only the second", "Neither",
                    "McNemar p", "Sign-flip p", "Difference, points",
                ),
                rows=tuple(tests),
            ),
        ),
    )  # fmt: skip


def _pairs(
    work: Workings, first: Arm, second: Arm, families: Sequence[Family] = FAMILIES
) -> list[tuple[Instance, Instance]]:
    there = {(i.task, i.seed): i for i in work.selection.of(second, families=families)}
    return [
        (i, there[i.task, i.seed]) for i in work.selection.of(first, families=families) if (i.task, i.seed) in there
    ]


def _difference(work: Workings, name: str, pairs: Sequence[tuple[Instance, Instance]]) -> Estimate:
    tasks: dict[str, list[tuple[Instance, Instance]]] = {}
    for a, b in pairs:
        tasks.setdefault(a.task, []).append((a, b))
    n = [float(len(mine)) for mine in tasks.values()]
    parts = [
        ratio([sum(bool(pair[side].passed) for pair in mine) for mine in tasks.values()], denominators=n)
        for side in (0, 1)
    ]
    (found,) = work.resampled(name, difference(*parts), tasks)
    return found


def _change(work: Workings, first: Arm, second: Arm, families: Sequence[Family]) -> Cell:
    pairs = _pairs(work, first, second, families)
    if not pairs:
        return Number(id="", value=None, unit="points", note="none in common")
    label = families[0] if len(families) == 1 else "all"
    name = f"difference/{label}/{first.name} - {second.name}"
    return _in_points(work.estimated(name, _difference(work, name, pairs), _all(pairs), unit="points"))


def _pair_row(work: Workings, first: Arm, second: Arm) -> tuple[Cell, ...]:
    pairs = _pairs(work, first, second)
    name = f"{first.name} - {second.name}"
    test = mcnemar([bool(a.passed) for a, _ in pairs], second=[bool(b.passed) for _, b in pairs])
    by_first = by_task([a for a, _ in pairs])
    by_second = by_task([b for _, b in pairs])
    differences = [
        sum(bool(i.passed) for i in by_first[t]) / len(by_first[t])
        - sum(bool(i.passed) for i in by_second[t]) / len(by_second[t])
        for t in by_first
    ]
    flipped = sign_flip(differences, rng=work.rng(f"sign_flip/{name}"), resamples=work.resamples)
    episodes = _all(pairs)
    counts = [
        Number(id=f"pairs/{what}/{name}", value=float(n), unit="count", n=len(pairs), episodes=ids(episodes))
        for what, n in (
            ("both", test.both),
            ("only_first", test.only_first),
            ("only_second", test.only_second),
            ("neither", test.neither),
        )
    ]
    return (
        first.assistant,
        second.assistant,
        first.human,
        *counts,
        Number(id=f"mcnemar/{name}", value=test.p, unit="p", episodes=ids(episodes)),
        Number(id=f"sign_flip/{name}", value=flipped.p, unit="p", note=flipped.statement, episodes=ids(episodes)),
        _change(work, first, second, FAMILIES),
    )


def _all(pairs: Sequence[tuple[Instance, Instance]]) -> list[Instance]:
    return [i for pair in pairs for i in pair]


def _in_points(number: Number) -> Number:
    """A difference of shares, as percentage points."""
    return Number(
        id=number.id,
        value=None if number.value is None else 100.0 * number.value,
        unit="points",
        low=None if number.low is None else 100.0 * number.low,
        high=None if number.high is None else 100.0 * number.high,
        note=number.note,
        episodes=number.episodes,
    )
