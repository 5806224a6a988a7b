"""The wearer's body: 52 joints in SMPL+H order, forward kinematics, postures and arm reach.

A body is 163 floats: the root pose (x, y, z, qw, qx, qy, qz) and 52 axis-angle vectors.
"""

from __future__ import annotations

from iwreplay.body.capsules import BODY_CAPSULES, BodyCapsule, posed_capsules
from iwreplay.body.kinematics import BODY_VALUES, KeyPoses, fk, key_poses, root_of
from iwreplay.body.postures import crouching, reaching, sitting, standing, stooping
from iwreplay.body.skeleton import JOINT_NAMES, PARENTS, REST_OFFSETS

__all__ = [
    "BODY_CAPSULES",
    "BODY_VALUES",
    "JOINT_NAMES",
    "PARENTS",
    "REST_OFFSETS",
    "BodyCapsule",
    "KeyPoses",
    "crouching",
    "fk",
    "key_poses",
    "posed_capsules",
    "reaching",
    "root_of",
    "sitting",
    "standing",
    "stooping",
]
