"""`iwreplay scene`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from tests.cli.conftest import Run

SCENES = Path(__file__).parents[2] / "taskpacks" / "scenes"


def test_the_list_has_every_scene_with_its_numbers(run: Run) -> None:
    listed = run("scene", "list", "--json").json()
    assert tuple(s["id"] for s in listed) == scene_ids()
    kitchen = next(s for s in listed if s["id"] == "family_kitchen")
    scene = compile_scene(load_scene("family_kitchen"))
    things = [t for t in scene.things if t.cls not in ("floor", "wall", "ceiling")]
    assert (kitchen["rooms"], kitchen["objects"]) == (2, len(things))
    assert kitchen["surfaces"] == sum(len(k.surfaces) for t in things for k in t.links)
    assert "Family kitchen" in run("scene", "list").out


def test_a_scene_is_told_with_its_places(run: Run) -> None:
    told = run("scene", "show", "family_kitchen").out
    assert "kitchen: x 0 to 4.6, y 0 to 4, 2.6 m high; called kitchen" in told
    assert "kitchen - dining_room: at 4.6 0.9, 1 m wide" in told
    assert "dining_room - outside: at 7.4 0" in told
    assert 'cabinet_1  cabinet  "clean cabinet"  0.31 1.55 0, 90 degrees' in told
    assert "on counter_1.top: 1.06 x 0.58 at height 0.90" in told
    assert "in fridge_1.main: 0.62 x 0.56 x 1.10, closed by its door" in told


def test_json_has_every_thing_where_it_is(run: Run) -> None:
    view = run("scene", "show", "fam", "--json").json()
    scene = compile_scene(load_scene("family_kitchen"))
    told = {t["id"]: t for t in (*view["furniture"], *view["things"])}
    things = {t.id: t for t in scene.things if t.cls not in ("floor", "wall", "ceiling")}
    assert set(told) == set(things)
    assert all(told[i]["pos"] == [round(v, 3) for v in things[i].pose[:3]] for i in things)
    assert (told["chair_1"]["room"], told["chair_1"]["fixed"]) == ("dining_room", False)
    assert {s["at"] for s in told["cabinet_1"]["surfaces"]} == {"cabinet_1.top", "cabinet_1.shelf", "cabinet_1.floor"}


def test_every_place_that_is_told_takes_a_placement(run: Run, tmp_path: Path) -> None:
    """What `scene show` prints as a surface is what `at` of a placement means by it."""
    view = run("scene", "show", "family_kitchen", "--json").json()
    places = [s for f in view["furniture"] for s in f["surfaces"] if min(s["size"]) > 0.2 and s["clearance_m"] > 0.1]
    assert len(places) > 15
    for place in places[::4]:
        text = (SCENES / "family_kitchen.toml").read_text() + (
            f'\n[[objects]]\nid = "coin_1"\ncls = "sponge"\nat = "{place["at"]}"\n'
        )
        (tmp_path / "family_kitchen.toml").write_text(text)
        done = run("scene", "show", tmp_path / "family_kitchen.toml", "--json")
        if done.code:
            assert "in the same place" in done.err, place["at"]
            continue
        coin = next(t for t in done.json()["things"] if t["id"] == "coin_1")
        assert coin["pos"][2] == pytest.approx(place["height_m"], abs=0.03), place["at"]


def test_the_things_of_a_task_are_in_it(run: Run) -> None:
    view = json.loads(run("scene", "show", "--task", "V06", "--json").out)
    assert (view["id"], view["task"]) == ("family_kitchen", "V06")
    assert {"sponge_1", "sponge_2"} <= {t["id"] for t in view["things"]}
    assert "sponge" not in run("scene", "show", "family_kitchen").out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("family_kichen",), "unknown scene 'family_kichen'. Nearest: family_kitchen"),
        (("lounge", "--task", "V06"), "Task V06 plays in family_kitchen."),
        ((), "Name a scene, or a task with --task."),
        (("none.toml",), "There is no such file."),
        (("--task", "Z99"), "unknown task 'Z99'"),
    ],
)
def test_wrong_names_are_answered_with_near_ones(run: Run, args: tuple[str, ...], said: str) -> None:
    done = run("scene", "show", *args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_scene_that_is_broken_hides_no_other(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SCENES.parent / "objects", tmp_path / "objects")
    (tmp_path / "scenes").mkdir()
    for name in ("family_kitchen", "bathroom_suite"):
        shutil.copy(SCENES / f"{name}.toml", tmp_path / "scenes")
    text = (SCENES / "family_kitchen.toml").read_text().replace("family_kitchen", "spoilt")
    (tmp_path / "scenes" / "spoilt.toml").write_text(text.replace('cls = "fridge"', 'cls = "frigde"'))
    (tmp_path / "scenes" / "torn.toml").write_text(text[:300])
    monkeypatch.setattr("iwreplay.app.scenes.data_root", lambda: tmp_path)
    done = run("scene", "list", "--json")
    assert (done.code, [s["id"] for s in done.json()]) == (1, ["bathroom_suite", "family_kitchen"])
    spoilt, torn = done.err.splitlines()
    assert "scene spoilt: fridge_1: unknown class 'frigde'. Nearest: fridge" in spoilt
    assert "torn.toml: not TOML" in torn
