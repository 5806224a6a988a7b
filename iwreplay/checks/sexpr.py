"""Nested parentheses with words in them, as BDDL and PDDL are written. Comments run from ";" to the end of line."""

from __future__ import annotations

import re
from typing import TypeAlias

from iwreplay.checks.language import MAX_DEPTH
from iwreplay.errors import CheckError

__all__ = ["SExpr", "parse_sexpr", "write_sexpr"]

SExpr: TypeAlias = "str | list[SExpr]"

_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")


def parse_sexpr(text: str) -> SExpr:
    """The one expression in `text`. CheckError for unbalanced parentheses, and for more or less than one."""
    top: list[SExpr] = []
    stack: list[list[SExpr]] = [top]
    for token in _TOKEN.findall(text):
        if token.startswith(";"):
            continue
        if token == "(":
            inner: list[SExpr] = []
            stack[-1].append(inner)
            stack.append(inner)
            if len(stack) > MAX_DEPTH + 8:
                raise CheckError(f"parentheses nested deeper than {MAX_DEPTH + 8}")
        elif token == ")":
            if len(stack) == 1:
                raise CheckError("')' without '('")
            stack.pop()
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise CheckError(f"{len(stack) - 1} '(' without ')'")
    if len(top) != 1:
        raise CheckError(f"expected one expression, found {len(top)}")
    return top[0]


def write_sexpr(tree: SExpr) -> str:
    """On one line."""
    return tree if isinstance(tree, str) else f"({' '.join(write_sexpr(t) for t in tree)})"
