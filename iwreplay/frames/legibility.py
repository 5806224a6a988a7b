"""Whether text on a face can be read in a frame: how tall its capitals are in pixels, and how much of it is in view.

Pure, on a camera, a face and (for what hides it) a frame's id and depth buffers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iwreplay.pose import Pose, Vec3, compose, inverse, quat_to_matrix, rotate, transform_point
from iwreplay.trig import sin_cos

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "READABLE_CAP_PX",
    "FaceView",
    "cap_height_px",
    "face_pixels",
    "flattened",
    "on_its_head",
    "share_in_view",
    "view_face",
]

#: capitals of this height can be read
READABLE_CAP_PX = 4.75

#: how far down the picture letters may point with their tops, as a share of how long they are: lines that run straight
#: up or down can be read, what is turned 20 degrees further stands on its head
_DOWN = 0.34

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


def on_its_head(camera: Pose, at: Pose) -> bool:
    """Whether what is written at world pose `at` (x to the reader's right, y up, z towards the reader) is upside down
    in the picture of `camera`: more than 20 degrees beyond lines that run straight up or down. False for what lies
    behind the camera."""
    camera_from_world = inverse(camera)
    p = transform_point(camera_from_world, at[:3])
    depth = -p[2]
    if depth <= 0.0:
        return False
    up = rotate(camera_from_world[3:], rotate(at[3:], (0.0, 1.0, 0.0)))
    # derivative of (x, y) / depth towards the tops of the letters
    dx = up[0] * depth + p[0] * up[2]
    dy = up[1] * depth + p[1] * up[2]
    return dy < -_DOWN * math.sqrt(dx * dx + dy * dy)


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


def face_pixels(
    camera: Pose,
    *,
    focal_px: float,
    face: Pose,
    size_m: tuple[float, float],
    ids: npt.NDArray[np.int32],
    thing_index: int,
) -> npt.NDArray[np.bool_]:
    """(height, width): the pixels whose middle looks at a face, and which show the thing that carries it."""
    import numpy as np

    height, width = ids.shape
    face_from_camera = compose(inverse(face), camera)
    x = ((np.arange(width) + 0.5) - width / 2.0) / focal_px
    y = (height / 2.0 - (np.arange(height) + 0.5)) / focal_px
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = quat_to_matrix(face_from_camera[3:])
    ox, oy, oz = face_from_camera[:3]
    gx, gy = x[None, :], y[:, None]
    # the ray through a pixel, (x, y, -1) in the camera's frame, meets the face's plane z = 0
    dx, dy, dz = ax * gx + ay * gy - az, bx * gx + by * gy - bz, cx * gx + cy * gy - cz
    away = dz >= -1e-9
    t = oz / -np.where(away, -1.0, dz)
    u, v = ox + t * dx, oy + t * dy
    inside: npt.NDArray[np.bool_] = (
        ~away & (t > 0.0) & (np.abs(u) < size_m[0] / 2.0) & (np.abs(v) < size_m[1] / 2.0) & (ids == thing_index)
    )
    return inside


def share_in_view(
    points: npt.NDArray[np.float64],
    camera: Pose,
    *,
    focal_px: float,
    face: Pose,
    bend_m: float,
    ids: npt.NDArray[np.int32],
    depth: npt.NDArray[np.float32],
    thing_index: int,
) -> float:
    """Share of points (n, 2) of a face, metres from its middle to the reader's right and up, that a frame shows: inside
    it, turned to the camera, in a pixel of the thing, with nothing clearly before them. 0 without points.

    bend_m: radius of the cylinder that the face is bent around, behind it; 0 for a flat one.
    """
    import numpy as np

    if len(points) == 0:
        return 0.0
    height, width = ids.shape
    u, v = points[:, 0], points[:, 1]
    around = u / bend_m if bend_m else np.zeros(len(points))
    # the columns of the letters, not every point: the C library's sine differs between machines, ours is slower
    columns, column = np.unique(around, return_inverse=True)
    nx, nz = np.array([sin_cos(float(angle)) for angle in columns])[column].T
    u, w = (bend_m * nx, bend_m * (nz - 1.0)) if bend_m else (u, around)
    eye = compose(inverse(face), camera)
    turned = (eye[0] - u) * nx + (eye[2] - w) * nz > 0.0
    camera_from_face = compose(inverse(camera), face)
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = quat_to_matrix(camera_from_face[3:])
    ox, oy, oz = camera_from_face[:3]
    deep = -(oz + cx * u + cy * v + cz * w)
    before = np.maximum(deep, 1e-6)
    x = np.floor(width / 2.0 + focal_px * (ox + ax * u + ay * v + az * w) / before)
    y = np.floor(height / 2.0 - focal_px * (oy + bx * u + by * v + bz * w) / before)
    inside = turned & (deep > 0.0) & (x >= 0) & (x < width) & (y >= 0) & (y < height)
    at = np.where(inside, y, 0).astype(np.int64), np.where(inside, x, 0).astype(np.int64)
    seen = inside & (ids[at] == thing_index) & (depth[at] > deep - _HIDDEN_BY_M)
    return float(np.count_nonzero(seen)) / len(points)


def flattened(
    rgb: npt.NDArray[np.uint8],
    camera: Pose,
    *,
    focal_px: float,
    face: Pose,
    size_m: tuple[float, float],
    px_per_m: float,
) -> npt.NDArray[np.uint8]:
    """A face that a frame shows, as if it were looked at squarely: (height, width, 3) at `px_per_m`, each pixel mixed
    from the four of the frame around its place. It shows nothing that the frame does not; what is outside of the frame
    repeats its edge."""
    import numpy as np

    width, height = (max(1, math.floor(side * px_per_m + 0.5)) for side in size_m)
    u = ((np.arange(width) + 0.5) / width - 0.5) * size_m[0]
    v = (0.5 - (np.arange(height) + 0.5) / height) * size_m[1]
    camera_from_face = compose(inverse(camera), face)
    (ax, ay, _), (bx, by, _), (cx, cy, _) = quat_to_matrix(camera_from_face[3:])
    ox, oy, oz = camera_from_face[:3]
    gu, gv = u[None, :], v[:, None]
    deep = np.maximum(-(oz + cx * gu + cy * gv), 1e-6)
    x = rgb.shape[1] / 2.0 + focal_px * (ox + ax * gu + ay * gv) / deep - 0.5
    y = rgb.shape[0] / 2.0 - focal_px * (oy + bx * gu + by * gv) / deep - 0.5
    x, y = np.clip(x, 0.0, rgb.shape[1] - 1.0), np.clip(y, 0.0, rgb.shape[0] - 1.0)
    x0, y0 = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    x1, y1 = np.minimum(x0 + 1, rgb.shape[1] - 1), np.minimum(y0 + 1, rgb.shape[0] - 1)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]
    mixed = (1.0 - fy) * ((1.0 - fx) * rgb[y0, x0] + fx * rgb[y0, x1]) + fy * (
        (1.0 - fx) * rgb[y1, x0] + fx * rgb[y1, x1]
    )
    found: npt.NDArray[np.uint8] = np.floor(mixed + 0.5).astype(np.uint8)
    return found
