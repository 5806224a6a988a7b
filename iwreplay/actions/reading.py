"""Reading: the text on a thing in the hand, or where it is from as near as it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Literal, NamedTuple

from iwreplay.actions.before_the_eyes import READ_S, read_in_hand, squarely_before
from iwreplay.actions.gaze import NECK_RAD, bearing
from iwreplay.actions.plan import Effect, Plan, Run, Script
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.body import key_poses
from iwreplay.motion.model import Posture, Route
from iwreplay.motion.walking import facing_stance
from iwreplay.pose import Pose, Vec3, rotate, transform_point
from iwreplay.processes.support import closed_around
from iwreplay.scene.lettering import face_shows
from iwreplay.scene.model import Face, Thing
from iwreplay.world.geometry import PlacedFace, faces_of, thing_of
from iwreplay.world.state import WorldState

__all__ = ["ReadingView", "need_uncovered", "read", "reading_views"]

#: smallest height of a letter that can be read, as a share of its distance: 5 pixels in a 640x480 frame with a field
#: of view of 60 degrees, and people read less than 4.75 badly; the tilt of its face shortens it
_LEGIBLE_RAD = 0.012
#: where the ends of the text are, as a share of the width of its face
_ENDS = 0.4
#: and where its first and last lines may be, as a share of the height
_ROWS = 0.3
#: a frame shows what is so near to the middle of what is looked at: 32 degrees, a little less than half its width
_IN_PICTURE_COS = 0.85
#: what is less than 15 degrees from straight below the eyes is hidden by one's own chest and feet
_BEFORE_THE_FEET = 0.27
#: a face seen at a flatter angle than this is not readable
_FACING = 0.2
#: how much nearer than the feet a bent body brings the eyes, and the farthest that one walks up to see
_LEAN_M, _FARTHEST_M = 0.4, 4.0
#: of the eyes when one stands, stoops or crouches, and how far they are ahead of the feet
_EYE_HEIGHTS_M, _EYES_AHEAD_M = (1.6, 1.3, 1.1, 0.95), 0.15
#: places tried for one face, and how far apart they are at least
_TRIES, _APART_M = 24, 0.15

#: why a face can't be read from somewhere, the worst first
_Trouble = Literal["away", "hidden", "small"]
_TROUBLES: tuple[_Trouble, ...] = ("away", "hidden", "small")


class _Verdict(NamedTuple):
    """What reading would give from one body."""

    #: the faces that can be read, the one that looks at the eyes best first
    ready: list[PlacedFace]
    #: the least trouble with the others, and what hides the face
    trouble: _Trouble
    blocker: str
    #: the first of `ready` is in the picture from end to end, and nothing hides a part of it
    whole: bool


class ReadingView(NamedTuple):
    """How Read comes to see a face."""

    #: of the wearer, looking at it
    body: tuple[float, ...]
    posture: Posture
    #: where the thing is meanwhile (world_from_thing); None where it was: it is not taken into the hand
    held_at: Pose | None


def reading_views(scope: Scope, thing: Thing, face: Face) -> Iterator[ReadingView]:
    """How Read would see one face of a thing with text on it, after as long a walk as it takes: where the thing is,
    and before the eyes if it can be taken into the hand. Changes nothing."""
    texts = {face.name: face}
    placed = [f for f in faces_of(thing, scope.state) if f.name == face.name]
    found = None if closed_around(scope.state, thing.id) else _seen_in_place(scope, thing, placed, texts)
    if found is not None:
        yield found
    if "grab" in thing.affordances:
        camera = key_poses(scope.state.body).camera
        yield ReadingView(scope.state.body, "stand", squarely_before(camera, placed[0], scope.state.poses[thing.id]))


def _seen_in_place(scope: Scope, thing: Thing, placed: list[PlacedFace], texts: dict[str, Face]) -> ReadingView | None:
    routes = list(_viewpoints(scope, thing, placed, texts))
    part: ReadingView | None = None
    postures: tuple[Posture, ...] = ("stand", "stoop", "crouch")
    for posture in postures:
        for route in [_on_the_spot(scope, placed), *routes]:
            script = scope.script()
            script.walk(route)
            if posture != "stand":
                script.posture(posture)
            found = _verdict(scope, thing, placed, texts, script.body)
            if found.ready and (found.whole or part is None):
                part = ReadingView(script.look(placed[0].pose[:3]).body, posture, None)
                if found.whole:
                    return part
    return part


def read(scope: Scope) -> Plan:
    """A close look at the text on a thing: in the hand every face in turn, elsewhere the faces that show."""
    thing = scope.thing("target")
    written = [f for link in thing.links for f in link.faces if scope.state.attr(thing.id, f"text:{f.name}")]
    texts = {f.name: f for f in written if face_shows(thing, f, scope.state.attrs[thing.id])}
    if not texts:
        why = "nothing can be seen on it now" if written else "there is no writing on it"
        raise scope.no_affordance(thing.id, f"read {scope.the(thing.id)}; {why}")
    if scope.held == thing.id:
        faces = [f for f in faces_of(thing, scope.state) if f.name in texts]
        return read_in_hand(scope, thing, faces, partial(_exposes, thing.id))
    return _read_in_place(scope, thing, texts)


def need_uncovered(scope: Scope, thing: Thing) -> None:
    """Raises RefusedError with OCCLUDED for what is shut away; behind a pane the line of sight decides."""
    shut = closed_around(scope.state, thing.id)
    if shut and not _has_panes(scope, shut):
        text = f"{scope.the(thing.id)} is inside {scope.the(shut)}, which is closed."
        raise refuse("OCCLUDED", sentence(text), blocker=shut)


def _has_panes(scope: Scope, container: str) -> bool:
    """Whether some door or lid of it lets the eye through."""
    clear = {m.name for m in scope.state.scene.materials if m.alpha < 1.0}
    moving = [k for k in thing_of(scope.state, container).links if k.joint is not None]
    return any(s.role != "visual" and s.material in clear for k in moving for s in k.shapes)


def _exposes(thing: str, face_name: str) -> Effect:
    def effect(run: Run) -> None:
        text = run.state.attr(thing, f"text:{face_name}")
        page = run.state.attr(thing, "page")
        numbered = {"page": page} if page and face_name == "page" else {}
        run.happened("exposed_text", obj=thing, detail={"face": face_name, "text": text, **numbered})

    return effect


# ---------------------------------------------------------------------- where it is


def _read_in_place(scope: Scope, thing: Thing, texts: dict[str, Face]) -> Plan:
    need_uncovered(scope, thing)
    placed = [f for f in faces_of(thing, scope.state) if f.name in texts]
    here = _verdict(scope, thing, placed, texts, scope.state.body)
    if here.ready and (here.whole or scope.seat):
        return _reading(scope, thing, scope.script(), here.ready)
    if scope.seat:
        raise _cannot(scope, thing, here, seated=True)
    script, found = _closer(scope, thing, placed, texts, here)
    return _reading(scope, thing, script, found.ready, upright=True)


def _reading(scope: Scope, thing: Thing, script: Script, ready: list[PlacedFace], *, upright: bool = False) -> Plan:
    if not scope.seat and abs(bearing(script.body, ready[0].pose[:3])) > NECK_RAD:
        to = facing_stance(script.body, ready[0].pose[:3]).yaw
        refusal = scope.planner.turn(scope.state, to)
        if refusal is not None:
            raise RefusedError(refusal)
        script.turn(to)
    for at in ready:
        script.look(at.pose[:3])
        script.hold(READ_S, end=(_exposes(thing.id, at.name),))
    if upright and script.bent:
        script.eyes = ready[-1].pose[:3]
        script.retract(holding=bool(scope.held))
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _closer(
    scope: Scope, thing: Thing, placed: list[PlacedFace], texts: dict[str, Face], here: _Verdict
) -> tuple[Script, _Verdict]:
    """Up to where it can be read from end to end: a few steps, around the table it lies on, back from a wide board,
    bent down only when standing does not do. Where all of it is nowhere in the picture, part of it must do. Raises
    RefusedError."""
    routes = list(_viewpoints(scope, thing, placed, texts))
    best = here
    too_far = False
    far_m = scope.walk_m(thing.id)
    part: tuple[Script, _Verdict] | None = (scope.script(), here) if here.ready else None
    postures: tuple[Posture, ...] = ("stand", "stoop", "crouch")
    for posture in postures:
        if posture != "stand":
            routes = [_on_the_spot(scope, placed), *routes]
        for route in routes:
            script = scope.script()
            script.walk(route)
            if posture != "stand":
                script.posture(posture)
            found = _verdict(scope, thing, placed, texts, script.body)
            if found.ready and route.length_m <= far_m:
                if found.whole:
                    return script, found
                part = part or (script, found)
            too_far = too_far or bool(found.ready)
            best = max(best, found, key=lambda v: _TROUBLES.index(v.trouble))
    if part is not None:
        return part
    if too_far:
        text = f"{scope.the(thing.id)} is too far away to read; I have to walk there first."
        raise refuse("TOO_FAR", sentence(text), blocker=thing.id)
    raise _cannot(scope, thing, best)


def _on_the_spot(scope: Scope, placed: list[PlacedFace]) -> Route:
    """No step, but turned to the writing."""
    stance = facing_stance(scope.state.body, placed[0].pose[:3])
    return Route(((stance.x, stance.y),), 0.0, stance)


def _viewpoints(scope: Scope, thing: Thing, placed: list[PlacedFace], texts: dict[str, Face]) -> Iterator[Route]:
    """Ways to places before the faces from which the letters are large enough, the shortest first: so many from which
    all of a face is in the picture, and on the way there so many from which it is not."""
    for at in placed:
        farthest = min(_FARTHEST_M, texts[at.name].cap_height_m / _LEGIBLE_RAD + _LEAN_M)
        tried: list[tuple[float, float]] = []
        left = {True: _TRIES, False: _TRIES}
        for route in scope.planner.viewpoints(scope.state, thing.id, at.pose, within_m=farthest):
            end = (route.stance.x, route.stance.y)
            eyes = _eyes_at(at, end)
            if any(math.dist(end, p) < _APART_M for p in tried) or not any(
                _is_tall(texts[at.name], at, e) for e in eyes
            ):
                continue
            whole = _in_the_picture(at, eyes[0])
            if left[whole]:
                tried.append(end)
                yield route
                left[whole] -= 1
            if not left[True]:
                break


def _cannot(scope: Scope, thing: Thing, why: _Verdict, *, seated: bool = False) -> RefusedError:
    """The refusal that says what keeps the wearer from reading."""
    name = scope.the(thing.id)
    lift = "; I have to pick it up" if "grab" in thing.affordances else ""
    if why.trouble == "small":
        where = "from my seat" if seated else "from here"
        return refuse("TOO_FAR", f"The writing on {name} is too small to read {where}{lift}.", blocker=thing.id)
    if why.trouble == "hidden":
        text = f"{scope.the(why.blocker)} hides the writing on {name}."
        return refuse("OCCLUDED", sentence(text), blocker=why.blocker)
    return refuse("OCCLUDED", f"The writing on {name} faces away from me{lift}.", blocker=thing.id)


def _is_tall(face: Face, at: PlacedFace, eye: Vec3) -> bool:
    """Whether the letters are large enough, as the eye sees them, in the middle and at both ends."""
    ends = [transform_point(at.pose, (x * face.size[0], 0.0, 0.0)) for x in (0.0, -_ENDS, _ENDS)]
    return all(face.cap_height_m * _turned_to(at, eye, spot=p) >= _LEGIBLE_RAD * math.dist(eye, p) for p in ends)


def _eyes_at(at: PlacedFace, feet: tuple[float, float]) -> list[Vec3]:
    """About where the eyes of somebody are who stands there and faces the writing, in every posture."""
    away = math.dist(feet, at.pose[:2])
    share = max(0.0, 1.0 - _EYES_AHEAD_M / away) if away > 0.0 else 0.0
    x, y = (p + share * (f - p) for f, p in zip(feet, at.pose[:2], strict=True))
    return [(x, y, height) for height in _EYE_HEIGHTS_M]


def _turned_to(at: PlacedFace, eye: Vec3, *, spot: Vec3 | None = None) -> float:
    """Cosine between a face's normal and the way to the eye, from its middle or from a spot on it."""
    n = rotate(at.pose[3:], (0.0, 0.0, 1.0))
    d = tuple(e - p for e, p in zip(eye, spot or at.pose[:3], strict=True))
    length = math.hypot(*d)
    return sum(a * b for a, b in zip(n, d, strict=True)) / length if length > 0.0 else 0.0


def _verdict(
    scope: Scope, thing: Thing, placed: list[PlacedFace], texts: dict[str, Face], body: tuple[float, ...]
) -> _Verdict:
    """Which faces can be read by a body, and what is wrong with the best of the others."""
    there = scope.state.copy()
    there.body = body
    eye = key_poses(body).camera[:3]
    ready: list[PlacedFace] = []
    trouble: _Trouble = "away"
    blocker = ""
    for at in placed:
        if _turned_to(at, eye) < _FACING:
            continue
        aside = 0.3 * texts[at.name].size[0]
        spots = [transform_point(at.pose, (x, 0.0, 0.005)) for x in (0.0, -aside, aside)]
        hides = next(filter(None, (scope.planner.on_line_of_sight(there, thing.id, p) for p in spots)), "")
        if hides:
            if trouble == "away":
                trouble, blocker = "hidden", hides
        elif not _is_tall(texts[at.name], at, eye):
            trouble = "small"
        else:
            ready.append(at)
    ready.sort(key=lambda f: (-round(_turned_to(f, eye), 3), f.name))
    whole = bool(ready) and _in_the_picture(ready[0], eye) and not _in_part_hidden(scope, there, thing, ready[0])
    return _Verdict(ready, trouble, blocker, whole)


def _in_part_hidden(scope: Scope, there: WorldState, thing: Thing, at: PlacedFace) -> bool:
    """Whether something, also a part of the thing itself, is before a corner of the text."""
    for x in (-_ENDS, _ENDS):
        for y in (-_ROWS, _ROWS):
            corner = transform_point(at.pose, (x * at.size[0], y * at.size[1], 0.005))
            if scope.planner.on_line_of_sight(there, thing.id, corner):
                return True
            if scope.planner.hides_itself(there, thing.id, corner):
                return True
    return False


def _in_the_picture(at: PlacedFace, eye: Vec3) -> bool:
    """Whether both ends of the text are, when the eye looks at its middle, and not below the wearer's own body."""
    middle = tuple(m - e for m, e in zip(at.pose[:3], eye, strict=True))
    for x in (-_ENDS, 0.0, _ENDS):
        end = tuple(p - e for p, e in zip(transform_point(at.pose, (x * at.size[0], 0.0, 0.0)), eye, strict=True))
        if math.hypot(end[0], end[1]) < -_BEFORE_THE_FEET * end[2]:
            return False
        along = sum(a * b for a, b in zip(middle, end, strict=True))
        if along < _IN_PICTURE_COS * math.hypot(*middle) * math.hypot(*end):
            return False
    return True
