"""Labels that go around what they are on, tags of what hangs, screens, and labels of what lies in pieces."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from iwreplay.pose import quat_about, rotate
from iwreplay.render.labels import bend_m, label
from iwreplay.render.shapes import quad
from iwreplay.scene.lettering import face_pose, face_shows
from iwreplay.scene.model import Face, Link, Shape, Thing
from tests.render.kitchen import shape, thing

_FRONT = quat_about((1.0, 0.0, 0.0), math.pi / 2)
_UP = (1.0, 0.0, 0.0, 0.0)


def _face(*, y: float, z: float = 0.1, width: float = 0.03, turn: tuple[float, float, float, float] = _FRONT) -> Face:
    return Face(name="front", pose=(0.0, y, z, *turn), size=(width, 0.03))


def _link(*shapes: Shape) -> Link:
    return Link(name="base", shapes=shapes)


CAN = shape("cylinder", 0.04, 0.1, at=(0, 0, 0.1), m="steel")


@pytest.mark.parametrize(
    "round_shape",
    [CAN, shape("cone", 0.05, 0.03, 0.1, at=(0, 0, 0.1), m="steel"),
     shape("lathe", 0.0, 0.0, 0.04, 0.0, 0.04, 0.2, 0.0, 0.2, m="steel")],
    ids=["cylinder", "cone", "lathe"],
)  # fmt: skip
def test_a_label_goes_around_what_is_round(round_shape: Shape) -> None:
    assert bend_m(_link(round_shape), _face(y=-0.042)) == pytest.approx(0.042)


def test_a_wide_label_is_bent_less_so_that_all_of_it_can_be_read() -> None:
    assert bend_m(_link(CAN), _face(y=-0.042, width=0.06)) == pytest.approx(0.06)


@pytest.mark.parametrize(
    ("face", "shapes"),
    [
        (_face(y=-0.042), (shape("box", 0.04, 0.04, 0.1, at=(0, 0, 0.1), m="steel"),)),
        (_face(y=-0.042), (CAN, shape("box", 0.03, 0.03, 0.05, at=(0, -0.012, 0.1), m="steel"))),
        (_face(y=-0.08), (CAN,)),
        (_face(y=0.0, z=0.201, turn=_UP), (CAN,)),
        (_face(y=-0.042, z=0.4), (CAN,)),
        (_face(y=-0.042), (msgspec.structs.replace(CAN, role="collision"),)),
    ],
    ids=["flat", "flat before round", "far away", "on top", "above it", "collided with only"],
)
def test_a_label_stays_flat_elsewhere(face: Face, shapes: tuple[Shape, ...]) -> None:
    assert bend_m(_link(*shapes), face) == 0.0


def test_a_bent_label_is_as_long_as_a_flat_one_and_lies_on_a_circle() -> None:
    bent, flat = label(0.04, 0.02, 0.05), quad(0.04, 0.02)
    assert label(0.04, 0.02, 0.0) is flat
    x, _, z = bent.positions.T
    assert np.allclose(x * x + (z + 0.05) * (z + 0.05), 0.05 * 0.05)
    assert np.allclose((bent.normals * bent.normals).sum(axis=1), 1.0)
    assert bent.uv.min(axis=0).tolist() == flat.uv.min(axis=0).tolist() == [0.0, 0.0]
    assert bent.uv.max(axis=0).tolist() == flat.uv.max(axis=0).tolist() == [1.0, 1.0]
    lower = bent.positions[bent.uv[:, 1] == 1.0]
    assert np.sqrt((np.diff(lower, axis=0) ** 2).sum(axis=1)).sum() == pytest.approx(0.04, rel=0.001)
    a, b, c = (bent.positions[bent.faces[:, i]] for i in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()


def _garment() -> Thing:
    lying = shape("box", 0.15, 0.1, 0.01, at=(0, 0, 0.01), m="steel", when={"hung": (False,)})
    hanging = msgspec.structs.replace(
        shape("prism", 0.02, -0.1, 0.0, 0.1, 0.0, 0.1, -0.5, -0.1, -0.5, m="steel", when={"hung": (True,)}),
        pose=(0.0, 0.0, 0.0, *_FRONT),
    )
    made = thing("shirt_1", lying, hanging)
    return msgspec.structs.replace(made, links=(msgspec.structs.replace(made.links[0], faces=(_tag(),)),))


def _tag() -> Face:
    return Face(name="tag", pose=(0.03, 0.02, 0.021, *_UP), size=(0.05, 0.03))


def test_a_tag_is_at_the_front_of_what_hangs() -> None:
    shirt = _garment()
    assert face_pose(shirt, _tag(), {"parent": "on:table_1.top"}) == _tag().pose
    hung = face_pose(shirt, _tag(), {"parent": "on:rail_1.hook_2"})
    assert hung[:3] == pytest.approx((0.0, -0.022, -0.1))
    assert rotate(hung[3:], (0.0, 0.0, 1.0)) == pytest.approx((0.0, -1.0, 0.0))
    assert rotate(hung[3:], (0.0, 1.0, 0.0)) == pytest.approx((0.0, 0.0, 1.0))
    print_on_front = _face(y=-0.02)
    assert face_pose(shirt, print_on_front, {"parent": "on:rail_1.hook_2"}) == print_on_front.pose


def test_a_screen_shows_while_its_thing_is_on_and_has_power() -> None:
    monitor = thing("monitor_1", CAN, attrs={"on": True}, props={"screen_faces": "front menu"})
    assert face_shows(monitor, _face(y=0.0), {"on": True})
    assert not face_shows(monitor, _face(y=0.0), {"on": False})
    assert not face_shows(monitor, _face(y=0.0), {"on": True, "powered": False})
    plate = msgspec.structs.replace(_face(y=0.0), name="plate")
    assert face_shows(monitor, plate, {"on": False})


def test_what_lies_in_pieces_has_no_label() -> None:
    jar = thing("jar_1", shape("cylinder", 0.04, 0.1, m="steel", when={"broken": (False,)}))
    assert face_shows(jar, _face(y=0.0), {"broken": False})
    assert not face_shows(jar, _face(y=0.0), {"broken": True})
    assert face_shows(thing("can_1", CAN), _face(y=0.0), {"broken": True})
