"""Where the elbow goes while the palm follows its way: the arm keeps clear of furniture and walls too."""

from __future__ import annotations

from iwreplay.body.kinematics import chain
from iwreplay.body.limbs import LEFT_ARM, RIGHT_ARM
from iwreplay.body.postures import TRUNK, standing
from iwreplay.errors import GeometryError
from iwreplay.motion.hand import segment_hit
from iwreplay.motion.model import Approach
from iwreplay.motion.touching import aim_at, held_thing
from iwreplay.motion.trajectories import reach
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3
from iwreplay.world.state import WorldState

__all__ = ["met_on_the_way", "with_free_elbow"]

#: where the elbow may point, of a right arm in the axes of the stance: as is usual, out, down, out and down, up, in,
#: back, high
_POLES: tuple[Vec3 | None, ...] = (
    None,
    (-0.2, -0.95, 0.15),
    (-0.15, -0.25, -0.95),
    (-0.1, -0.8, -0.6),
    (-0.2, -0.7, 0.7),
    (0.0, 0.35, -0.9),
    (-0.9, -0.3, -0.3),
    (0.2, -0.4, 0.9),
    (0.1, 0.5, 0.85),
)
#: parts of the motion that are looked at; before, the hand is close to the body
_FROM, _TO, _STEPS = 0.38, 1.0, 9
#: this much of the forearm is with the hand, which touches what it reaches for
_WRIST_M = 0.06


def with_free_elbow(sim: Simulator, state: WorldState, approach: Approach, *, target: str, point: Vec3) -> Approach:
    """The same approach with the elbow where the arm meets nothing on its way, or the least."""
    best: tuple[int, Approach] | None = None
    for pole in _POLES:
        trial = Approach(approach.route, approach.reach.bent(pole))
        met = len(met_on_the_way(sim, state, trial, target=target, point=point))
        if met == 0:
            return trial
        if best is None or met < best[0]:
            best = (met, trial)
    assert best is not None, "there are ways to hold an elbow"
    return best[1]


def met_on_the_way(
    sim: Simulator, state: WorldState, approach: Approach, *, target: str, point: Vec3
) -> tuple[str, ...]:
    """What upper arm or forearm is in, one id for each of the looked-at moments in which it is in something."""
    stance, plan = approach.route.stance, approach.reach
    body = state.body
    if plan.posture != "sit":
        body = standing(stance.x, stance.y, stance.yaw, carrying=bool(held_thing(state)))
    try:
        motion = reach(body, plan)
    except GeometryError:  # within a hair of the arm's length: the motion itself says so when it is made
        return ()
    ignore = aim_at(state, target, point).ignore
    arm = LEFT_ARM if plan.left else RIGHT_ARM
    joints = tuple(sorted({*TRUNK, arm.upper, arm.lower, arm.end}))
    met: list[str] = []
    for k in range(1, _STEPS + 1):
        at = chain(motion.body_at(motion.duration_s * (_FROM + (_TO - _FROM) * k / _STEPS)), joints)
        shoulder, elbow, wrist = (at[j][:3] for j in (arm.upper, arm.lower, arm.end))
        hit = segment_hit(sim, shoulder, elbow, ignore=ignore) or segment_hit(
            sim, elbow, wrist, ignore=ignore, short_m=_WRIST_M
        )
        if hit:
            met.append(hit)
    return tuple(met)
