"""The import contracts leave no module out, and each of them would notice."""

from __future__ import annotations

import ast
import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("iwreplay", "recorder", "replayer", "scorers", "taskpacks")

#: for every contract one import that it forbids: (module, import)
OFFENCES = {
    "The core is layered": ("iwreplay/scene/toml.py", "import iwreplay.render.jit"),
    "The core knows no recorder, replayer, scorer or task pack": ("iwreplay/loop/limits.py", "import taskpacks"),
    "Recorder, replayer and scorers don't know each other": ("replayer/lines.py", "import recorder.record"),
    "Only the composition root stands above store and catalogue": ("recorder/record.py", "import iwreplay.store"),
    "Task packs are data": ("taskpacks/__init__.py", "import iwreplay.pose"),
    "The command line and the notebook reach the parts through the composition root": (
        "iwreplay/__main__.py",
        "import scorers.registry",
    ),
    "What judges is pure: no files, clock, network or chance": ("iwreplay/checks/bddl.py", "import pathlib"),
    "mujoco is imported by its backend only": ("recorder/__init__.py", "import mujoco"),
    "numba is imported by the renderer only": ("scorers/__init__.py", "import numba"),
    "PyAV is imported where videos are written only": ("iwreplay/frames/sheet.py", "import av"),
    "Pillow is imported where text is drawn only": ("iwreplay/frames/png.py", "from PIL import Image"),
    "litellm is imported by the hosted models only": ("iwreplay/generation/model.py", "import litellm"),
    "Ray is imported by its engine only": ("iwreplay/app/benching.py", "import ray"),
    "Generation is pure: no files but its prompts, no clock, network or chance": (
        "iwreplay/generation/target.py",
        "import pathlib",
    ),
    "Annotations are pure: no files, clock, network or chance": ("iwreplay/annotations/text.py", "import pathlib"),
    "Statistics are pure: no files, clock, network or chance of their own": (
        "iwreplay/statistics/paired.py",
        "import scipy",
    ),
    "Reports are pure: no files, clock, network or chance of their own": (
        "iwreplay/reports/passes.py",
        "import pathlib",
    ),
    "matplotlib is imported where figures are drawn only": ("iwreplay/reports/page.py", "import matplotlib"),
    "USD is imported by the scene's stage only": ("iwreplay/scene/model.py", "from pxr import Usd"),
    "duckdb is imported by the catalogue only": ("iwreplay/__init__.py", "import duckdb"),
    "pyarrow is imported by the log, the catalogue and object stores only": (
        "iwreplay/store/__init__.py",
        "import pyarrow",
    ),
    "pandas is imported for data frames only": ("iwreplay/catalogue/asking.py", "import pandas"),
    "typer and rich are imported by the command line only": ("replayer/__init__.py", "import rich"),
    "prompt_toolkit is imported where lines are typed only": ("iwreplay/cli/person.py", "import prompt_toolkit"),
    "Files are locked where they are written only": ("iwreplay/log/writer.py", "import filelock"),
    "Chance and wall time enter through ports": ("recorder/humans/literal.py", "import random"),
}


def _contracts() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return parser


def _modules() -> set[str]:
    """Dotted names of all modules of the core; a package by its own name."""
    found = (p.relative_to(ROOT).with_suffix("") for p in (ROOT / "iwreplay").rglob("*.py"))
    return {".".join(p.parts).removesuffix(".__init__") for p in found} - {"iwreplay", "iwreplay.__main__"}


def test_every_module_of_the_core_has_a_layer() -> None:
    layers = _contracts()["importlinter:contract:layers"]["layers"]
    named = {name.strip() for line in layers.splitlines() for part in line.split("|") for name in part.split(":")}
    uncovered = {m for m in _modules() if not any(m == n or m.startswith(n + ".") for n in named)}
    # their modules lie in different layers, so they themselves must be empty
    assert uncovered == {"iwreplay.scene", "iwreplay.taskpack", "iwreplay.world"}
    for package in uncovered:
        (only,) = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")).body
        assert isinstance(only, ast.Expr), package


def test_the_core_contract_names_every_part_below_the_root() -> None:
    named = set(_contracts()["importlinter:contract:core"]["source_modules"].split())
    parts = {".".join(m.split(".")[:2]) for m in _modules()}
    assert parts - named == {"iwreplay.app", "iwreplay.cli", "iwreplay.notebook"}


def test_every_contract_notices_an_offence(tmp_path: Path) -> None:
    for top in TOPS:
        shutil.copytree(ROOT / top, tmp_path / top, ignore=lambda d, names: [n for n in names if n == "__pycache__"])
    shutil.copy(ROOT / ".importlinter", tmp_path)
    for name, offence in OFFENCES.values():
        path = tmp_path / name
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{offence}\n", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    verdicts = dict(re.findall(r"^(.+?) (KEPT|BROKEN)(?: \(.*\))?$", done.stdout, re.M))
    assert {name for name, verdict in verdicts.items() if verdict == "BROKEN"} == set(OFFENCES), done.stdout
    assert set(verdicts) == set(OFFENCES)
