"""What is shipped is what is in the tree, and what is installed is what is locked."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("iwreplay", "recorder", "replayer", "scorers", "taskpacks")


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _packages() -> list[str]:
    found = [p.parent.relative_to(ROOT) for top in TOPS for p in (ROOT / top).rglob("__init__.py")]
    return sorted(".".join(p.parts) for p in found)


def test_every_package_is_listed_and_real() -> None:
    assert _project()["tool"]["setuptools"]["packages"] == _packages()


def test_no_module_lies_outside_a_package() -> None:
    loose = [
        str(p.relative_to(ROOT))
        for top in TOPS
        for p in (ROOT / top).rglob("*.py")
        if not (p.parent / "__init__.py").exists()
    ]
    assert loose == []


def test_every_data_file_is_shipped() -> None:
    data: dict[str, list[str]] = _project()["tool"]["setuptools"]["package-data"]
    packages = _packages()
    missing = []
    for top in TOPS:
        for path in (ROOT / top).rglob("*"):
            relative = path.relative_to(ROOT)
            if not path.is_file() or path.suffix in (".py", ".pyc", ".nbi", ".nbc") or "__pycache__" in relative.parts:
                continue
            owner = max((p for p in packages if relative.is_relative_to(p.replace(".", "/"))), key=len)
            inside = str(relative.relative_to(owner.replace(".", "/")))
            if not any(fnmatch(inside, pattern) for pattern in data.get(owner, [])):
                missing.append(str(relative))
    assert missing == []


@pytest.mark.slow
def test_the_wheel_holds_modules_and_data_and_nothing_else(tmp_path: Path) -> None:
    """Built from a copy: setuptools leaves a folder behind whose files, once outdated, it ships with the next wheel."""
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in tracked:
        if (ROOT / name).is_file():
            (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / "source" / name)
    wheel = ("wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path))
    subprocess.run([sys.executable, "-m", "pip", *wheel, str(tmp_path / "source")], check=True)
    (built,) = tmp_path.glob("*.whl")
    names = {n for n in zipfile.ZipFile(built).namelist() if ".dist-info/" not in n}
    assert names == {n for n in tracked if n.startswith(tuple(f"{t}/" for t in TOPS)) and (ROOT / n).is_file()}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_locks_have_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*(-i|--index-url|--extra-index-url|--find-links|-f)\b", text, re.M)
    entries = re.split(r"\n(?=[a-z0-9])", text.strip(), flags=re.I)
    assert len(entries) > 15
    for entry in entries:
        assert re.match(r"[A-Za-z0-9._-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_test_lock_has_the_versions_of_the_run_lock() -> None:
    def pins(name: str) -> dict[str, str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        return dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", text, re.M))

    run, dev = pins("requirements.lock"), pins("requirements-dev.lock")
    assert run.items() <= dev.items()


def test_declared_dependencies_are_locked() -> None:
    project = _project()["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    names = {re.split(r"[><=~! \[]", d)[0] for d in [*project["dependencies"], *extras["record"]]}
    locked = set(re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M))
    assert names <= locked
    assert "setuptools" in locked, "make installs the project without build isolation"
