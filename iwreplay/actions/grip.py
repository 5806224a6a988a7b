"""Taking things into the hand and giving them up: how a held thing sits in the palm, and the facts of holding."""

from __future__ import annotations

import math

from iwreplay.actions.plan import Effect, Run, Script
from iwreplay.body import key_poses
from iwreplay.motion import trajectories
from iwreplay.pose import Pose, Quat, compose, inverse, normalised, quat_about, quat_mul, rotate
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER

__all__ = ["carrying_pose", "puts_down", "takes"]


def carrying_pose(script: Script, thing: Thing) -> Pose:
    """hand_from_thing with which a thing is upright, its front towards the wearer, in the carrying position."""
    carrying = trajectories.retract(script.body, holding=True).end
    hand = key_poses(carrying).right_hand
    root: Quat = (carrying[3], carrying[4], carrying[5], carrying[6])
    turn = quat_mul(root, quat_about((0.0, 0.0, 1.0), -math.pi / 2.0))
    gx, gy, gz = rotate(turn, thing.grip)
    world: Pose = (hand[0] - gx, hand[1] - gy, hand[2] - gz, *turn)
    found = compose(inverse(hand), world)
    return (*found[:3], *normalised(found[3:]))


def takes(thing: Thing, hand_from_thing: Pose) -> Effect:
    """It is in the hand from now on."""

    def effect(run: Run) -> None:
        run.hold(thing.id, hand_from_thing)
        if run.state.attr(thing.id, "discarded") is True:
            run.set(thing.id, "discarded", False)
        if run.state.attr(thing.id, "plated_on"):
            run.set(thing.id, "plated_on", "")
        run.set(thing.id, "parent", "held")
        run.set(thing.id, "held", True)
        run.set(WEARER, "held", thing.id)

    return effect


def puts_down(thing: str, pose: Pose | None, parent: str) -> Effect:
    """It is out of the hand from now on: at `pose`, or where it is (it falls)."""

    def effect(run: Run) -> None:
        run.let_go(thing)
        if pose is not None:
            run.put(thing, pose)
        run.set(thing, "held", False)
        run.set(WEARER, "held", "")
        run.set(thing, "parent", parent)

    return effect
