"""Rules of the tree that no linter has."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("iwreplay", "recorder", "replayer", "scorers", "taskpacks")
MODULES = sorted(p for top in TOPS for p in (ROOT / top).rglob("*.py"))
_MAX_LINES = 600


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _all_of(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and "__all__" in ast.unparse(node).split("=")[0] and node.value:
            return list(ast.literal_eval(node.value))
    return None


def _defined_in(tree: ast.Module) -> set[str]:
    names = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names |= {a.asname or a.name for a in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


@pytest.mark.parametrize("path", [p for p in MODULES if p.stat().st_size], ids=_name)
def test_module_is_documented_and_says_what_is_public(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "a module says what it holds"
    public = _all_of(tree)
    if public is None:
        only_text = all(isinstance(n, ast.Expr | ast.ImportFrom) for n in tree.body)
        assert path.name in ("__init__.py", "__main__.py"), "__all__ is missing"
        assert only_text, "__all__ is missing"
        return
    assert set(public) <= _defined_in(tree)
    assert len(public) == len(set(public))


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_module_holds_one_idea(path: Path) -> None:
    assert path.name not in ("utils.py", "helpers.py", "misc.py", "common.py")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= _MAX_LINES


def test_no_hosts_or_machine_paths_are_mentioned() -> None:
    pattern = re.compile(
        r"py"
        r"pi\.org|python"
        r"hosted\.org|registry\.npm"
        r"js\.org|deb\.debian"
        r"\.org|/wo"
        r"rk/|/ro"
        r"ot/|\.\./sha"
        r"red",
        re.I,
    )
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    hits = []
    for name in tracked:
        path = ROOT / name
        if not path.is_file() or path.suffix in (".png", ".arrows", ".ttf"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if pattern.search(line):
                hits.append(f"{name}:{number}: {line.strip()[:120]}")
    assert hits == []
