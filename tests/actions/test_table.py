"""The table in code is the table in docs/primitives.md, and both use the closed vocabularies."""

from __future__ import annotations

from pathlib import Path

from iwreplay.actions.primitives import PLANNERS
from iwreplay.actions.table import COMMON_CODES, NUMBER_RANGES, PRIMITIVES, Arg
from iwreplay.vocabulary import FAILURE_CODES

_DOC = Path(__file__).parents[2] / "docs" / "primitives.md"


def _rows() -> list[list[str]]:
    rows = []
    for line in _DOC.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0].isdigit():
            rows.append(cells)
    return rows


def _written(arg: Arg) -> str:
    unit = f" in {NUMBER_RANGES[arg.kind][2]}" if arg.is_number else ""
    return f"[{arg.name}{unit}]" if arg.optional else f"{arg.name}{unit}"


def test_the_document_and_the_table_say_the_same() -> None:
    documented = [(r[0], r[1], r[2], r[3], r[5]) for r in _rows()]
    in_code = [
        (
            str(p.number),
            p.canonical,
            " ".join(p.verbs),
            ", ".join(_written(a) for a in p.args) or "-",
            " ".join(p.codes) or "-",
        )
        for p in PRIMITIVES
    ]
    assert documented == in_code


def test_there_are_36_numbered_in_order_each_with_a_planner() -> None:
    assert [p.number for p in PRIMITIVES] == list(range(1, 37))
    assert [name for name, _ in PLANNERS] == [p.canonical for p in PRIMITIVES]


def test_every_code_is_in_the_closed_set_and_listed_once() -> None:
    known = {code for group in FAILURE_CODES.values() for code in group}
    for row in PRIMITIVES:
        assert set(row.codes) <= known, row.canonical
        assert len(set(row.codes)) == len(row.codes), row.canonical
        assert not set(row.codes) & set(COMMON_CODES), row.canonical


def test_a_surface_verb_belongs_to_one_primitive() -> None:
    verbs = [v.lower() for p in PRIMITIVES for v in p.verbs]
    assert len(verbs) == len(set(verbs))
    assert "run" in verbs
    assert "noop" not in verbs
