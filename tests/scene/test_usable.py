"""Scenes can be used: rooms and floor walked to, things, surfaces and interiors reached; asked on load, or proven."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import pytest

from iwreplay import usability
from iwreplay.app import usable
from iwreplay.app.usable import PROOFS, check_tasks_load, check_usable, proofs_in, task_problems
from iwreplay.errors import SceneError, TaskError
from iwreplay.scene.files import FurnitureSpec, OpeningSpec, RoomSpec, SceneFile
from iwreplay.scene.library import Library
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.loader import load_tasks, validate_task
from iwreplay.taskpack.model import Placement
from iwreplay.usability import LEAST_CUT_OFF_M2, USABILITY_RULE, Problem, Usability, usability_digest
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.scene.make_proofs import FOLDER

#: small enough to be asked each time; the others are with `-m slow`
SMALL = ("bathroom_suite", "electronics_shop", "family_kitchen", "lounge_bar")


def flat(
    library: Library, *furniture: FurnitureSpec, things: Iterable[Placement] = (), deep: float = 4.0
) -> CompiledScene:
    """A hall and a store beyond a doorway."""
    rooms = (
        RoomSpec(id="hall", nouns=("hall",), rect=(0, 0, 4, deep)),
        RoomSpec(id="store", nouns=("store",), rect=(4, 0, 7, deep)),
    )
    door = OpeningSpec(a="hall", b="store", pos=(4.0, 2.0), width=1.0)
    file = SceneFile(format=1, id="flat", spawn=(1.0, 1.0, 0.0), rooms=rooms, openings=(door,), furniture=furniture)
    return compile_scene(file, tuple(things), library=library)


def found(scene: CompiledScene) -> list[tuple[str, str]]:
    return [(p.what, p.where) for p in Usability(scene, MujocoSimulator()).problems()]


def shelf(name: str, x: float, y: float, *, yaw_deg: float = 0.0, w: float = 1.2) -> FurnitureSpec:
    return FurnitureSpec(id=name, cls="shelf", pos=(x, y), yaw_deg=yaw_deg, params={"w": w})


def test_nothing_is_said_of_a_flat_that_can_be_used(library: Library) -> None:
    use = Usability(flat(library, shelf("shelf_1", 2.0, 3.7)), MujocoSimulator())
    assert list(use.problems()) == []
    # two rooms, and the boards of the shelf
    assert use.reached > 4


def test_furniture_before_a_doorway_parts_two_rooms(library: Library) -> None:
    # the back of a shelf closes the doorway off; what is in the store is not reached either
    scene = flat(library, shelf("shelf_1", 3.7, 2.0, yaw_deg=-90.0), FurnitureSpec(id="bin_1", cls="bin", pos=(6, 1)))
    problems = list(Usability(scene, MujocoSimulator()).problems())
    parted = next(p for p in problems if p.what == "room")
    assert str(parted).startswith("room store: can't be walked to from room hall, where the wearer starts: ")
    assert ("reach", "bin_1.main") in [(p.what, p.where) for p in problems]
    with pytest.raises(SceneError, match="scene flat: room store: can't be walked to from room hall, where the wearer"):
        check_usable(scene)


def test_a_corner_behind_furniture_is_cut_off_from_a_stated_size_on(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    # three shelves in a row leave a strip of floor at the northern wall
    row = [shelf(f"shelf_{k}", 0.65 + 1.2 * k, 2.95) for k in range(3)]
    wide = flat(library, *row, deep=4.2)
    (cut,) = [p for p in Usability(wide, MujocoSimulator()).problems() if p.what == "floor"]
    assert cut.where == "hall"
    area = float(cut.sentence.split()[0])
    assert area >= LEAST_CUT_OFF_M2
    assert cut.sentence.startswith(f"{area:.2f} square metres where one could stand can't be walked to: x 0.")
    small = flat(library, *row, FurnitureSpec(id="bin_1", cls="bin", pos=(0.9, 3.4)), deep=3.65)
    assert [p for p in found(small) if p[0] == "floor"] == []
    monkeypatch.setattr(usability, "LEAST_CUT_OFF_M2", 0.1)
    assert ("floor", "hall") in found(small)


def test_the_wearer_starts_where_its_body_fits(library: Library) -> None:
    scene = flat(library, FurnitureSpec(id="table_1", cls="table", pos=(1.1, 1.2)))
    assert [str(p) for p in Usability(scene, MujocoSimulator()).start()] == [
        "start hall: no body fits at 1 1: table_1 is too near"
    ]


def test_what_no_hand_gets_to_is_named_with_what_is_in_the_way(library: Library) -> None:
    # its boards face the wall
    scene = flat(library, shelf("shelf_1", 2.0, 3.7, yaw_deg=180.0))
    said = {p.where: p.sentence for p in Usability(scene, MujocoSimulator()).problems()}
    assert set(said) >= {"shelf_1.middle", "shelf_1.lower"}
    assert "shelf_1.top" not in said
    assert said["shelf_1.middle"] == "no hand gets there: The shelf is in the way of my hand."


def test_what_is_shut_away_is_asked_for_with_the_door_open(library: Library) -> None:
    kitchen = compile_scene(load_scene("family_kitchen"), library=library)
    (fridge,) = [t for t in kitchen.things if t.id == "fridge_1"]
    inside = {f"fridge_1.{i.name}" for k in fridge.links for i in k.interiors if i.closed_by}
    assert inside
    for where in inside:
        use = Usability(kitchen, MujocoSimulator())
        assert list(use.uses({where})) == []
        assert use.reached == 1


def test_a_scene_is_known_by_what_can_be_touched(library: Library) -> None:
    now = usability_digest(flat(library, shelf("shelf_1", 2.0, 3.7)))
    dark = msgspec.structs.replace(shelf("shelf_1", 2.0, 3.7), paint={"board": "walnut"})
    assert usability_digest(flat(library, dark)) == now
    assert usability_digest(flat(library, shelf("shelf_1", 2.0, 3.69))) != now
    assert usability_digest(flat(library, shelf("shelf_1", 2.0, 3.7, w=1.21))) != now
    assert usability_digest(flat(library)) != now


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in SMALL else pytest.mark.slow) for n in scene_ids()])
def test_every_scene_can_be_used(name: str, library: Library) -> None:
    assert (
        list(map(str, Usability(compile_scene(load_scene(name), library=library), MujocoSimulator()).problems())) == []
    )


def test_every_scene_of_the_package_has_its_proof(library: Library) -> None:
    """After a change of a scene or class: make proofs."""
    now = {n: usability_digest(compile_scene(load_scene(n), library=library)) for n in scene_ids()}
    proofs = proofs_in(FOLDER)
    assert proofs.rule == USABILITY_RULE
    assert proofs.scenes == now


def _proof(root: Path, scene: CompiledScene, *, rule: int = USABILITY_RULE) -> Path:
    (root / PROOFS).write_text(f'rule = {rule}\n[scenes]\n{scene.id} = "{usability_digest(scene)}"\n')
    return root


def test_a_proof_spares_the_question_while_it_is_about_the_same_scene(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes: list[CompiledScene] = []
    monkeypatch.setattr(usable._Asked, "found", {})
    monkeypatch.setattr(usable, "_problems_of", lambda scene: scenes.append(scene) or ())
    good, other = flat(library), flat(library, shelf("shelf_1", 2.0, 3.7))
    check_usable(good, root=_proof(tmp_path, good))
    assert scenes == []
    check_usable(other, root=tmp_path)
    assert scenes == [other]
    # the rule has changed since, or there are no proofs at all
    check_usable(good, root=_proof(tmp_path, good, rule=USABILITY_RULE + 1))
    assert scenes == [other, good]
    usable._Asked.found.clear()
    (tmp_path / PROOFS).unlink()
    check_usable(good, root=tmp_path)
    assert scenes == [other, good, good]
    (tmp_path / PROOFS).write_text("rule = 'one'")
    with pytest.raises(SceneError, match=r"usable\.toml: .*rule"):
        check_usable(good, root=tmp_path)


def test_a_scene_is_asked_about_once(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Watched(Usability):
        def problems(self) -> Iterator[Problem]:
            asked.append("again")
            return super().problems()

    monkeypatch.setattr(usable, "Usability", Watched)
    scene = flat(library, FurnitureSpec(id="table_1", cls="table", pos=(1.1, 1.2)))
    for _ in range(2):
        with pytest.raises(SceneError, match=r"start hall: no body fits at 1 1: table_1 is too near"):
            check_usable(scene, root=tmp_path)
    assert asked == ["again"]


def test_a_task_that_puts_something_out_of_reach_is_refused(library: Library) -> None:
    task = next(t for t in load_tasks() if t.id == "V06")
    assert task_problems(task, validate_task(task, library=library), library=library) == ()
    cartons = [
        Placement(id=f"carton_{k}", cls="large_carton", at="floor", pos=(4.25, 0.3 + 0.5 * k), yaw_deg=90.0)
        for k in range(3)
    ]
    blocked = msgspec.structs.replace(task, things=(*task.things, *cartons))
    with pytest.raises(TaskError, match="task V06: room dining_room: can't be walked to from room kitchen"):
        check_tasks_load([blocked])
