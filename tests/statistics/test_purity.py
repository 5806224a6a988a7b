"""Statistics take their chance from the caller, and touch nothing outside their arguments."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from iwreplay.statistics.horizon import horizon_effect
from iwreplay.statistics.passes import TaskPasses, pass_table

HOME = Path(__file__).resolve().parents[2] / "iwreplay" / "statistics"
MODULES = sorted(HOME.glob("*.py"))
ALLOWED = {"__future__", "collections", "collections.abc", "dataclasses", "itertools", "math", "msgspec", "numpy",
           "numpy.typing", "statistics", "typing", "iwreplay.errors", "iwreplay.vocabulary"}  # fmt: skip


def _offences(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        found += [n for n in names if n not in ALLOWED and not n.startswith("iwreplay.statistics.")]
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random" and node.attr != "Generator":
            found.append(f"np.random.{node.attr}")
        if isinstance(node, ast.Name) and node.id in ("open", "print", "input"):
            found.append(node.id)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_what_a_module_may_use(path: Path) -> None:
    assert _offences(ast.parse(path.read_text(encoding="utf-8"))) == []


def test_the_scan_finds_what_it_looks_for() -> None:
    bad = "import time\nfrom scipy import stats\nx = np.random.rand()\nr = np.random.default_rng(1)\nopen('x')\n"
    assert len(_offences(ast.parse(bad))) == 5
    assert _offences(ast.parse("def f(rng: np.random.Generator): ...")) == []


def test_results_are_plain_numbers() -> None:
    """They go to JSON and come back, with no NaN among them."""
    rng = np.random.default_rng(1)
    table = pass_table([TaskPasses(family="finding", task="F01", passed=1, tried=1)], rng=rng, resamples=10)
    horizon = horizon_effect(
        [1, 2], families=["a", "a"], passed={"m": [1, 0]}, tried={"m": [1, 1]}, rng=rng, resamples=10, permutations=10
    )
    for result in (table, horizon):
        text = msgspec.json.encode(result)
        json.loads(text, parse_constant=pytest.fail)
        assert msgspec.json.decode(text, type=type(result)) == result
