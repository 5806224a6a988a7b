"""docs/events.md is what the Structs say, and says something about every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.events import EVENT_TYPES, Event
from iwreplay.events.reference import reference

ROOT = Path(__file__).resolve().parents[2]
PAGE = reference()


def test_the_page_is_made_from_the_structs() -> None:
    assert (ROOT / "docs" / "events.md").read_text(encoding="utf-8") == PAGE, "run: make docs"


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda k: str(k.__struct_config__.tag))
def test_every_kind_and_field_is_on_the_page(kind: type[Event]) -> None:
    _, found, rest = PAGE.partition(f"### `{kind.__struct_config__.tag}`\n\n")
    assert found
    section = rest.partition("\n#")[0]
    assert len(section.splitlines()[0]) > 20, "it says what happened"
    own = [name for name in kind.__struct_fields__ if name not in Event.__struct_fields__]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == own
    assert [row for row in rows if row.endswith("|  |")] == [], "each field says what it is"
