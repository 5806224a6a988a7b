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
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            value = node.value  # type: ignore[union-attr]
            assert value is not None
            names = ast.literal_eval(value)
            assert isinstance(names, list | tuple)
            return list(names)
    return None


@pytest.mark.parametrize("path", [p for p in MODULES if p.stat().st_size], ids=_name)
def test_module_is_documented_and_says_what_is_public(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "a module says what it holds"
    public = _all_of(tree)
    if path.name == "__main__.py":
        return
    if path.name != "__init__.py" or any(isinstance(n, ast.ImportFrom | ast.FunctionDef) for n in tree.body[1:]):
        only_future = all(
            isinstance(n, ast.ImportFrom) and n.module == "__future__"
            for n in tree.body
            if isinstance(n, ast.ImportFrom)
        )
        assert public is not None or (path.name == "__init__.py" and only_future), "__all__ is missing"
    defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)} | {
        a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom | ast.Import) for a in n.names
    }
    defined |= {t.id for n in ast.walk(tree) if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    defined |= {n.target.id for n in ast.walk(tree) if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    if "__getattr__" not in defined:
        assert set(public or []) <= defined
    assert len(public or []) == len(set(public or []))


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
