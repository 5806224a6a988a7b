"""Who has opened a cabinet sees what is in it, as far as rays through the real scene can tell."""

from __future__ import annotations

import math

import pytest

from iwreplay.actions.inside import view_into
from iwreplay.body import key_poses
from iwreplay.motion.model import Stance
from iwreplay.pose import Vec3, transform_point
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import interiors_of, thing_of
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World

#: shares of the half sizes of an inside; the front is -y
SAMPLES = [(x, y, z) for x in (-0.5, 0.1, 0.5) for y in (-0.5, 0.0) for z in (-0.7, 0.1)]


@pytest.fixture(scope="module")
def wing() -> Base:
    return Base(compile_scene(load_scene("housekeeping_wing")), MujocoSimulator())


def open_at(thing: Thing) -> dict[str, float]:
    return {f"{thing.id}.{k.joint.name}": k.joint.open_at for k in thing.links if k.joint is not None}


def in_sight(world: World, thing: str) -> float:
    """Share of some points inside that no solid part of anything hides from the eyes."""
    eye = key_poses(world.state.body).camera[:3]
    box = interiors_of(thing_of(world.state, thing), world.state)[0].box
    free = 0
    for sample in SAMPLES:
        x, y, z = (s * h for s, h in zip(sample, box.half, strict=True))
        point = transform_point(box.pose, (x, y, z))
        length = math.dist(eye, point)
        to: Vec3 = tuple((p - e) / length for p, e in zip(point, eye, strict=True))  # type: ignore[assignment]
        hit = world.sim.ray(eye, to, length)
        free += hit is None
    return free / len(SAMPLES)


@pytest.mark.parametrize("name", ["locker room low cabinet", "left locker"])
def test_the_inside_of_what_was_opened_is_seen(wing: Base, name: str) -> None:
    world = World(wing)
    outcome = world.ok(f"[Walk] {name}", f"[Open] {name}")
    assert in_sight(world, outcome.obj) >= 0.5


def test_a_place_beside_the_opened_door_is_none_from_which_one_sees_inside(wing: Base) -> None:
    world = World(wing)
    thing = thing_of(world.state, "low_cabinet_1")
    sees = view_into(world.state, thing, open_at(thing), holding=False)
    assert sees is not None
    before, behind = (transform_point(world.state.poses[thing.id], at) for at in ((0.0, -1.5, 0.0), (0.0, 1.5, 0.0)))
    assert sees(Stance(before[0], before[1], 0.0))
    assert not sees(Stance(behind[0], behind[1], 0.0))


def test_what_is_closed_or_has_no_door_is_no_question(world: World) -> None:
    fridge, drawer, box = (thing_of(world.state, t) for t in ("fridge_1", "drawer_unit_1_top", "box_1"))
    assert view_into(world.state, fridge, open_at(fridge), holding=False) is not None
    assert view_into(world.state, fridge, dict.fromkeys(open_at(fridge), 0.0), holding=False) is None
    assert view_into(world.state, drawer, open_at(drawer), holding=False) is None
    assert view_into(world.state, box, open_at(box), holding=False) is None
