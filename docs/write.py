"""Writes the generated pages of this folder: python docs/write.py."""

from __future__ import annotations

from pathlib import Path

from iwreplay.app.overview import overview
from iwreplay.catalogue.schema import markdown
from iwreplay.cli.main import app
from iwreplay.cli.reference import reference
from iwreplay.events.reference import reference as events_reference

HERE = Path(__file__).parent

if __name__ == "__main__":
    (HERE / "benchmark.md").write_text(overview(), encoding="utf-8")
    (HERE / "cli.md").write_text(reference(app), encoding="utf-8")
    (HERE / "catalogue.md").write_text(markdown(), encoding="utf-8")
    (HERE / "events.md").write_text(events_reference(), encoding="utf-8")
