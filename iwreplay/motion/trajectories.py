"""Motions of the body over time. Each starts exactly at the values given and ends in a stated pose."""

from __future__ import annotations

from iwreplay.motion.model import Posture, Reach, Route, Stance, Trajectory
from iwreplay.pose import Vec3

__all__ = ["hold", "look", "posture", "reach", "retract", "sit", "stand_up", "turn", "walk"]

Body = tuple[float, ...]


def hold(body: Body, seconds: float) -> Trajectory:
    """Nothing moves."""
    return Trajectory(duration_s=seconds, body_at=lambda t_s: body)


def walk(body: Body, route: Route) -> Trajectory:
    """Along `route` at 1.0 m/s, turning on the spot at 120 deg/s; ends standing at the stance, hands unchanged."""
    return hold(body, route.length_m)


def turn(body: Body, yaw: float) -> Trajectory:
    """On the spot to heading `yaw`, the short way, 120 deg/s; everything else unchanged."""
    return hold(body, 0.0)


def posture(body: Body, to: Posture) -> Trajectory:
    """Into stand, stoop or crouch on the spot; hands in their carrying or resting place."""
    return hold(body, 0.8)


def reach(body: Body, plan: Reach) -> Trajectory:
    """Posture, palm along the waypoints, eyes on the target, 0.8 s; ends with the palm at the last waypoint."""
    return hold(body, 0.8)


def retract(body: Body, *, holding: bool = True) -> Trajectory:
    """Back to standing, 0.6 s; palm in the carrying place (`holding`) or hanging at the side."""
    return hold(body, 0.6)


def look(body: Body, point: Vec3) -> Trajectory:
    """Head towards `point` (world) as far as the neck turns, 0.4 s."""
    return hold(body, 0.4)


def sit(body: Body, seat_point: Vec3, yaw: float) -> Trajectory:
    """Onto the seat's top at `seat_point` (world), facing `yaw`, 1.2 s."""
    return hold(body, 1.2)


def stand_up(body: Body, stance: Stance) -> Trajectory:
    """From the seat to standing at `stance`, 1.2 s."""
    return hold(body, 1.2)
