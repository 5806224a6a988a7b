"""Whether text on a face can be read in a frame: how tall its capitals are in pixels, and how much of it is in view.

Pure, on a camera, a face and (for what hides it) a frame's id and depth buffers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iwreplay.pose import Pose, Vec3, inverse, rotate, transform_point

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["READABLE_CAP_PX", "FaceView", "cap_height_px", "view_face"]

#: capitals of this height can be read
READABLE_CAP_PX = 4.75

#: points looked at across and down a face
_GRID = (9, 7)
#: a surface this much nearer than the face hides it; text lies half a millimetre proud of what carries it
_HIDDEN_BY_M = 0.01


@dataclass(frozen=True)
class FaceView:
    """A face as a camera sees it."""

    #: height of a capital in the frame, pixels: the least over the face; 0 when it faces away or lies behind
    cap_px: float
    #: share of the face inside the frame and not hidden, 0..1
    shown: float

    @property
    def readable(self) -> bool:
        """Capitals are tall enough, and nearly all of the face is in view."""
        return self.cap_px >= READABLE_CAP_PX and self.shown >= 0.95


def cap_height_px(camera: Pose, *, focal_px: float, at: Pose, cap_height_m: float) -> float:
    """Height in pixels of a capital of `cap_height_m` at the origin of world pose `at` (x to the reader's right, y up,
    z towards the reader). The tilt of the face counts: both the shortened height and the shortened width, which is
    taken as if it shortened the height. 0 when the face is turned away or the point is not in front of the camera."""
    camera_from_world = inverse(camera)
    p = transform_point(camera_from_world, at[:3])
    depth = -p[2]
    normal = rotate(camera_from_world[3:], rotate(at[3:], (0.0, 0.0, 1.0)))
    if depth <= 0.0 or normal[0] * p[0] + normal[1] * p[1] + normal[2] * p[2] >= 0.0:
        return 0.0
    smallest = math.inf
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        d = rotate(camera_from_world[3:], rotate(at[3:], axis))
        # derivative of (x, y) / depth along the axis
        dx = (d[0] * depth + p[0] * d[2]) / (depth * depth)
        dy = (d[1] * depth + p[1] * d[2]) / (depth * depth)
        smallest = min(smallest, math.sqrt(dx * dx + dy * dy))
    return focal_px * cap_height_m * smallest


def view_face(
    camera: Pose,
    *,
    focal_px: float,
    face: Pose,
    size_m: tuple[float, float],
    cap_height_m: float,
    ids: npt.NDArray[np.int32],
    depth: npt.NDArray[np.float32],
    thing_index: int,
) -> FaceView:
    """How the face of a thing is seen in a frame.

    face: world pose of the face. ids, depth: of the frame drawn from `camera`; thing_index: the id of the thing that
    carries the face. A point is shown when its pixel belongs to that thing and nothing lies clearly before it.
    """
    height, width = ids.shape
    camera_from_world = inverse(camera)
    shown, smallest = 0, math.inf
    across, down = _GRID
    for j in range(down):
        for i in range(across):
            local: Vec3 = (
                size_m[0] * (0.92 * i / (across - 1) - 0.46),
                size_m[1] * (0.92 * j / (down - 1) - 0.46),
                0.0,
            )
            point = transform_point(face, local)
            smallest = min(
                smallest, cap_height_px(camera, focal_px=focal_px, at=(*point, *face[3:]), cap_height_m=cap_height_m)
            )
            p = transform_point(camera_from_world, point)
            if p[2] >= 0.0:
                continue
            x = math.floor(width / 2.0 + focal_px * p[0] / -p[2])
            y = math.floor(height / 2.0 - focal_px * p[1] / -p[2])
            if 0 <= x < width and 0 <= y < height and ids[y, x] == thing_index and depth[y, x] > -p[2] - _HIDDEN_BY_M:
                shown += 1
    return FaceView(smallest, shown / (across * down) if smallest > 0.0 else 0.0)
