"""`iwreplay scene render` and `scene check`."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from iwreplay.app import checking, legible, rendering
from iwreplay.app.checking import check_scene
from iwreplay.app.rendering import draw_gallery
from iwreplay.frames import png_pixels
from iwreplay.frames.legibility import flattened
from iwreplay.pose import Pose
from tests.cli.conftest import Run
from tests.render.kitchen import look

SIZE = ("--size", "80x60")


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_a_scene_is_drawn_from_everywhere(run: Run, tmp_path: Path) -> None:
    done = run("scene", "render", "family", "--out", tmp_path / "o", *SIZE, "--json")
    assert done.code == 0, done.err
    assert done.json()["scene"] == "family_kitchen"
    assert names(tmp_path / "o") == [
        "dining_room.2.png", "dining_room.png", "kitchen.2.png", "kitchen.png", "map.png", "start.png", "top.png",
    ]  # fmt: skip
    assert png_pixels((tmp_path / "o" / "start.png").read_bytes()).shape == (60, 80, 3)


@pytest.mark.parametrize(
    "how",
    [("--stance", "start"), ("--stance", "kitchen.2"), ("--stance", "fridge_1"), ("--view", "top"), ("--view", "map"),
     ("--from", "2,2,1.6", "--toward", "2,3,1")],
)  # fmt: skip
def test_one_picture_goes_into_a_file_and_is_the_same_each_time(run: Run, tmp_path: Path, how: tuple[str, ...]) -> None:
    for name in ("a.png", "b.png"):
        done = run("scene", "render", "family_kitchen", "--out", tmp_path / name, *SIZE, *how)
        assert (done.code, done.out) == (0, f"{tmp_path / name}\n"), done.err
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_task_brings_its_things(run: Run, tmp_path: Path) -> None:
    for name, more in (("without.png", ("family_kitchen",)), ("with.png", ("--task", "V06"))):
        assert run("scene", "render", *more, "--view", "map", "--out", tmp_path / name, *SIZE).code == 0
    a, b = (png_pixels((tmp_path / n).read_bytes()) for n in ("with.png", "without.png"))
    assert a.shape != b.shape or (a != b).any()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("mars",), "unknown scene 'mars'"),
        (("family_kitchen", "--stance", "roof"), "unknown stance 'roof'"),
        (("family_kitchen", "--stance", "kitchen.9"), "none of number 9"),
        (("family_kitchen", "--from", "1,2", "--toward", "1,2,3"), "--from '1,2' is not of the form X,Y,Z"),
        (("family_kitchen", "--from", "1,2,1.6"), "--from and --toward go together"),
        (("family_kitchen", "--from", "nan,2,1.6", "--toward", "1,1,1"), "is not finite"),
        (("family_kitchen", "--from", "99,2,1.6", "--toward", "1,1,1"), "outside of the building"),
        (("family_kitchen", "--from", "1,1e9,1.6", "--toward", "1,1,1"), "'1,1e9,1.6' is more than a million"),
        (("family_kitchen", "--stance", "start", "--view", "top"), "give one"),
        (("family_kitchen", "--size", "0x0"), "--size '0x0'"),
        (("family_kitchen", "--view", "side"), "--view"),
        (("family_kitchen", "--gallery", "g"), "--gallery draws every scene"),
    ],
)
def test_wrong_use_names_the_value(run: Run, tmp_path: Path, args: tuple[str, ...], says: str) -> None:
    done = run("scene", "render", *args, "--out", tmp_path / "o.png")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert names(tmp_path) == []


def test_many_pictures_do_not_go_into_one_file(run: Run, tmp_path: Path) -> None:
    done = run("scene", "render", "family_kitchen", "--out", tmp_path / "o.png")
    assert (done.code, "pictures do not go into one file" in done.err) == (2, True)
    assert run("scene", "render", "family_kitchen").code == 2


def test_a_picture_of_another_kind_is_no_folder(run: Run, tmp_path: Path) -> None:
    done = run("scene", "render", "family_kitchen", "--stance", "start", "--out", tmp_path / "o.jpg")
    assert (done.code, "pictures of scenes are PNG files" in done.err) == (2, True)
    assert not (tmp_path / "o.jpg").exists()


def test_the_gallery_is_small_and_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "scene_ids", lambda: ("family_kitchen", "proving_ground"))
    for name in ("a", "b"):
        files = draw_gallery(tmp_path / name / "gallery", tmp_path / name / "gallery.md")
        assert len(files) == 3
    a, b = tmp_path / "a", tmp_path / "b"
    assert names(a / "gallery") == ["family_kitchen.jpg", "proving_ground.jpg"]
    for file in ("gallery.md", "gallery/family_kitchen.jpg", "gallery/proving_ground.jpg"):
        assert (a / file).read_bytes() == (b / file).read_bytes()
        assert (a / file).stat().st_size <= 150_000
    page = (a / "gallery.md").read_text()
    assert "](gallery/family_kitchen.jpg)" in page
    assert "`family_kitchen`: kitchen, dining room." in page


# ---------------------------------------------------------------------- checking


def test_a_good_scene_is_good(run: Run) -> None:
    done = run("scene", "check", "family_kitchen", "--json")
    assert done.code == 0, done.err
    (found,) = done.json()
    assert (found["scene"], found["ok"], found["problems"]) == ("family_kitchen", True, [])
    assert found["reached"] > 25
    (text,) = found["texts"]
    assert (text["thing"], text["text"]) == ("used_bin_1", "USED")
    assert text["cap_px"] >= 4.75
    assert text["contrast"] >= 3.0


def scene_file(folder: Path, *, more: str, start: str = "[0.6, 0.6, 0.0]") -> Path:
    path = folder / "bad.toml"
    path.write_text(
        f'format = 1\nid = "bad"\ntitle = "Bad"\nspawn = {start}\n'
        '[[rooms]]\nid = "hall"\nnouns = ["hall"]\nrect = [0, 0, 6, 6]\n' + more
    )
    return path


def test_what_can_not_be_read_is_named(run: Run, tmp_path: Path) -> None:
    board = '[[furniture]]\nid = "notice_board_1"\ncls = "notice_board"\npos = [2.5, 5.92, 1.4]\n'
    path = scene_file(tmp_path, more=f'{board}texts = {{ front = "Back at ten" }}\n')
    done = run("scene", "check", path)
    assert done.code == 0, done.out
    tiny = "All of these many words have to go onto one board, and nobody will ever read them. " * 22
    path = scene_file(tmp_path, more=f'{board}texts = {{ front = "{tiny}" }}\n')
    done = run("scene", "check", path)
    assert done.code == 1
    assert "notice_board_1" in done.out
    assert "fit" in done.out
    assert done.out.endswith("1 scene, 1 with problems\n")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cap_px": 3.2}, "capitals of 3.2 pixels"),
        ({"contrast": 1.7}, "contrast of 1.7"),
        ({"shown": 0.3}, "of its letters"),
        ({"fits": False}, "does not fit"),
        ({"read_from": "", "cap_px": None, "contrast": None}, "can't be read from anywhere"),
    ],
)
def test_what_is_wrong_with_a_text_is_told(change: dict[str, object], says: str) -> None:
    good = checking.TextCheck(
        thing="board_1", face="front", text="OPEN", fits=True, cap_height_m=0.02, read_from="stand", cap_px=6.0,
        contrast=8.0, shown=1.0, ok=False,
    )  # fmt: skip
    told = checking._told(msgspec.structs.replace(good, **change))
    assert (told.what, told.where) == ("text", "board_1.front")
    assert says in told.sentence


def test_a_layout_that_does_not_hold_is_a_problem_and_not_the_end(run: Run, tmp_path: Path) -> None:
    two = "".join(f'[[furniture]]\nid = "t_{i}"\ncls = "table"\npos = [2.5, 2.0]\n' for i in (1, 2))
    done = run("scene", "check", scene_file(tmp_path, more=two), "family_kitchen", "--json")
    assert done.code == 1
    bad, good = done.json()
    assert (bad["ok"], bad["problems"][0]["what"], good["ok"]) == (False, "layout", True)
    assert "t_1" in bad["problems"][0]["sentence"]
    assert "t_2" in bad["problems"][0]["sentence"]


def test_what_no_hand_gets_to_is_named(tmp_path: Path) -> None:
    """A table walled in by sofas."""
    around = [(3.0, 4.35, 0), (3.0, 1.65, 180), (1.6, 3.0, 90), (4.4, 3.0, -90)]
    sofas = "".join(
        f'[[furniture]]\nid = "sofa_{i}"\ncls = "sofa"\npos = [{x}, {y}]\nyaw_deg = {yaw}\n'
        for i, (x, y, yaw) in enumerate(around)
    )
    table = '[[furniture]]\nid = "table_1"\ncls = "side_table"\npos = [3.0, 3.0]\n'
    found = check_scene(str(scene_file(tmp_path, more=table + sofas)))
    assert not found.ok
    assert any(p.what == "reach" and p.where == "table_1.top" for p in found.problems), found.problems


def test_contrast_is_that_of_wcag() -> None:
    black_on_white = np.full((100, 3), 255, np.uint8)
    black_on_white[:20] = 0
    assert legible._contrast(black_on_white, ink_share=0.2) == pytest.approx(21.0)
    grey = np.full((100, 3), 255, np.uint8)
    grey[:20] = 118
    assert legible._contrast(grey, ink_share=0.2) == pytest.approx(4.6, abs=0.1)
    assert legible._contrast(grey[20:], ink_share=0.2) == 1.0
    specks = np.full((1000, 3), 255, np.uint8)
    specks[:2] = 0
    assert legible._contrast(specks, ink_share=0.2) == 1.0, "two dark pixels are no ink"


def test_a_face_is_turned_square_to_the_reader() -> None:
    """A picture of a board half red and half blue, from aside: flat, the halves meet in the middle."""
    camera = look((0.8, -1.0, 0.3), (0.0, 0.0, 0.0))
    face: Pose = (0.0, 0.0, 0.0, 0.7071067811865476, 0.7071067811865476, 0.0, 0.0)
    focal, width, height = 200.0, 160, 120
    rgb = np.zeros((height, width, 3), np.uint8)
    for row in range(height):
        for column in range(width):
            d = np.array([(column + 0.5 - width / 2) / focal, (height / 2 - row - 0.5) / focal, -1.0])
            w, x, y, z = camera[3:]
            q = np.array([x, y, z])
            ray = d + 2.0 * np.cross(q, np.cross(q, d) + w * d)
            t = -camera[1] / ray[1]
            rgb[row, column] = (255, 0, 0) if camera[0] + t * ray[0] < 0.0 else (0, 0, 255)
    flat = flattened(rgb, camera, focal_px=focal, face=face, size_m=(0.4, 0.2), px_per_m=100.0)
    assert flat.shape == (20, 40, 3)
    assert (flat[:, :18] == (255, 0, 0)).all()
    assert (flat[:, 22:] == (0, 0, 255)).all()
