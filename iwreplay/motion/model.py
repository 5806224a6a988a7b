"""What the human action layer hands upwards: refusals, stances, routes, reaches and trajectories.

World frame, metres, radians, seconds. A heading (`yaw`) is the direction that the wearer faces, counted from
world +x towards +y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from iwreplay.pose import Vec3
from iwreplay.world.state import WorldState

__all__ = ["Approach", "Names", "Posture", "Reach", "Refusal", "Route", "Stance", "Trajectory"]

Posture = Literal["stand", "stoop", "crouch", "squat", "sit"]

#: (state, thing) -> what the wearer calls it in a sentence: "the top drawer"
Names = Callable[[WorldState, str], str]


class Refusal(msgspec.Struct, frozen=True):
    """Why nothing was planned; nothing has moved."""

    #: one of the motion or state failure codes
    code: str
    #: one sentence in public words
    sentence: str
    #: id of the blocking thing, or "" when no single thing blocks
    blocker: str = ""


class Stance(msgspec.Struct, frozen=True):
    """Where the feet are, and where they point."""

    x: float
    y: float
    yaw: float


class Route(msgspec.Struct, frozen=True):
    """A walk along straight segments that ends turned to `stance.yaw`."""

    #: from where the wearer is now to the stance; one point when there is nothing to walk
    points: tuple[tuple[float, float], ...]
    length_m: float
    stance: Stance


class Reach(msgspec.Struct, frozen=True):
    """A way for a palm, from its ready position in `posture` to the target."""

    posture: Posture
    #: world positions of the palm, the last one is the target
    waypoints: tuple[Vec3, ...]
    #: with the left hand, while the right one carries something
    left: bool = False
    #: where the elbow points, of a right arm in the axes of the stance; None as is usual in the posture
    elbow: Vec3 | None = None

    def bent(self, elbow: Vec3 | None) -> Reach:
        """The same way with the elbow elsewhere."""
        return msgspec.structs.replace(self, elbow=elbow)

    def along(self, waypoints: tuple[Vec3, ...]) -> Reach:
        """The palm to the same place another way."""
        return msgspec.structs.replace(self, waypoints=waypoints)


class Approach(msgspec.Struct, frozen=True):
    """Walk there, then reach."""

    route: Route
    reach: Reach


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A motion of the body over simulated time."""

    duration_s: float
    #: seconds since the start (clamped to 0..duration) -> 163 body values. At 0 exactly the values that the
    #: trajectory was asked to start from; at the end exactly the pose that its maker states.
    body_at: Callable[[float], tuple[float, ...]]
    #: metres walked
    distance_m: float = 0.0

    @property
    def end(self) -> tuple[float, ...]:
        """The 163 body values at the end."""
        return self.body_at(self.duration_s)
