"""What a scene can't be is refused when it is loaded, with the thing, the place and a way out."""

from __future__ import annotations

import random
import string

import pytest

from iwreplay.errors import SceneError
from iwreplay.render import fit_text
from iwreplay.render.text import draw_text
from iwreplay.scene.files import FurnitureSpec, RoomSpec, SceneFile
from iwreplay.scene.library import Library, Wanted
from iwreplay.scene.loader import compile_scene
from iwreplay.scene.model import Face
from iwreplay.scene.writing import check_fits, laid_out, line_px
from iwreplay.taskpack.model import Placement


def _room(*furniture: FurnitureSpec) -> SceneFile:
    rooms = (RoomSpec(id="hall", nouns=("hall",), rect=(0, 0, 4, 4)),)
    table = FurnitureSpec(id="table_1", cls="table", pos=(2, 2))
    return SceneFile(format=1, id="room", spawn=(0.5, 0.5, 0.0), rooms=rooms, furniture=(table, *furniture))


def _message(library: Library, *placements: Placement, furniture: tuple[FurnitureSpec, ...] = ()) -> str:
    with pytest.raises(SceneError) as refused:
        compile_scene(_room(*furniture), placements, library=library)
    return str(refused.value)


def test_an_unknown_class_is_answered_with_the_nearest(library: Library) -> None:
    said = _message(library, Placement(id="cup_1", cls="mugg", at="table_1.top"))
    assert said.startswith("scene room: cup_1: unknown class 'mugg'. Nearest: mug")
    said = _message(library, furniture=(FurnitureSpec(id="t", cls="tabel", pos=(1, 1)),))
    assert "t: unknown class 'tabel'. Nearest:" in said
    assert "table" in said


def test_a_text_that_does_not_fit_names_thing_face_text_and_what_fits(library: Library) -> None:
    long = "Put the milk and the eggs and the butter and the cheese into the fridge before lunch, please"
    said = _message(library, Placement(id="card_1", cls="price_card", at="table_1.top", texts={"front": long}))
    face = library.make(Wanted(id="c", cls="price_card"), where="test")[0].links[0].faces[0]
    assert said.startswith(f"scene room: card_1: texts.front: {long!r} does not fit face 'front' of ")
    assert f"{face.size[0]:.3f} x {face.size[1]:.3f} m" in said
    assert "it has room for" in said
    fits = said.rpartition("it fits as far as ")[2].strip("'").split(" / ")
    assert fits
    assert long.startswith(fits[0])
    check_fits(fits[0], face, where="test")


def test_a_text_for_furniture_is_held_to_its_face_too(library: Library) -> None:
    board = FurnitureSpec(id="board_1", cls="notice_board", pos=(2, 0.07, 1.2), yaw_deg=180.0)
    compile_scene(_room(board), library=library)
    said = _message(library, Placement(id="board_1", texts={"front": "NOTICE " * 200}), furniture=(board,))
    assert "board_1: texts.front: 'NOTICE NOTICE" in said
    assert "does not fit face 'front'" in said


def test_the_widths_of_letters_are_the_fonts() -> None:
    """So that the loader, which has no font, and the renderer agree on what fits."""
    rng = random.Random(7)
    letters = string.ascii_letters + string.digits + " .,:;-!?%€äöüé°×"
    verdicts = {True: 0, False: 0}
    for _ in range(400):
        words = ["".join(rng.choices(letters.replace(" ", ""), k=rng.randint(1, 9))) for _ in range(rng.randint(1, 14))]
        text = " ".join(words)
        face = Face(
            name="front",
            pose=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
            size=(rng.uniform(0.05, 0.3), rng.uniform(0.02, 0.2)),
            cap_height_m=rng.uniform(0.008, 0.03),
        )
        real, guessed = fit_text(text, face), laid_out(text, face, length_px=line_px)
        # kerning is counted at its most, so that nothing is refused that would fit
        assert guessed.fits or not real.fits, text
        verdicts[guessed.fits == real.fits] += 1
    assert verdicts[False] <= 4, verdicts
    assert draw_text("A", face)[0].ndim == 3


@pytest.mark.parametrize(
    ("placement", "says"),
    [
        (
            Placement(id="mug_2", cls="mug", at="table_1.top", pos=(0.01, 0.0)),
            "mug_2 at (2.010, 2.000, 0.740) and mug_1 at (2.000, 2.000, 0.740) are in the same place: they overlap by "
            "0.073 m along x. Move mug_2 by 0.073 m towards +x of table_1",
        ),
        (
            Placement(id="mug_2", cls="mug", at="table_1.top", pos=(0.9, 0.0)),
            "mug_2: on table_1.top: mug_2 does not fit: its foot spans",
        ),
        (
            Placement(id="mug_2", cls="mug", at="floor", pos=(5.0, 1.0)),
            "mug_2: pos (5.0, 1.0) on the floor is in no room",
        ),
        (Placement(id="mug_2", cls="mug", at="shelf_9.top"), "mug_2: at = 'shelf_9.top': no thing 'shelf_9'"),
        (Placement(id="mug_2", cls="mug", at="table_1.shelf"), "table_1 has no 'shelf'; it has top"),
    ],
)
def test_a_thing_where_it_can_not_be_is_refused(library: Library, placement: Placement, says: str) -> None:
    assert says in _message(library, Placement(id="mug_1", cls="mug", at="table_1.top"), placement)


@pytest.mark.parametrize(
    ("furniture", "says"),
    [
        (
            FurnitureSpec(id="cupboard_1", cls="wall_cabinet", pos=(2, 1, 1.3)),
            "cupboard_1 at (2.000, 1.000, 1.300) hangs in the air: its lowest point is ",
        ),
        (FurnitureSpec(id="cupboard_1", cls="cabinet", pos=(9, 9)), "cupboard_1 is not inside a room: its box is ("),
        (FurnitureSpec(id="cupboard_1", cls="cabinet", pos=(2, 2)), "are in the same place"),
    ],
)
def test_furniture_where_it_can_not_be_is_refused(library: Library, furniture: FurnitureSpec, says: str) -> None:
    assert says in _message(library, furniture=(furniture,))


def test_furniture_may_hang_on_a_wall(library: Library) -> None:
    hung = FurnitureSpec(id="cupboard_1", cls="wall_cabinet", pos=(2, 3.77, 1.3))
    scene = compile_scene(_room(hung), library=library)
    assert any(t.id == "cupboard_1" for t in scene.things)
