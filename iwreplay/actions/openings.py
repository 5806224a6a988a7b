"""Doors, drawers, lids, jars, windows, curtains and locks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from iwreplay.actions.gaze import NECK_RAD, bearing, eye_point
from iwreplay.actions.inside import view_into
from iwreplay.actions.leafing import close_document, turn_page
from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run, Script
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.actions.swinging import MOVE_S, Piece, moves, pieces_from
from iwreplay.body import root_of
from iwreplay.motion.blend import smooth
from iwreplay.motion.model import Approach, Stance
from iwreplay.motion.touching import worn_things
from iwreplay.pose import Pose, Vec3, compose, inverse, wrap_angle, yaw_of
from iwreplay.processes.support import dependents, parent_of, part_link
from iwreplay.scene.geometry import link_poses_at, shape_half
from iwreplay.scene.model import Joint, Thing
from iwreplay.scene.pages import pages_of
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import grip_point, handle_point, link_poses, thing_box, thing_of

__all__ = ["close", "lock", "open_"]

_LOCK_S = 0.8
#: positions of a swing that are tested for obstacles, and how much thinner the tested boxes are
_SWEEP = 8
_SKIN_M = 0.012
#: the lid of a box that stands before a wall is open where it leans on that: this share of its way is left over at most
_STOPS = 0.1
#: a fixed neighbour that the closed thing touches anyway is in the way where this much of a door's rim is in it
_RIM_M = 0.03
#: a hinge whose axis is less upright than this tilts what it carries
_UPRIGHT_AXIS = 0.9


def open_(scope: Scope) -> Plan:
    """Drives its joints open; a jar or bag without joints is opened (and unsealed) in place; a document at its next
    page."""
    thing = scope.thing("object")
    scope.need_affordance(thing, "open", f"open {scope.the(thing.id)}")
    if pages_of(thing):
        return turn_page(scope, thing)
    attrs = scope.state.attrs[thing.id]
    if attrs.get("open") is True and attrs.get("sealed") is not True:
        raise refuse("ALREADY", sentence(f"{scope.the(thing.id)} is open already."), blocker=thing.id)
    if attrs.get("locked") is True:
        raise refuse("LOCKED", sentence(f"{scope.the(thing.id)} is locked."), blocker=thing.id)
    if attrs.get("running") is True:
        raise refuse("RUNNING", sentence(f"{scope.the(thing.id)} is running."), blocker=thing.id)
    return _move(scope, thing, open_to=True)


def close(scope: Scope) -> Plan:
    """Drives its joints closed."""
    thing = scope.thing("object")
    scope.need_affordance(thing, "open", f"close {scope.the(thing.id)}")
    if scope.state.attr(thing.id, "open") is not True:
        raise refuse("ALREADY", sentence(f"{scope.the(thing.id)} is closed already."), blocker=thing.id)
    if pages_of(thing):
        return close_document(scope, thing)
    return _move(scope, thing, open_to=False)


def _move(scope: Scope, thing: Thing, *, open_to: bool) -> Plan:
    joints = [k.joint for k in thing.links if k.joint is not None]
    scope.need_off(thing)
    script = scope.script()
    if not joints:
        scope.use(
            script,
            thing.id,
            grip_point(thing, scope.state),
            hold_s=MOVE_S,
            end=(_opened(thing.id, open_to),),
            free_hand=True,
        )
        return Plan(steps=tuple(script.steps), obj=thing.id)
    load = _on_a_lid(scope, thing)
    if load:
        text = f"{scope.the(load)} is on {scope.the(thing.id)}; it has to be taken off first."
        raise refuse("BLOCKED", sentence(text), blocker=load)
    blocker = _obstacle(scope, thing, open_to=open_to)
    if blocker:
        text = f"{scope.the(thing.id)} does not {'open' if open_to else 'close'}: {scope.the(blocker)} is in the way."
        raise refuse("BLOCKED", sentence(text), blocker=blocker)
    riders = _riders(scope, thing)
    start = {j.name: scope.state.joints[f"{thing.id}.{j.name}"] for j in joints}
    goal = {j.name: j.open_at if open_to else 0.0 for j in joints}
    approach, pieces = _keeping_clear(scope, thing, start, goal)
    script.go_and_reach(approach)
    for n, piece in enumerate(pieces):

        def during(run: Run, share: float, piece: Piece = piece) -> None:
            done = piece.start + (piece.end - piece.start) * share
            _drive(run, thing, joints, start, riders=riders, share=done, open_to=open_to)

        end = (_opened(thing.id, open_to),) if n == len(pieces) - 1 else ()
        script.add(piece.motion, during=during if piece.end > piece.start else None, end=end)
    _look_at_result(scope, script, thing, goal)
    script.hold(SETTLE_S)

    def verify(run: Run) -> str:
        for j in joints:
            at = run.state.joints[f"{thing.id}.{j.name}"]
            wanted = j.open_at if open_to else 0.0
            if abs(at - wanted) > _STOPS * abs(j.open_at) + 0.005:
                return sentence(f"{scope.the(thing.id)} did not {'open' if open_to else 'close'} all the way.")
        return ""

    return Plan(steps=tuple(script.steps), obj=thing.id, verify=verify)


def _on_a_lid(scope: Scope, thing: Thing) -> str:
    """Id of something that stands on a part that tilts when it opens, or ""."""
    for rider, (link, _) in _riders(scope, thing).items():
        joint = thing.links[link].joint
        on = parent_of(scope.state, rider).how == "on"
        if on and joint is not None and joint.kind == "hinge" and abs(joint.axis[2]) < _UPRIGHT_AXIS:
            return rider
    return ""


def _handle_way(scope: Scope, thing: Thing, start: dict[str, float], goal: dict[str, float]) -> list[Vec3]:
    """Where the handle is at equal shares of the move."""
    moving = scope.state.copy()
    way: list[Vec3] = []
    for step in range(1, _SWEEP + 1):
        for joint, at in start.items():
            moving.joints[f"{thing.id}.{joint}"] = at + (goal[joint] - at) * step / _SWEEP
        handle = handle_point(thing, moving)
        if handle is not None:
            way.append(handle)
    return way


def _look_at_result(scope: Scope, script: Script, thing: Thing, goal: dict[str, float]) -> None:
    """Upright again, with the eyes on what is open or closed now; turned to it where the neck alone can't."""
    after = scope.state.copy()
    after.joints.update({f"{thing.id}.{joint}": at for joint, at in goal.items()})
    after.attrs[thing.id]["open"] = any(goal.values())
    point = eye_point(after, thing, script.body)
    script.eyes = point
    script.retract(holding=bool(scope.held))
    if abs(bearing(script.body, point)) > NECK_RAD and not scope.seat:
        after.body = script.body
        yaw = yaw_of((script.body[3], script.body[4], script.body[5], script.body[6]))
        to = wrap_angle(yaw + bearing(script.body, point))
        if scope.planner.turn(after, to) is None:
            script.turn(to)
            script.look(point)


def _keeping_clear(
    scope: Scope, thing: Thing, start: dict[str, float], goal: dict[str, float]
) -> tuple[Approach, list[Piece]]:
    """Where to stand and what the body does so that the door does not swing through it, and so that one sees inside
    afterwards where there is such a place. Raises RefusedError: why the handle is not reached, or BLOCKED by the
    wearer."""
    way = _handle_way(scope, thing, start, goal)
    froms, tos = ({f"{thing.id}.{j}": at for j, at in joints.items()} for joints in (start, goal))
    sees = view_into(scope.state, thing, tos, holding=bool(scope.held))

    def pieces_of(approach: Approach, back: bool) -> list[Piece]:
        return pieces_from(scope, thing, approach, way, start=froms, goal=tos, back=back) or []

    def accept(approach: Approach, *, back: bool, seen: bool) -> bool:
        if seen and not back and sees is not None and not sees(approach.route.stance):
            return False
        pieces = pieces_of(approach, back)
        if seen and pieces and back and sees is not None:
            return sees(_stance_of(pieces[-1].motion.end))
        return bool(pieces)

    reached = False
    for seen in (True, False) if sees is not None else (False,):
        for back in (False, True):
            try:
                approach = _approach_handle(scope, thing, accept=partial(accept, back=back, seen=seen))
            except RefusedError:
                if not reached:  # what no hand gets to is not asked for once more
                    _approach_handle(scope, thing, accept=lambda approach: True)
                    reached = True
                continue
            return approach, pieces_of(approach, back)
    text = f"I am in the way of {scope.the(thing.id)} wherever I stand to move it."
    raise refuse("BLOCKED", text, blocker=WEARER)


def _stance_of(body: tuple[float, ...]) -> Stance:
    root = root_of(body)
    return Stance(root[0], root[1], yaw_of(root[3:]))


def _approach_handle(scope: Scope, thing: Thing, *, accept: Callable[[Approach], bool]) -> Approach:
    """To the handle where it is; out of reach (a window that opens outwards), to where it is when closed."""
    at = handle_point(thing, scope.state) or grip_point(thing, scope.state)
    try:
        return scope.approach(thing.id, at, free_hand=True, accept=accept)
    except RefusedError:
        shut = scope.state.copy()
        shut.joints.update({j: 0.0 for j in shut.joints if j.startswith(f"{thing.id}.")})
        closed = handle_point(thing, shut) or at
        if closed == at:
            raise
        return scope.approach(thing.id, closed, free_hand=True, accept=accept)


def _opened(thing: str, open_to: bool) -> Effect:
    def effect(run: Run) -> None:
        run.set(thing, "open", open_to)
        if open_to and run.state.attr(thing, "sealed") is True:
            run.set(thing, "sealed", False)

    return effect


def _riders(scope: Scope, thing: Thing) -> dict[str, tuple[int, Pose]]:
    """What rests directly on or in a moving link: id -> (link, link_from_thing). It is carried along."""
    poses = link_poses(thing, scope.state)
    moving = {i for i, k in enumerate(thing.links) if k.joint is not None or moves(thing, i)}
    out: dict[str, tuple[int, Pose]] = {}
    for other in dependents(scope.state, thing.id):
        parent = parent_of(scope.state, other)
        if parent.thing == thing.id and part_link(thing, parent.part) in moving:
            link = part_link(thing, parent.part)
            out[other] = (link, compose(inverse(poses[link]), scope.state.poses[other]))
    return out


def _drive(
    run: Run,
    thing: Thing,
    joints: list[Joint],
    start: dict[str, float],
    *,
    riders: dict[str, tuple[int, Pose]],
    share: float,
    open_to: bool,
) -> None:
    eased = smooth(share)
    at: dict[str, float] = {}
    for j in joints:
        goal = j.open_at if open_to else 0.0
        position = start[j.name] + (goal - start[j.name]) * eased
        at[f"{thing.id}.{j.name}"] = position
        run.drive(f"{thing.id}.{j.name}", position)
    if riders:
        poses = link_poses_at(thing, run.state.poses[thing.id], at)
        for rider, (link, rel) in riders.items():
            run.put(rider, compose(poses[link], rel))


def _obstacle(scope: Scope, thing: Thing, *, open_to: bool) -> str:
    """Id of something that the moving links would hit on their way, or ""."""
    state = scope.state
    riders = _riders(scope, thing)
    ignore: tuple[str, ...] = (thing.id, *riders, *worn_things(state))
    if scope.held:
        ignore = (*ignore, scope.held, *dependents(state, scope.held))
    start = {j: state.joints[j] for j in state.joints if j.startswith(f"{thing.id}.")}
    goal = {
        f"{thing.id}.{k.joint.name}": (k.joint.open_at if open_to else 0.0) for k in thing.links if k.joint is not None
    }
    beside = _attached(scope, thing)
    far = 1.0 if thing.fixed else 1.0 - _STOPS
    places = [{j: start[j] + (goal[j] - start[j]) * far * step / _SWEEP for j in goal} for step in range(_SWEEP + 1)]
    met = [_met(scope, thing, at, ignore, beside) for at in places]
    for at, hits in zip(places[1:], met[1:], strict=True):
        new = [h for h in hits if h not in met[0]]
        if new:
            return new[0]
        blocked = _rider_hit(scope, thing, riders, at, ignore)
        if blocked:
            return blocked
    return ""


def _met(
    scope: Scope, thing: Thing, at: dict[str, float], ignore: tuple[str, ...], beside: tuple[str, ...]
) -> tuple[str, ...]:
    """Ids of what the moving links are in with the joints (full names) there; what is `beside` them counts where it is
    deep in."""
    poses = link_poses_at(thing, scope.state.poses[thing.id], at)
    found: dict[str, None] = {}
    for grow, excused in ((-_SKIN_M, beside), (-_RIM_M, ())):
        for half, pose in _moving_boxes(thing, poses, grow=grow):
            found.update(dict.fromkeys(scope.sim.overlap_box(half, pose, ignore=(*ignore, *excused))))
    return tuple(found)


def _rider_hit(
    scope: Scope, thing: Thing, riders: dict[str, tuple[int, Pose]], at: dict[str, float], ignore: tuple[str, ...]
) -> str:
    """Id of a rider that would meet something: a bottle that stands out of a drawer."""
    state = scope.state
    poses = link_poses_at(thing, state.poses[thing.id], at)
    for rider, (link, rel) in riders.items():
        box = thing_box(thing_of(state, rider), state)
        offset = compose(inverse(state.poses[rider]), box.pose)
        half: Vec3 = tuple(max(0.002, h - _SKIN_M) for h in box.half)  # type: ignore[assignment]
        now = scope.sim.overlap_box(half, box.pose, ignore=ignore)
        moved = compose(compose(poses[link], rel), offset)
        if scope.sim.overlap_box(half, moved, ignore=(*ignore, *now)):
            return rider
    return ""


def _attached(scope: Scope, thing: Thing) -> tuple[str, ...]:
    """Ids of the fixed neighbours that a closed fixed thing touches anyway: its carcass, its frame, the wall beside
    it."""
    if not thing.fixed:
        return ()
    closed = link_poses_at(thing, scope.state.poses[thing.id], {})
    near = {
        h
        for half, pose in _moving_boxes(thing, closed, grow=0.01)
        for h in scope.sim.overlap_box(half, pose, ignore=(thing.id,))
    }
    return tuple(t.id for t in scope.state.scene.things if t.fixed and t.id in near)


def _moving_boxes(thing: Thing, poses: tuple[Pose, ...], *, grow: float = -_SKIN_M) -> Iterator[tuple[Vec3, Pose]]:
    for i, link in enumerate(thing.links):
        if not moves(thing, i):
            continue
        for shape in link.shapes:
            if shape.role != "visual":
                hx, hy, hz = shape_half(shape)
                half = (max(0.002, hx + grow), max(0.002, hy + grow), max(0.002, hz + grow))
                yield half, compose(poses[i], shape.pose)


def lock(scope: Scope) -> Plan:
    """Lock or unlock what is closed, with its key in the hand where it needs one."""
    thing = scope.thing("object")
    locking = scope.command.verb == "Lock"
    scope.need_affordance(thing, "lock", f"{'lock' if locking else 'unlock'} {scope.the(thing.id)}")
    attrs = scope.state.attrs[thing.id]
    if attrs.get("open") is True:
        raise refuse("OPEN", sentence(f"{scope.the(thing.id)} is open; it has to be closed first."), blocker=thing.id)
    if (attrs.get("locked") is True) == locking:
        raise refuse(
            "ALREADY",
            sentence(f"{scope.the(thing.id)} is {'locked' if locking else 'unlocked'} already."),
            blocker=thing.id,
        )
    tool = _key_in_hand(scope, thing)
    script = scope.script()
    point = handle_point(thing, scope.state) or grip_point(thing, scope.state)

    def effect(run: Run) -> None:
        run.set(thing.id, "locked", locking)

    scope.use(script, thing.id, point, hold_s=_LOCK_S, end=(effect,), free_hand=not tool)
    return Plan(steps=tuple(script.steps), obj=thing.id, tool=tool)


def _key_in_hand(scope: Scope, thing: Thing) -> str:
    """Id of the key in the hand; "" when none is needed. Raises RefusedError with NO_TOOL."""
    own = thing.props.get("key")
    keys = {t.id for t in scope.state.scene.things if "key" in t.affordances and t.props.get("key") == thing.id}
    if isinstance(own, str) and own:
        keys.add(own)
    if not keys:
        return ""
    if scope.held not in keys:
        raise refuse("NO_TOOL", f"I need the key of {scope.the(thing.id)} in my hand.", blocker=thing.id)
    return scope.held
