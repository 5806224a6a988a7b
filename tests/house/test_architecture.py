"""ARCHITECTURE.md names every package, and nothing that is not there (but for the rooms of later parts)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
NOW, _, LATER = PAGE.partition("## Where later parts go")
TOPS = ("iwreplay", "recorder", "replayer", "scorers", "taskpacks")
PACKAGES = sorted(str(p.parent.relative_to(ROOT)) for top in TOPS for p in (ROOT / top).rglob("__init__.py"))


@pytest.mark.parametrize("package", [p for p in PACKAGES if p != "iwreplay"])
def test_every_package_has_a_line(package: str) -> None:
    code_map = NOW.partition("## Code map")[2].partition("\n## ")[0]
    assert f"{package.removeprefix('iwreplay/')}" in code_map


def test_every_path_is_there() -> None:
    paths = set(
        re.findall(r"`((?:iwreplay|recorder|replayer|scorers|taskpacks|tests|docs|episodes|benchmarks)/[^`]*)`", NOW)
    )
    assert len(paths) > 30
    for named in paths:
        path = named.partition("<")[0].rpartition("/")[0] if "<" in named else named
        assert (ROOT / path).exists() or (ROOT / f"{path}.py").exists(), named


def test_libraries_are_those_that_are_declared_and_locked() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    # what only tests and those who ask for it install is in the lock of the tests
    locks = ("requirements.lock", "requirements-dev.lock")
    lock = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in locks)
    table = PAGE.partition("| library |")[2].partition("\n\n")[0]
    rows = [[c.strip() for c in line.split("|")[1:3]] for line in table.splitlines()[2:]]
    named = {}
    for names, versions in rows:
        named |= dict(zip(re.sub(r" \(.*\)", "", names).split(", "), versions.split(", "), strict=True))
    declared = re.findall(r'^    "([a-z-]+)>=', project.partition("dev = [")[0], re.M)
    assert sorted(named) == sorted(declared)
    for name, version in named.items():
        assert re.search(rf"^{name}=={re.escape(version)}[. ]", lock, re.M), f"{name} {version}"
