"""What is worked out again from a log, anywhere and years later, uses only arithmetic with the same bits everywhere.

The C library's sine or power differs in the last bit between machines, NumPy's sums between processors. Recording may
use them (its results are logged); folding, judging and drawing may not.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

AGAIN = (
    "iwreplay/body/cage.py",
    "iwreplay/body/figure.py",
    "iwreplay/body/hand.py",
    "iwreplay/body/kinematics.py",
    "iwreplay/body/skeleton.py",
    "iwreplay/body/skin.py",
    "iwreplay/canonical.py",
    "iwreplay/checks",
    "iwreplay/events",
    "iwreplay/frames",
    "iwreplay/log",
    "iwreplay/pose.py",
    "iwreplay/render",
    "iwreplay/scene/convex.py",
    "iwreplay/scene/geometry.py",
    "iwreplay/scene/lettering.py",
    "iwreplay/scene/model.py",
    "iwreplay/trig.py",
    "iwreplay/world",
    "replayer",
    "scorers",
)
MODULES = sorted(p for name in AGAIN for p in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py")))

#: of `math`: exact, or rounded once as IEEE 754 says
EXACT = {"ceil", "copysign", "degrees", "floor", "fmod", "fsum", "inf", "isclose", "isfinite", "isnan", "nan", "pi",
         "prod", "radians", "sqrt", "trunc"}  # fmt: skip
#: of NumPy: asks the C library, or a kernel that sums in an order of its own
UNSURE = {"arccos", "arcsin", "arctan", "arctan2", "cos", "cosh", "dot", "einsum", "exp", "hypot", "inner", "linalg",
          "log", "log2", "log10", "matmul", "power", "sin", "sinh", "tan", "tanh", "tensordot", "vdot"}  # fmt: skip
#: where `sum` would add floats: Python 3.12 rounds it otherwise than 3.11
GEOMETRY = ("iwreplay/body", "iwreplay/checks/watch.py", "iwreplay/pose.py",
            "iwreplay/scene", "iwreplay/world/geometry.py", "iwreplay/world/relations.py",
            "replayer/grades.py")  # fmt: skip
#: what only recording calls, although it stands in a module of the list
LIVE = {"yaw_of"}


def _offences(tree: ast.AST, *, sums: bool = False) -> list[str]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name in LIVE:
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "math" and node.attr not in EXACT:
                found.append(f"line {node.lineno}: math.{node.attr}")
            if node.value.id == "np" and node.attr in UNSURE:
                found.append(f"line {node.lineno}: np.{node.attr}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append(f"line {node.lineno}: @")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _whole(node.right):
            found.append(f"line {node.lineno}: a power that is no whole number")
        if isinstance(node, ast.ImportFrom) and node.module == "math":
            found.append(f"line {node.lineno}: from math import")
        if isinstance(node, ast.ImportFrom) and {a.name for a in node.names} & LIVE:
            found.append(f"line {node.lineno}: import of {LIVE}")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum" and not sums:
            found.append(f"line {node.lineno}: sum")
        found += _offences(node, sums=sums)
    return found


def _whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_same_bits_everywhere(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    assert _offences(ast.parse(path.read_text(encoding="utf-8")), sums=not name.startswith(GEOMETRY)) == []


def test_the_scan_finds_what_it_looks_for() -> None:
    bad = "x = math.cos(1)\ny = a @ b\nz = a ** 0.5\nw = np.exp(z)\nfrom iwreplay.pose import yaw_of\nsum(z)\n"
    assert len(_offences(ast.parse(bad))) == 6
    assert _offences(ast.parse("x = math.sqrt(y ** 2)\ndef yaw_of(q):\n    return math.atan2(q)\n")) == []
