"""Liquids fill their vessels up to the wall, and no farther."""

from __future__ import annotations

import numpy as np
import pytest

import taskpacks
from iwreplay.render.liquids import STEPS, liquid_bodies, step_of
from iwreplay.scene.library import Library, Wanted, load_library
from iwreplay.vocabulary import AttrValue
from tests.render.kitchen import shape, thing


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(taskpacks.root() / "objects")


@pytest.mark.parametrize("share", [0.01, 0.03, 0.0833, 0.25, 0.5, 0.51, 0.999, 1.0])
def test_the_level_is_exact_between_the_steps(share: float) -> None:
    step, stretch = step_of(share)
    assert 0 <= step < STEPS
    assert 0.0 < stretch <= 1.0 + 1e-9
    assert (step + 1) / STEPS * stretch == pytest.approx(share)


def test_a_bowl_is_filled_to_its_wall_at_every_level(library: Library) -> None:
    bowl = library.make(Wanted(id="a", cls="bowl"), where="test")[0]
    bodies = liquid_bodies(bowl)
    assert len(bodies) == STEPS
    widths = [float(b.positions[:, 0].max()) for b in bodies]
    assert widths == sorted(widths)
    assert widths[-1] > 1.4 * widths[0]
    assert widths[-1] < bowl.bounds_half[0]


@pytest.mark.parametrize("cls", ["bucket", "glass", "jug", "pot", "teacup", "wineglass"])
def test_no_liquid_comes_out_through_a_wall(library: Library, cls: str) -> None:
    vessel = library.make(Wanted(id="a", cls=cls), where="test")[0]
    wall = max(
        (s for s in vessel.links[0].shapes if s.kind == "lathe" and s.role != "collision"),
        key=lambda s: max(s.size[0::2]),
    )
    points = np.array([(r, z + wall.pose[2]) for r, z in zip(wall.size[0::2], wall.size[1::2], strict=True)])
    outside = points[: int(points[:, 1].argmax()) + 1]
    z0 = vessel.props["liquid_z0"]
    assert isinstance(z0, float)
    for body in liquid_bodies(vessel):
        radius = np.sqrt(body.positions[:, 0] ** 2 + body.positions[:, 1] ** 2)
        # the least radius of the outside at a height (a stem is as thin there as it gets)
        allowed = np.interp(body.positions[:, 2] + z0, np.maximum.accumulate(outside[:, 1]), outside[:, 0])
        assert (radius <= allowed + 1e-9).all(), cls


def test_a_vessel_without_an_inside_holds_the_cylinder_it_states() -> None:
    props: dict[str, AttrValue] = {"liquid_radius": 0.03, "liquid_z0": 0.01, "liquid_height": 0.2, "capacity_l": 0.5}
    bodies = liquid_bodies(thing("bottle_1", shape("cylinder", 0.04, 0.1, m="steel"), props=props))
    assert float(bodies[-1].positions[:, 0].max()) == pytest.approx(0.03, abs=1e-3)
    assert float(bodies[-1].positions[:, 2].max()) == pytest.approx(0.2)
    assert liquid_bodies(thing("brick_1", shape("box", 0.1, 0.1, 0.1, m="steel"))) == ()
