"""A plan: timed steps of the body with the effects at their ends, worked out before anything moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from iwreplay.body import key_poses
from iwreplay.motion import trajectories
from iwreplay.motion.model import Approach, Posture, Reach, Route, Stance, Trajectory
from iwreplay.pose import Pose, Vec3, rotate
from iwreplay.processes import ProcessWorld
from iwreplay.vocabulary import AttrValue

__all__ = ["CONTROL_S", "SETTLE_S", "Effect", "Plan", "Run", "Script", "Step"]

#: simulated seconds between two settings of the body and the joints
CONTROL_S = 0.02
#: a moment at the end of a command in which what was moved comes to rest, and the eyes take it in
SETTLE_S = 0.4
#: a palm that is no farther than this from where it reached to goes back the way it came
_THERE_M = 0.01


class Run(ProcessWorld, Protocol):
    """What the effects of a running command may do. All of it happens on trial until the command has succeeded."""

    cause: str

    def set(self, thing: str, attr: str, value: AttrValue) -> None:
        """Sets an attribute with this command as the cause."""
        ...

    def touch(self, a: str, b: str) -> None:
        """Records a contact."""
        ...

    def hold(self, thing: str, hand_from_thing: Pose, *, hand: str = "right_hand") -> None:
        """Attaches a thing to a hand (or "root"), with all that rests on or in it."""
        ...

    def let_go(self, thing: str) -> None:
        """Detaches a thing with all that rests on or in it."""
        ...

    def put(self, thing: str, pose: Pose) -> None:
        """Puts a thing at a pose at rest, with all that rests on or in it."""
        ...

    def drive(self, joint: str, position: float) -> None:
        """Drives a joint."""
        ...

    def pose_of(self, thing: str) -> Pose:
        """Where a thing is at this instant."""
        ...

    def exist(self, thing: str, exists: bool) -> None:
        """Brings a thing on stage or takes it off."""
        ...


Effect = Callable[[Run], None]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One motion; `during` gets the share done (0 to 1) at every control instant."""

    motion: Trajectory
    #: the body keeps still all the time
    still: bool = False
    begin: tuple[Effect, ...] = ()
    during: Callable[[Run, float], None] | None = None
    end: tuple[Effect, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that will happen; `verify` gives a sentence for each thing that is not as it should be afterwards."""

    steps: tuple[Step, ...]
    obj: str = ""
    dest: str = ""
    tool: str = ""
    verify: Callable[[Run], str] = field(default=lambda run: "")

    @property
    def distance_m(self) -> float:
        """Metres walked."""
        return sum(s.motion.distance_m for s in self.steps)


class Script:
    """Builds the steps of a plan one after another; each motion starts where the last one ended."""

    def __init__(self, body: tuple[float, ...]) -> None:
        self.body = body
        self.steps: list[Step] = []
        #: what the eyes rest on after the hand has been there (world)
        self.eyes: Vec3 | None = None
        #: the last reach was with the left hand
        self.left = False
        #: and the way that it took, world
        self._way: tuple[Vec3, ...] = ()

    def add(
        self,
        motion: Trajectory,
        *,
        begin: tuple[Effect, ...] = (),
        during: Callable[[Run, float], None] | None = None,
        end: tuple[Effect, ...] = (),
        still: bool = False,
    ) -> Script:
        """Appends a motion that starts from `self.body`."""
        self.steps.append(Step(motion=motion, still=still, begin=begin, during=during, end=end))
        self.body = motion.end
        return self

    def at_end(self, *effects: Effect) -> Script:
        """More effects for the end of the last step."""
        self.steps[-1] = replace(self.steps[-1], end=(*self.steps[-1].end, *effects))
        return self

    def walk(self, route: Route, *, end: tuple[Effect, ...] = ()) -> Script:
        """Along a route (no step when there is nothing to walk and nothing to turn)."""
        motion = trajectories.walk(self.body, route)
        if motion.duration_s > 0.0 or end:
            self.add(motion, end=end)
        return self

    def go_and_reach(self, approach: Approach, *, end: tuple[Effect, ...] = ()) -> Script:
        """Walks the approach's route, then reaches; from a seat without leaving it."""
        if approach.reach.posture != "sit":
            self.walk(approach.route)
        self.eyes = approach.reach.waypoints[-1]
        return self.reach(approach.reach, end=end)

    def reach(self, reach: Reach, *, end: tuple[Effect, ...] = ()) -> Script:
        """The palm to the reach's target."""
        self.left, self._way = reach.left, reach.waypoints
        return self.add(trajectories.reach(self.body, reach), end=end)

    def retract(self, *, holding: bool, end: tuple[Effect, ...] = ()) -> Script:
        """Back upright; the hand, from where it reached to, the way it came, to its carrying or resting place; the eyes
        stay on what the hand was at."""
        via, left = self.way_back, self.left
        return self.add(trajectories.retract(self.body, holding=holding, via=via, left=left, gaze=self.eyes), end=end)

    def rub(self, point: Vec3, aside_m: float, seconds: float, *, end: tuple[Effect, ...] = ()) -> Script:
        """The palm to and fro across the way it came, back at `point` in the end."""
        root = self.body[3], self.body[4], self.body[5], self.body[6]
        dx, dy, _ = rotate(root, (0.0, aside_m, 0.0))
        sides = [(point[0] + k * dx, point[1] + k * dy, point[2]) for k in (1.0, -1.0, 1.0, -1.0)]
        return self.add(trajectories.stroke(self.body, (*sides, point), seconds=seconds), end=end)

    def follow(
        self,
        points: Sequence[Vec3],
        seconds: float,
        *,
        during: Callable[[Run, float], None] | None = None,
        end: tuple[Effect, ...] = (),
    ) -> Script:
        """The palm stays with what `during` moves along the points, as far as the arm reaches."""
        return self.add(trajectories.follow(self.body, points, seconds=seconds, left=self.left), during=during, end=end)

    def hold(
        self,
        seconds: float,
        *,
        begin: tuple[Effect, ...] = (),
        during: Callable[[Run, float], None] | None = None,
        end: tuple[Effect, ...] = (),
    ) -> Script:
        """Stays still."""
        return self.add(trajectories.hold(self.body, seconds), begin=begin, during=during, end=end, still=True)

    def turn(self, yaw: float) -> Script:
        """On the spot."""
        return self.add(trajectories.turn(self.body, yaw))

    def look(self, point: Vec3, *, end: tuple[Effect, ...] = ()) -> Script:
        """Head towards a point."""
        return self.add(trajectories.look(self.body, point), end=end)

    def sit(self, seat_point: Vec3, yaw: float, *, end: tuple[Effect, ...] = ()) -> Script:
        """Onto a seat."""
        return self.add(trajectories.sit(self.body, seat_point, yaw), end=end)

    def stand_up(self, stance: Stance, *, end: tuple[Effect, ...] = ()) -> Script:
        """From the seat."""
        return self.add(trajectories.stand_up(self.body, stance), end=end)

    def posture(self, to: Posture) -> Script:
        """Into a posture on the spot."""
        return self.add(trajectories.posture(self.body, to))

    @property
    def bent(self) -> bool:
        """Whether the body stoops or crouches at the end of the steps so far."""
        return not trajectories.is_upright(self.body) and not trajectories.is_seated(self.body)

    @property
    def way_back(self) -> tuple[Vec3, ...]:
        """The way by which the hand came to where it reached to, from there; () when it is elsewhere by now."""
        is_there = bool(self._way) and math.dist(self._palm()[:3], self._way[-1]) < _THERE_M
        return self._way[-2::-1] if is_there else ()

    def right_hand(self) -> Pose:
        """World pose of the right palm at the end of the steps so far."""
        return key_poses(self.body).right_hand

    def _palm(self) -> Pose:
        at = key_poses(self.body)
        return at.left_hand if self.left else at.right_hand
