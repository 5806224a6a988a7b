"""From where Read looks at a text, all of it is in the picture."""

from __future__ import annotations

import pytest

from iwreplay.app.checking import read_texts


@pytest.mark.parametrize(
    ("scene", "thing"),
    [
        pytest.param("warehouse", "floor_mark_2", id="not under one's own feet"),
        pytest.param("library", "desk_lamp_1", id="not behind the lamp's own arm and shade"),
    ],
)
def test_nothing_hides_a_part_of_the_text(scene: str, thing: str) -> None:
    found = next(text for text, _ in read_texts(scene) if text.thing == thing)
    assert (found.ok, found.shown) == (True, 1.0)
