"""What the hand does: touch, grab, drop, push, wear; and waiting."""

from __future__ import annotations

import math

from iwreplay.actions.grip import carrying_pose, puts_down, takes
from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.body import key_poses
from iwreplay.motion.blend import smooth
from iwreplay.motion.model import Approach
from iwreplay.motion.trajectories import LOOK_S
from iwreplay.pose import Pose, Vec3, compose, inverse, quat_about, transform_point, wrap_angle, yaw_of
from iwreplay.processes.power import is_cordless, on_battery, socket_of
from iwreplay.processes.support import ancestors, dependents, parent_of
from iwreplay.scene.model import Thing
from iwreplay.trig import sin_cos
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import grip_point, surface_at, thing_aabb, thing_box, thing_of

__all__ = ["drop", "grab", "push", "touch", "wait", "wear"]

_FALL_S = 1.2
#: what is taller than this (metres), and than this many times its depth, does not stay standing when it is let go
_TOPPLES_M = 0.6
_TOPPLES_TIMES = 6.0
#: how far it leans as it leaves the hand: beyond what a broom would stand on
_LEAN_RAD = math.radians(25.0)
#: fragile things break when they fall from higher than this
_BREAK_M = 0.4
#: farther from the hand than this, a thing is not held
_SLIPPED_M = 0.05
_DEFAULT_PUSH_M = 0.10
_PUSH_MPS = 0.15
#: cosine of the most that one stands askew to push or pull
_BEHIND = 0.5
#: places on the way of a pushed thing that the hand goes through with it
_PUSH_POINTS = 8
_SKIN_M = 0.004
#: from the middle of the wearer to where its body ends, towards the front
_TORSO_M = 0.14
#: a surface lower than this lies on the floor
_FLAT_M = 0.02
_TOUCH_S = 0.4
_DRESS_S = 2.0
#: where a worn thing is carried: behind the waist, out of the wearer's own view (root_from_thing)
_WORN_AT: Pose = (-0.12, 0.0, 0.95, 1.0, 0.0, 0.0, 0.0)


def wait(scope: Scope) -> Plan:
    """Time passes."""
    script = scope.script()
    script.hold(scope.number("duration", 2.0))
    return Plan(steps=tuple(script.steps))


def touch(scope: Scope) -> Plan:
    """The hand, or what it holds, against the target."""
    thing = scope.thing("target")
    tool = scope.held if scope.held != thing.id else ""
    script = scope.script()
    scope.use(script, thing.id, _touch_point(scope, thing), hold_s=_TOUCH_S, end=(_touched(thing.id, tool),))
    return Plan(steps=tuple(script.steps), obj=thing.id, tool=tool)


def _touch_point(scope: Scope, thing: Thing) -> Vec3:
    """The middle of a small thing's top; of a large one the nearest point of its box to the hand."""
    x0, y0, z0, x1, y1, z1 = thing_aabb(thing, scope.state)
    if max(x1 - x0, y1 - y0) < 0.4:
        return ((x0 + x1) / 2, (y0 + y1) / 2, z1)
    bx, by = scope.state.body[0], scope.state.body[1]
    inset = 0.05
    return (
        min(max(bx, x0 + inset), x1 - inset),
        min(max(by, y0 + inset), y1 - inset),
        min(z1, max(z0, 1.1)),
    )


def _touched(thing: str, tool: str) -> Effect:
    def effect(run: Run) -> None:
        run.touch(tool or WEARER, thing)
        run.happened("touch", obj=thing, tool=tool)

    return effect


def grab(scope: Scope) -> Plan:
    """Into the free hand, with all that rests on or in it."""
    thing = scope.thing("object")
    if scope.held == thing.id:
        raise refuse("HAND_FULL", f"I am holding {scope.the(thing.id)} already.", blocker=thing.id)
    scope.need_free_hand()
    if "grab" not in thing.affordances or thing.fixed:
        raise refuse("NOT_GRABBABLE", f"I can't pick up {scope.the(thing.id)}.", blocker=thing.id)
    if scope.state.attr(thing.id, "worn") is True:
        raise refuse("NOT_GRABBABLE", f"I am wearing {scope.the(thing.id)}; I have to take it off.", blocker=thing.id)
    scope.need_off(thing)
    if scope.stands_on(thing):
        raise refuse("BLOCKED", f"I am standing on {scope.the(thing.id)}; I have to step off it.", blocker=thing.id)
    _need_reachable(scope, thing)
    socket = socket_of(scope.state, thing.id)
    if socket and not is_cordless(thing):
        text = f"{scope.the(thing.id)} is plugged in; it has to be unplugged first."
        raise refuse("BLOCKED", sentence(text), blocker=socket)
    script = scope.script()
    approach = scope.approach_grip(thing)
    script.go_and_reach(approach)
    script.at_end(takes(thing, carrying_pose(script, thing)), _off_its_base(thing))
    script.retract(holding=True)
    return Plan(steps=tuple(script.steps), obj=thing.id, verify=lambda run: _in_hand(run, scope, thing))


def _off_its_base(thing: Thing) -> Effect:
    """A kettle that is lifted switches itself off; what has a battery stays on."""

    def effect(run: Run) -> None:
        off = is_cordless(thing) and not on_battery(run.state, thing.id)
        if off and run.state.attr(thing.id, "on") is True:
            run.set(thing.id, "on", False)

    return effect


def _in_hand(run: Run, scope: Scope, thing: Thing) -> str:
    """By the poses, the hand is where the thing is gripped."""
    gripped = transform_point(run.state.poses[thing.id], thing.grip)
    away = math.dist(gripped, key_poses(run.state.body).right_hand[:3])
    return "" if away < _SLIPPED_M else sentence(f"{scope.the(thing.id)} slipped out of my hand.")


def _need_reachable(scope: Scope, thing: Thing) -> None:
    """Not shut away; LOCKED when what shuts it is locked."""
    for parent in ancestors(scope.state, thing.id):
        if parent.thing and parent.how == "in" and scope.state.attr(parent.thing, "locked") is True:
            text = f"{scope.the(thing.id)} is inside {scope.the(parent.thing)}, which is locked."
            raise refuse("LOCKED", sentence(text), blocker=parent.thing)
    scope.need_uncovered(thing.id)


def drop(scope: Scope) -> Plan:
    """Lets go; it falls."""
    thing = scope.held_argument()
    falling = [thing, *(thing_of(scope.state, t) for t in dependents(scope.state, thing.id))]
    before = {t.id: scope.state.poses[t.id][2] for t in falling}
    script = scope.script()
    script.hold(0.2, end=(puts_down(thing.id, _leaning(scope, thing), "floor"),))
    x, y, _ = scope.state.poses[thing.id][:3]
    script.eyes = (x, y, 0.0)
    script.look(script.eyes)
    script.hold(_FALL_S - LOOK_S, end=tuple(_fell(t, before[t.id]) for t in falling))
    script.retract(holding=False)
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _leaning(scope: Scope, thing: Thing) -> Pose | None:
    """How a tall thin thing leaves the hand: leaning away from the wearer over its thin side, or towards the wearer
    where that way is taken. None for anything else, and where there is no room: it falls as it was held."""
    box, pose = thing_box(thing, scope.state), scope.state.poses[thing.id]
    hx, hy, hz = box.half
    if 2.0 * hz < _TOPPLES_M or hz < _TOPPLES_TIMES * min(hx, hy):
        return None
    middle = compose(inverse(pose), box.pose)
    away = (pose[0] - scope.state.body[0], pose[1] - scope.state.body[1])
    thin: Vec3 = (1.0, 0.0, 0.0) if hy <= hx else (0.0, 1.0, 0.0)
    leaning = [compose(pose, (0.0, 0.0, 0.0, *quat_about(thin, lean))) for lean in (_LEAN_RAD, -_LEAN_RAD)]
    tops = [transform_point(at, (0.0, 0.0, 2.0 * hz)) for at in leaning]
    outward = [(top[0] - pose[0]) * away[0] + (top[1] - pose[1]) * away[1] for top in tops]
    order = (0, 1) if outward[0] >= outward[1] else (1, 0)
    ignore = (thing.id, *dependents(scope.state, thing.id))
    free = (
        leaning[n] for n in order if not scope.sim.overlap_box(box.half, compose(leaning[n], middle), ignore=ignore)
    )
    return next(free, None)


def _fell(thing: Thing, before_m: float) -> Effect:
    def effect(run: Run) -> None:
        drop_m = before_m - run.pose_of(thing.id)[2]
        run.happened("fell", obj=thing.id, detail={"height_m": round(drop_m, 3)})
        if thing.fragile and drop_m > _BREAK_M and run.state.attr(thing.id, "broken") is not True:
            run.set(thing.id, "broken", True)
            if run.state.attr(thing.id, "contains"):
                run.set(thing.id, "contains", {})
            run.happened("broke", obj=thing.id)

    return effect


def push(scope: Scope) -> Plan:
    """Along its support: away from the wearer (Push, Slide) or towards it (Pull)."""
    thing = scope.thing("object")
    scope.need_free_hand()
    if thing.fixed or not {"push", "grab"} & set(thing.affordances):
        raise scope.no_affordance(thing.id, f"push {scope.the(thing.id)}")
    if scope.state.attr(thing.id, "worn") is True:
        raise scope.no_affordance(thing.id, f"push {scope.the(thing.id)}; I am wearing it")
    scope.need_off(thing)
    if scope.stands_on(thing):
        raise refuse("COLLISION", f"I am standing on {scope.the(thing.id)}; I have to step off it.", blocker=thing.id)
    distance = scope.number("distance", _DEFAULT_PUSH_M)
    away = _away(scope, thing)
    script = scope.script()
    script.go_and_reach(_approach_from_behind(scope, thing, away))
    along = -distance if scope.command.verb == "Pull" else distance
    dx, dy = along * away[0], along * away[1]
    _need_free_way(scope, thing, dx, dy)
    _need_no_body(scope, thing, script.body, dx, dy)
    _need_support(scope, thing, dx, dy)
    # what it carries keeps its place on it, also where it tilts a little over the rim of a mat; carriers come first
    load = sorted(dependents(scope.state, thing.id), key=lambda t: sum(1 for _ in ancestors(scope.state, t)))
    starts = {t: scope.state.poses[t] for t in (thing.id, *load)}
    start = starts[thing.id]

    def during(run: Run, share: float) -> None:
        done = smooth(share)
        for moved, (x, y, *rest) in starts.items():
            run.put(moved, (x + dx * done, y + dy * done, *rest))  # type: ignore[arg-type]

    x, y, z = grip_point(thing, scope.state)
    way = [(x + dx * k / _PUSH_POINTS, y + dy * k / _PUSH_POINTS, z) for k in range(1, _PUSH_POINTS + 1)]
    script.follow(way, max(0.4, distance / _PUSH_MPS), during=during)
    script.retract(holding=False)
    script.hold(SETTLE_S)
    goal = (start[0] + dx, start[1] + dy, start[2])

    def verify(run: Run) -> str:
        away = math.dist(run.state.poses[thing.id][:3], goal)
        return "" if away < 0.03 else sentence(f"{scope.the(thing.id)} did not stay where I pushed it.")

    return Plan(steps=tuple(script.steps), obj=thing.id, verify=verify)


def _away(scope: Scope, thing: Thing) -> tuple[float, float]:
    """Unit direction on the floor plan from where the wearer stands now to the thing, square to what that rests on;
    on the floor, to the axes of the scene."""
    x, y, _ = thing_box(thing, scope.state).pose[:3]
    bearing = math.atan2(y - scope.state.body[1], x - scope.state.body[0])
    parent = parent_of(scope.state, thing.id)
    frame = yaw_of(scope.state.poses[parent.thing][3:]) if parent.thing else 0.0
    quarter = round((bearing - frame) / (math.pi / 2.0))
    s, c = sin_cos(wrap_angle(frame + quarter * math.pi / 2.0))
    return (c, s)


def _approach_from_behind(scope: Scope, thing: Thing, away: tuple[float, float]) -> Approach:
    """To where a hand takes it, facing the way that it is to go where there is such a stance. Raises RefusedError."""

    def faces_it(approach: Approach) -> bool:
        stance = approach.route.stance
        s, c = sin_cos(stance.yaw)
        return c * away[0] + s * away[1] > _BEHIND

    try:
        return scope.approach(thing.id, grip_point(thing, scope.state), accept=faces_it)
    except RefusedError:
        return scope.approach_grip(thing)


def _need_free_way(scope: Scope, thing: Thing, dx: float, dy: float) -> None:
    """Raises RefusedError with COLLISION when something is in the way."""
    box = thing_box(thing, scope.state)
    half: Vec3 = (box.half[0], box.half[1], max(0.001, box.half[2] - _SKIN_M))
    ignore = (thing.id, *dependents(scope.state, thing.id))
    steps = max(1, math.ceil(math.hypot(dx, dy) / 0.02))
    for k in range(1, steps + 1):
        x, y, z = box.pose[:3]
        at: Pose = (x + dx * k / steps, y + dy * k / steps, z + _SKIN_M, *box.pose[3:])
        hits = scope.sim.overlap_box(half, at, ignore=ignore)
        if hits:
            raise refuse("COLLISION", sentence(f"{scope.the(hits[0])} is in the way."), blocker=hits[0])


def _need_no_body(scope: Scope, thing: Thing, body: tuple[float, ...], dx: float, dy: float) -> None:
    """Raises RefusedError with COLLISION when it would come nearer than the wearer's body lets it: one does not step
    back while pulling. What is already as near may be pulled or pushed away."""
    box = thing_box(thing, scope.state)
    feet = (body[0], body[1], box.pose[2])

    def gap_m(share: float) -> float:
        at: Pose = (box.pose[0] + dx * share, box.pose[1] + dy * share, *box.pose[2:])
        x, y, _ = transform_point(inverse(at), feet)
        return math.hypot(max(0.0, abs(x) - box.half[0]), max(0.0, abs(y) - box.half[1]))

    if gap_m(1.0) < min(_TORSO_M, gap_m(0.0)):
        text = f"{scope.the(thing.id)} would run into me; I have to pull it less far."
        raise refuse("COLLISION", sentence(text), blocker=thing.id)


def _need_support(scope: Scope, thing: Thing, dx: float, dy: float) -> None:
    """Raises RefusedError with COLLISION when it would go over the edge, or into the wall of what it is in.

    What lies flat on the floor (a rug, a marked zone) has no edge to go over."""
    parent = parent_of(scope.state, thing.id)
    if parent.how != "on":
        return
    surface = surface_at(scope.state, f"{parent.thing}.{parent.part}")
    if surface.pose[2] < _FLAT_M:
        return
    x, y, z = scope.state.poses[thing.id][:3]
    px, py, _ = transform_point(inverse(surface.pose), (x + dx, y + dy, z))
    margin = 0.5 * min(thing.bounds_half[0], thing.bounds_half[1])
    if abs(px) > surface.half[0] - margin or abs(py) > surface.half[1] - margin:
        text = f"{scope.the(thing.id)} would go over the edge of {scope.the(parent.thing)}."
        raise refuse("COLLISION", sentence(text), blocker=parent.thing)


def wear(scope: Scope) -> Plan:
    """Wear what is in the hand; take off what is worn, into the hand."""
    item = scope.thing("item")
    worn = scope.state.attr(item.id, "worn") is True
    scope.need_affordance(item, "wear", f"wear {scope.the(item.id)}")
    script = scope.script()
    if scope.command.verb == "TakeOff":
        if not worn:
            raise refuse("NOT_HELD", f"I am not wearing {scope.the(item.id)}.", blocker=item.id)
        scope.need_free_hand()
        script.hold(_DRESS_S, end=(_taken_off(item.id), takes(item, carrying_pose(script, item))))
        script.retract(holding=True)
        return Plan(steps=tuple(script.steps), obj=item.id)
    if worn:
        raise refuse("ALREADY", f"I am wearing {scope.the(item.id)} already.", blocker=item.id)
    if scope.held != item.id:
        raise refuse("NOT_HELD", f"I have to hold {scope.the(item.id)} to put it on.", blocker=item.id)
    script.hold(_DRESS_S, end=(_put_on(item),))
    script.retract(holding=False)
    return Plan(steps=tuple(script.steps), obj=item.id)


def _put_on(item: Thing) -> Effect:
    def effect(run: Run) -> None:
        run.let_go(item.id)
        run.hold(item.id, _WORN_AT, hand="root")
        run.set(item.id, "held", False)
        run.set(WEARER, "held", "")
        run.set(item.id, "parent", "worn")
        run.set(item.id, "worn", True)

    return effect


def _taken_off(item: str) -> Effect:
    def effect(run: Run) -> None:
        run.let_go(item)
        run.set(item, "worn", False)

    return effect
