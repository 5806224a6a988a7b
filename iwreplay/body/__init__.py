"""The wearer's body: 52 joints in SMPL+H order, forward kinematics, postures and arm reach.

A body is 163 floats: the root pose (x, y, z, qw, qx, qy, qz) and 52 axis-angle vectors.
"""

from __future__ import annotations

from iwreplay.body.figure import own_skin
from iwreplay.body.kinematics import BODY_VALUES, KeyPoses, fk, key_poses, root_of
from iwreplay.body.postures import crouching, reaching, sitting, standing, stooping
from iwreplay.body.skeleton import JOINT_NAMES, PARENTS, REST_OFFSETS
from iwreplay.body.skin import BodySkin, SkinPart, bone_poses
from iwreplay.body.smplh import read_smplh

__all__ = [
    "BODY_VALUES",
    "JOINT_NAMES",
    "PARENTS",
    "REST_OFFSETS",
    "BodySkin",
    "KeyPoses",
    "SkinPart",
    "bone_poses",
    "crouching",
    "fk",
    "key_poses",
    "own_skin",
    "reaching",
    "read_smplh",
    "root_of",
    "sitting",
    "standing",
    "stooping",
]
