"""Checking scenes: that they hold together, that what is in them can be used, and that their texts can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec

from iwreplay.actions.grammar import parse_command
from iwreplay.actions.perception import Perception
from iwreplay.actions.reading import ReadingView, reading_views
from iwreplay.actions.scope import Scope
from iwreplay.app.legible import FLAT_CAP_PX, READABLE_CONTRAST, READABLE_SHOWN, measure_text
from iwreplay.app.scenes import compiled_scene
from iwreplay.body import key_poses
from iwreplay.errors import SceneError, TaskError
from iwreplay.events import EpisodeConfig
from iwreplay.frames import READABLE_CAP_PX
from iwreplay.frames.maker import FrameMaker
from iwreplay.frames.pages import Pixels
from iwreplay.motion import Route
from iwreplay.motion import trajectories as move
from iwreplay.render.text import TextFit, fit_text
from iwreplay.scene.lettering import face_shows
from iwreplay.scene.model import CompiledScene, Face, Thing
from iwreplay.usability import Problem, Usability
from iwreplay.world.state import WorldState
from recorder.simulators.mujoco_backend import MujocoSimulator

__all__ = ["FLAT_CAP_PX", "READABLE_CONTRAST", "Problem", "SceneCheck", "TextCheck", "check_scene", "read_texts"]


class TextCheck(msgspec.Struct, frozen=True, kw_only=True):
    """How one text can be read."""

    thing: str
    face: str
    text: str
    #: whole text on its face, with capitals of this height in metres
    fits: bool
    cap_height_m: float
    #: stand, stoop, crouch, or hand; "" when it can't be read from anywhere
    read_from: str
    #: height of a capital in the frame from there, pixels, and of ink to paper; None when it can't be read
    cap_px: float | None
    contrast: float | None
    #: share of its letters in view
    shown: float
    ok: bool


class SceneCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in one scene."""

    scene: str
    task: str | None
    ok: bool
    problems: tuple[Problem, ...]
    texts: tuple[TextCheck, ...]
    #: rooms that were walked to, and things, surfaces and interiors that a hand got to
    reached: int


def check_scene(
    wanted: str | None, *, task: str | None = None, progress: Callable[[int, int], None] = lambda done, of: None
) -> SceneCheck:
    """Checks a scene, with the things of a task in it if one is named. UnknownNameError for a name that is none; what
    does not hold together is in the answer."""
    try:
        scene, _, pack = compiled_scene(wanted, task=task, usable=False)
    except (SceneError, TaskError) as e:
        problem = Problem(what="layout", where="", sentence=str(e))
        return SceneCheck(scene=wanted or "", task=task, ok=False, problems=(problem,), texts=(), reached=0)
    check = _Check(scene)
    problems = [*check.usability.problems()]
    texts, every = [], sum(1 for _ in _texts(scene))
    for found, _ in check.texts():
        texts.append(found)
        progress(len(texts), every)
    problems += [_told(t) for t in texts if not t.ok]
    return SceneCheck(
        scene=scene.id,
        task=pack,
        ok=not problems,
        problems=tuple(problems),
        texts=tuple(texts),
        reached=check.usability.reached,
    )


def read_texts(wanted: str | None, *, task: str | None = None) -> Iterator[tuple[TextCheck, Pixels | None]]:
    """Every text of a scene, and its face as a frame shows it from where Read looks at it, turned square to the reader
    and enlarged to capitals of `FLAT_CAP_PX` (None where it can't be read). Errors as of `compiled_scene`."""
    yield from _Check(compiled_scene(wanted, task=task, usable=False)[0]).texts()


def _texts(scene: CompiledScene) -> Iterator[tuple[Thing, Face, str]]:
    for thing in scene.things:
        if thing.attrs.get("exists") is False:
            continue
        for link in thing.links:
            for face in link.faces:
                text = thing.attrs.get(f"text:{face.name}")
                # a screen that is off shows nothing to check
                if isinstance(text, str) and text.strip() and face_shows(thing, face, thing.attrs):
                    yield thing, face, text


def _told(t: TextCheck) -> Problem:
    if not t.fits:
        why = "does not fit its face"
    elif not t.read_from:
        why = "can't be read from anywhere, and the thing can't be taken into the hand"
    elif t.cap_px is not None and t.cap_px < READABLE_CAP_PX:
        why = f"has capitals of {t.cap_px:.1f} pixels from where it is read; {READABLE_CAP_PX} are needed"
    elif t.contrast is not None and t.contrast < READABLE_CONTRAST:
        why = f"has a contrast of {t.contrast:.1f} to its paper; {READABLE_CONTRAST:g} are needed"
    else:
        why = f"is in view with {100 * t.shown:.0f} % of its letters; {100 * READABLE_SHOWN:.0f} % are needed"
    return Problem(what="text", where=f"{t.thing}.{t.face}", sentence=f"the text {t.text!r} {why}")


class _Check:
    """One scene with its physics, doors open, and everything at rest, and with what draws it."""

    def __init__(self, scene: CompiledScene) -> None:
        self._scene = scene
        self.usability = Usability(scene, MujocoSimulator())
        self._state, self._planner = self.usability.state, self.usability.planner
        config = EpisodeConfig(max_turns=1, max_actions=1)
        self._maker = FrameMaker(scene, config=config)
        self._scope = Scope(
            command=parse_command("[Read] text"),
            state=self._state,
            sim=self.usability.sim,
            planner=self._planner,
            perception=Perception(self._state, sighted=True),
            config=config,
        )

    # ------------------------------------------------------------------ reading

    def _beside(self, thing: Thing) -> WorldState:
        """The state with the wearer where Walk brings it, before the thing if it can be walked to: who reads something
        goes there first."""
        there = self._state.copy()
        route = self._planner.route_to(self._state, thing.id)
        if isinstance(route, Route):
            there.body = move.walk(self._state.body, route).end
        return there

    def texts(self) -> Iterator[tuple[TextCheck, Pixels | None]]:
        """Each text, drawn from where Read would look at it, and measured; in the hand if it is not read where it
        is."""
        for thing, face, text in _texts(self._scene):
            fit = fit_text(text, face)
            found: tuple[TextCheck, Pixels | None] = _unread(thing, face, text, fit), None
            for view in reading_views(replace(self._scope, state=self._beside(thing)), thing, face):
                seen = self._seen(thing, face, text, fit, view)
                if seen[0].ok or found[1] is None:
                    found = seen
                if seen[0].ok:
                    break
            yield found

    def _seen(self, thing: Thing, face: Face, text: str, fit: TextFit, view: ReadingView) -> tuple[TextCheck, Pixels]:
        state = self._state.copy()
        state.body = view.body
        if view.held_at is not None:
            state.poses[thing.id] = view.held_at
        camera = key_poses(view.body).camera
        measured = measure_text(self._maker, state, camera=camera, thing=thing, face=face, text=text)
        found = TextCheck(
            thing=thing.id,
            face=face.name,
            text=text,
            fits=fit.fits,
            cap_height_m=fit.cap_height_m,
            read_from="hand" if view.held_at is not None else view.posture,
            cap_px=round(measured.cap_px, 2),
            contrast=round(measured.contrast, 2),
            shown=round(measured.shown, 2),
            ok=measured.readable,
        )
        return found, measured.flat


def _unread(thing: Thing, face: Face, text: str, fit: TextFit) -> TextCheck:
    return TextCheck(
        thing=thing.id,
        face=face.name,
        text=text,
        fits=fit.fits,
        cap_height_m=fit.cap_height_m,
        read_from="",
        cap_px=None,
        contrast=None,
        shown=0.0,
        ok=False,
    )
