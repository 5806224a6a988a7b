"""Forward kinematics gives the same bits everywhere: it is recomputed whenever a logged frame is drawn again."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable

import pytest

from iwreplay.body import bone_poses, fk, key_poses, own_skin
from iwreplay.body.figure import _figure
from iwreplay.trig import sin_cos

#: exact in binary, so that the input is the same everywhere: root, then 156 angles within +-1.6
BODY = (0.5, -1.25, -0.125, 0.8, 0.0, 0.0, 0.6, *(((37 * i) % 103 - 51) / 32 for i in range(156)))


def digest(poses: list[float]) -> str:
    return hashlib.sha256(struct.pack(f"<{len(poses)}d", *poses)).hexdigest()


def test_the_bits_are_pinned() -> None:
    keys = key_poses(BODY)
    joints = [v for pose in fk(BODY) for v in pose]
    bones = [v for pose in bone_poses(BODY) for v in pose]
    hands = [*keys.camera, *keys.right_hand, *keys.left_hand]
    assert digest(joints) == "997f2ea2f95e01e36080f09733273e24ef5c390e3580514f53d0879f7755f482"
    assert digest(hands) == "96b3f67c4fb9cddda0399b717e156c5db032d11ed259f738869e9c177acc067c"
    assert digest(bones) == "b5dcf4bf7468daad63d4803c24ad838f3fce64215ed070e4d31b4e41c9dde3eb"


def test_the_figure_is_pinned() -> None:
    skin = own_skin()
    h = hashlib.sha256()
    for array in (skin.positions, skin.bones, skin.shares, skin.origins, skin.faces):
        h.update(array.tobytes())
    assert h.hexdigest() == "30b5a50f492fef85ec52a6a935f1c0257349ddb37c1189f335f7ad8aaf74e5a8"


def test_no_function_of_the_c_library_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Callable[..., float]:
        def stop(*_: float) -> float:
            raise AssertionError(f"math.{name} differs between machines")

        return stop

    before = (fk(BODY), key_poses(BODY), bone_poses(BODY), _figure().refined())
    for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot", "pow", "exp", "log", "fma"):
        if hasattr(math, name):
            monkeypatch.setattr(math, name, refuse(name))
    assert (fk(BODY), key_poses(BODY), bone_poses(BODY), _figure().refined()) == before


def test_its_sine_and_cosine_are_right() -> None:
    for k in range(-4000, 4001):
        s, c = sin_cos(k / 500)
        assert abs(s - math.sin(k / 500)) < 1e-15
        assert abs(c - math.cos(k / 500)) < 1e-15
