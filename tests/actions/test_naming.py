"""What things are called in sentences: told from others of their name that the wearer knows."""

from __future__ import annotations

from iwreplay.actions.naming import described
from tests.actions.tiny import scene_of, state_of, thing


def _called(*things: str, at: str, unknown: str = "") -> str:
    made = [
        thing("table_1", "table", (2.0, 0.0, 0.0), half=(0.5, 0.5, 0.4), fixed=True, surfaces=("top",)),
        thing("shelf_1", "shelf", (4.0, 0.0, 0.0), half=(0.5, 0.2, 0.6), fixed=True, surfaces=("top",)),
    ]
    for k, parent in enumerate(things, start=1):
        owner = 2.0 if "table" in parent else 4.0
        made.append(
            thing(f"mug_{k}", "mug", (owner + 0.1 * k, 0.0, 0.8), adjectives=("blue",), attrs={"parent": parent})
        )
    state = state_of(scene_of(*made))
    return described(state, at, known=lambda t: t != unknown)


def test_the_only_one_is_called_by_its_name() -> None:
    assert _called("on:table_1.top", at="mug_1") == "the blue mug"


def test_others_elsewhere_are_told_apart_by_the_place() -> None:
    both = ("on:table_1.top", "on:shelf_1.top")
    assert _called(*both, at="mug_1") == "the blue mug on the table"
    assert _called(*both, at="mug_2") == "the blue mug on the shelf"


def test_others_in_the_same_place_are_told_apart_by_the_side() -> None:
    three = ("on:table_1.top",) * 3
    assert [_called(*three, at=f"mug_{k}") for k in (1, 2, 3)] == [
        "the left blue mug",
        "the middle blue mug",
        "the right blue mug",
    ]


def test_what_the_wearer_does_not_know_gives_nothing_away() -> None:
    assert _called("on:table_1.top", "on:shelf_1.top", at="mug_1", unknown="mug_2") == "the blue mug"


def test_what_is_in_the_hand_needs_no_more_words() -> None:
    assert _called("held", "on:table_1.top", at="mug_1") == "the blue mug"
