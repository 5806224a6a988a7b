"""The planner: every question that must be answered before the wearer moves. It never changes the world."""

from __future__ import annotations

from iwreplay.motion.model import Approach, Refusal, Route, Stance
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

__all__ = ["Planner"]


class Planner:
    """Plans on the present state; `sim` is asked for rays and overlaps only and must hold the same state."""

    def __init__(self, *, scene: CompiledScene, sim: Simulator) -> None:
        self._scene = scene
        self._sim = sim

    def route_to(self, state: WorldState, target_id: str, *, point: Vec3 | None = None) -> Route | Refusal:
        """Walk to a thing or a room (its id). `point` (world) narrows a large thing down to the part that matters."""
        return Refusal("NO_PATH", "There is no free way there.")

    def approach(
        self, state: WorldState, target_id: str, point: Vec3, *, max_walk_m: float = 1.5
    ) -> Approach | Refusal:
        """A stance from which the right palm reaches `point` (world), at most `max_walk_m` of walking from here."""
        return Refusal("UNREACHABLE", "That is out of reach.")

    def forward(self, state: WorldState, distance_m: float) -> Route | Refusal:
        """Straight ahead (negative: backwards, without turning)."""
        return Refusal("NO_PATH", "There is no free way there.")

    def turn(self, state: WorldState, to_yaw: float) -> Refusal | None:
        """None when turning on the spot to `to_yaw` is free, for the held object too."""
        return None

    def sees(self, state: WorldState, target_id: str, point: Vec3) -> bool:
        """A free line from the eyes to `point` or to another part of the thing. Which way the head looks does not matter."""
        return False

    def stand_up_stance(self, state: WorldState) -> Stance | Refusal:
        """Where to stand after leaving the seat on which the wearer sits."""
        return Refusal("NO_PATH", "There is no free place beside the seat.")
