"""Arithmetic in class files: a length may be a number or a formula of the class's parameters, such as "w/2 - 0.02"."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

from iwreplay.errors import SceneError

__all__ = ["Num", "evaluate"]

Num = float | int | str
_LONGEST = 120


def evaluate(formula: Num, names: Mapping[str, float], *, where: str) -> float:
    """Value of a number or formula: + - * /, parentheses, parameter names, min() and max().

    SceneError names `where`, the formula, and what in it is not allowed."""
    if not isinstance(formula, str):
        value = float(formula)
    elif len(formula) > _LONGEST:
        raise SceneError(f"{where}: a formula of {len(formula)} characters; at most {_LONGEST}: {formula[:40]!r}...")
    else:
        try:
            tree = ast.parse(formula, mode="eval")
        except SyntaxError as problem:
            raise SceneError(f"{where}: {formula!r} is not a formula") from problem
        value = _value(tree.body, names, where=where, formula=formula)
    if not math.isfinite(value):
        raise SceneError(f"{where}: {formula!r} is not a finite number")
    return value


def _value(node: ast.expr, names: Mapping[str, float], *, where: str, formula: str) -> float:
    def sub(n: ast.expr) -> float:
        return _value(n, names, where=where, formula=formula)

    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name):
        if node.id not in names:
            known = ", ".join(sorted(names)) or "none"
            raise SceneError(f"{where}: {formula!r} uses {node.id!r}, which is no parameter of the class ({known})")
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -sub(node.operand)
    if isinstance(node, ast.BinOp):
        a, b = sub(node.left), sub(node.right)
        if isinstance(node.op, ast.Add):
            return a + b
        if isinstance(node.op, ast.Sub):
            return a - b
        if isinstance(node.op, ast.Mult):
            return a * b
        if isinstance(node.op, ast.Div):
            if b == 0.0:
                raise SceneError(f"{where}: {formula!r} divides by zero")
            return a / b
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("min", "max")
        and node.args
        and not node.keywords
    ):
        values = [sub(n) for n in node.args]
        return min(values) if node.func.id == "min" else max(values)
    raise SceneError(f"{where}: {formula!r} may use numbers, parameters, + - * / ( ) min max only")
