"""docs/cli.md is the commands' own help, and every command has an example."""

from __future__ import annotations

from pathlib import Path

from iwreplay.cli.main import app
from iwreplay.cli.reference import reference

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_the_help() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference(app), "run: make docs"


def test_every_command_has_an_example_and_json() -> None:
    sections = reference(app).split("\n## ")[1:]
    commands = [s for s in sections if "\nCommands:\n" not in s]
    assert len(commands) == 39
    for section in commands:
        name = section.splitlines()[0]
        assert f"Example: {name} " in section, name
        assert "--json" in section, name
        assert "--store" in section or name.startswith(("iwreplay tasks", "iwreplay scene")), name
