"""The import contracts leave no package out."""

from __future__ import annotations

import configparser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _contracts() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return parser


def test_every_part_of_the_core_has_a_layer() -> None:
    layers = _contracts()["importlinter:contract:layers"]["layers"]
    named = {name.strip() for line in layers.splitlines() for part in line.split("|") for name in part.split(":")}
    parts = {
        f"iwreplay.{p.stem}"
        for p in (ROOT / "iwreplay").iterdir()
        if (p.suffix == ".py" or (p / "__init__.py").exists()) and p.stem not in ("__init__", "__main__", "__pycache__")
    }
    uncovered = {p for p in parts if p not in named and not any(n.startswith(p + ".") for n in named)}
    assert uncovered == set()


def test_the_core_contract_names_every_part_below_the_root() -> None:
    named = set(_contracts()["importlinter:contract:core"]["source_modules"].split())
    parts = {f"iwreplay.{p.parent.name}" for p in (ROOT / "iwreplay").glob("*/__init__.py")}
    assert parts - named == {"iwreplay.app", "iwreplay.cli"}
