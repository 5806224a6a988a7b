"""The rest skeleton: SMPL+H's 52 joints in its order, on a figure of our own, 1.72 m tall.

Joint frames follow SMPL: in the rest (T) pose every joint's frame is parallel to the figure's, x to its left,
y up, z forward. All numbers are ours; no model file is involved. Upper and lower limb bones lie exactly along
one axis, which keeps the inverse kinematics closed.
"""

from __future__ import annotations

from iwreplay.pose import Pose, Quat, Vec3

__all__ = [
    "ANKLE_HEIGHT_M",
    "BODY_FROM_SMPL",
    "CAMERA_PITCH_RAD",
    "FOREARM_M",
    "HEAD_FROM_CAMERA",
    "JOINT_NAMES",
    "LEFT_WRIST_FROM_PALM",
    "N_JOINTS",
    "PARENTS",
    "PELVIS_HEIGHT_M",
    "REST_OFFSETS",
    "RIGHT_WRIST_FROM_PALM",
    "SHIN_M",
    "STATURE_M",
    "THIGH_M",
    "UPPER_ARM_M",
    "joint",
]

_BODY = (
    *("pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle"),
    *("spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder"),
    *("right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist"),
)
_FINGERS = tuple(f"{finger}{i}" for finger in ("index", "middle", "pinky", "ring", "thumb") for i in (1, 2, 3))

#: in the order of the 156 values
JOINT_NAMES: tuple[str, ...] = (
    *_BODY,
    *(f"left_{f}" for f in _FINGERS),
    *(f"right_{f}" for f in _FINGERS),
)
N_JOINTS = len(JOINT_NAMES)

_BODY_PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)


def _hand_parents(first: int, wrist: int) -> tuple[int, ...]:
    return tuple(wrist if i % 3 == 0 else first + i - 1 for i in range(15))


#: index of the parent joint, -1 for the pelvis; parents come before children
PARENTS: tuple[int, ...] = (*_BODY_PARENTS, *_hand_parents(22, 20), *_hand_parents(37, 21))

STATURE_M = 1.72
#: pelvis joint above the soles when standing straight
PELVIS_HEIGHT_M = 0.94
THIGH_M = 0.39
SHIN_M = 0.395
#: ankle joint above the sole
ANKLE_HEIGHT_M = 0.08
UPPER_ARM_M = 0.275
FOREARM_M = 0.255

#: left side and middle; the right side mirrors x. Metres from the parent joint, rest pose, SMPL axes.
_LEFT: dict[str, Vec3] = {
    "pelvis": (0.0, 0.0, 0.0),
    "left_hip": (0.085, -0.075, 0.0),
    "left_knee": (0.0, -THIGH_M, 0.0),
    "left_ankle": (0.0, -SHIN_M, 0.0),
    "left_foot": (0.01, -0.055, 0.125),
    "spine1": (0.0, 0.11, -0.01),
    "spine2": (0.0, 0.13, 0.0),
    "spine3": (0.0, 0.055, 0.02),
    "neck": (0.0, 0.215, -0.03),
    "head": (0.0, 0.085, 0.035),
    "left_collar": (0.07, 0.125, -0.015),
    "left_shoulder": (0.115, 0.035, -0.01),
    "left_elbow": (UPPER_ARM_M, 0.0, 0.0),
    "left_wrist": (FOREARM_M, 0.0, 0.0),
    "left_index1": (0.095, 0.0, 0.028),
    "left_index2": (0.033, 0.0, 0.002),
    "left_index3": (0.022, 0.0, 0.0),
    "left_middle1": (0.098, 0.002, 0.006),
    "left_middle2": (0.036, 0.0, 0.0),
    "left_middle3": (0.024, 0.0, 0.0),
    "left_pinky1": (0.082, -0.004, -0.034),
    "left_pinky2": (0.024, 0.0, -0.003),
    "left_pinky3": (0.017, 0.0, -0.001),
    "left_ring1": (0.092, 0.0, -0.015),
    "left_ring2": (0.033, 0.0, -0.002),
    "left_ring3": (0.022, 0.0, 0.0),
    "left_thumb1": (0.028, -0.012, 0.032),
    "left_thumb2": (0.028, -0.006, 0.024),
    "left_thumb3": (0.024, 0.0, 0.016),
}


def _rest(name: str) -> Vec3:
    if name.startswith("right_"):
        x, y, z = _LEFT["left_" + name.removeprefix("right_")]
        return (-x, y, z)
    return _LEFT[name]


REST_OFFSETS: tuple[Vec3, ...] = tuple(_rest(n) for n in JOINT_NAMES)

#: root frame (x forward, y left, z up) from SMPL axes (x left, y up, z forward): a pure change of axes, exact
BODY_FROM_SMPL: Quat = (0.5, 0.5, 0.5, 0.5)

# Palm frames: x where the fingers point, z to the thumb side, y the remaining axis. With the right hand held out
# for a handshake its palm frame is parallel to the root frame, so a thing held that way stays upright.
#: wrist joint from the place where a held thing's grip sits
RIGHT_WRIST_FROM_PALM: Pose = (-0.09, -0.025, 0.0, 0.0, 0.0, 0.0, 1.0)
LEFT_WRIST_FROM_PALM: Pose = (0.09, -0.025, 0.0, 1.0, 0.0, 0.0, 0.0)

# 22 degrees below the head's own forward, the way glasses that record hands are built:
# half a turn about y (to look along +z), then 22 degrees down about x.
CAMERA_PITCH_RAD = 0.3839724354387525
#: head joint from camera; the camera looks along its -z, +y up, +x right
HEAD_FROM_CAMERA: Pose = (0.0, 0.065, 0.095, 0.0, 0.0, 0.981627183447664, 0.1908089953765448)


def joint(name: str) -> int:
    """Index of a joint by name; KeyError when the skeleton has none of that name."""
    try:
        return JOINT_NAMES.index(name)
    except ValueError:
        raise KeyError(name) from None
