"""What an Assistant must have read, seen or remembered, and whether a recorded episode showed it in time.

Needed is every text that the episode exposes by Read, and what the task declares as `evidence`. Each must be in a frame
that the Assistant was shown (at most 32 of those so far, statements 9 to 13) before it spoke the words that led to what
depends on it. Texts are drawn and measured; things are in a frame when its ids say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from iwreplay.actions.naming import public_name
from iwreplay.app.legible import MeasuredText, measure_text
from iwreplay.checks import Check, Monitor, compile_check
from iwreplay.events import AssistantDecision, Event, FrameCaptured, Happened, Observation
from iwreplay.frames import READABLE_CAP_PX, cap_height_px
from iwreplay.frames.legibility import on_its_head
from iwreplay.frames.maker import FrameMaker
from iwreplay.pose import inverse, transform_point
from iwreplay.scene.lettering import face_shows
from iwreplay.scene.model import CompiledScene, Face, Thing
from iwreplay.taskpack.model import TaskPack
from iwreplay.world.geometry import faces_of
from iwreplay.world.state import WorldState, fold

__all__ = ["Proof", "prove_evidence"]

#: frames of one action: what is in none of the latest ones is out of sight
_LATEST = 4
#: of a frame, what a thing may take to be seen as a whole
_MOST_SHARE = 0.3
#: frames drawn for one text at most, the most promising first: what hides it is known when it is drawn
_MOST_DRAWN = 24


@dataclass
class Proof:
    """What was found of one need."""

    #: "the text of note_1.top", "mug_1"
    what: str
    #: of the thing, and of the face when it is about a text
    thing: str
    face: str
    #: it is about a text
    reads: bool
    #: "" or what is wrong and what to do
    problem: str
    #: what depends on it: "[Grab] red mug in turn 3"; "" when nothing that the episode does
    before: str = ""
    #: it must have been remembered
    gone: bool = False
    #: the frame that shows it, and the first turn at which the Assistant was shown that one; "" and None without one
    frame: str = ""
    turn: int | None = None
    #: measured in that frame, and what it says
    text: MeasuredText | None = None
    words: str = ""


class _Need(NamedTuple):
    thing: str
    #: face, "" for the whole thing or for any of its faces
    face: str
    #: the text, "" when it is about the thing or any text will do
    text: str
    reads: bool
    warmup: bool
    gone: bool
    #: by when: event of the log, and what happens then
    by: int
    why: str


class _Frame(NamedTuple):
    seq: int
    event: FrameCaptured


@dataclass
class _Story:
    """What of a log matters here."""

    frames: dict[str, _Frame] = field(default_factory=dict)
    #: seq, turn and frames of what the Assistant was shown
    shown: list[tuple[int, int, tuple[str, ...]]] = field(default_factory=list)
    exposed: list[tuple[int, Happened]] = field(default_factory=list)
    #: seq of the decision "done", or of the end of the log
    end: int = 0

    def before(self, seq: int) -> list[tuple[int, int, tuple[str, ...]]]:
        """What the Assistant was shown up to the words that led to event `seq`."""
        return [s for s in self.shown if s[0] < seq]


def prove_evidence(
    task: TaskPack, scene: CompiledScene, events: tuple[Event, ...], *, maker: FrameMaker, exposed: bool = True
) -> tuple[Proof, ...]:
    """Every need of the task with what the episode shows of it: texts that it exposes (with `exposed`), then what the
    task declares."""
    story = _told(events)
    if not exposed:
        story.exposed.clear()
    needs = list(_needs(task, scene, events, story))
    spots = _spots(needs, story, scene, events)
    return tuple(_proof(n, story, spots.get(i, _Spots()), scene, maker) for i, n in enumerate(needs))


def _told(events: tuple[Event, ...]) -> _Story:
    story = _Story(end=len(events))
    for seq, event in enumerate(events):
        if isinstance(event, FrameCaptured):
            story.frames[event.frame_id] = _Frame(seq, event)
        elif isinstance(event, Observation) and event.role == "assistant":
            story.shown.append((seq, event.turn, event.frames))
        elif isinstance(event, Happened) and event.what == "exposed_text":
            story.exposed.append((seq, event))
        elif isinstance(event, AssistantDecision) and event.decision == "done" and story.shown:
            # what is shown when nothing can be said any more comes too late
            story.end = story.shown[-1][0]
    return story


# ---------------------------------------------------------------------------------------- what is needed


def _needs(task: TaskPack, scene: CompiledScene, events: tuple[Event, ...], story: _Story) -> Iterator[_Need]:
    gates = list(_gates_on_texts(task, scene))
    declared = task.evidence or ()
    formulas: dict[str, Any] = {f"gate{i}": trigger for i, (trigger, _) in enumerate(gates)}
    objectives = {o.id: o.formula for o in task.objectives}
    for i, e in enumerate(declared):
        formulas[f"evidence{i}"] = objectives[e.before] if isinstance(e.before, str) else e.before
    first = _first_true(task, scene, events, formulas)
    for seq, event in {(e.obj, e.detail.get("face"), e.detail.get("text")): (s, e) for s, e in story.exposed}.values():
        by, why = story.end, "the Assistant is done"
        for i, (_, things) in enumerate(gates):
            at = first.get(f"gate{i}")
            if at is not None and seq < at < by and (not things or event.obj in things):
                by, why = at, _moment(events[at])
        face, text = event.detail.get("face"), event.detail.get("text")
        yield _Need(event.obj, str(face or ""), str(text or ""), True, False, False, by, why)
    for i, e in enumerate(declared):
        at = first.get(f"evidence{i}")
        thing, _, face = (e.read or e.see).partition(".")
        goal = e.before if isinstance(e.before, str) else "what it is for"
        by, why = (story.end, "") if at is None else (at, _moment(events[at], goal))
        yield _Need(thing, face, "", bool(e.read), e.source == "warmup", e.gone, by, why)


def _moment(event: Event, goal: str = "what it is for") -> str:
    if isinstance(event, AssistantDecision):
        return f"the Assistant speaks in turn {event.turn}"
    return f"{getattr(event, 'command', '') or goal} in turn {event.turn}"


def _gates_on_texts(task: TaskPack, scene: CompiledScene) -> Iterator[tuple[Any, frozenset[str]]]:
    """(trigger, ids of the things whose text must be exposed before it; empty is any) of every gate that asks so."""
    formulas = [*(o.formula for o in task.objectives), *(g.formula for g in (*task.gates, *task.keeps))]
    for formula in formulas:
        for part in _parts(formula, scene):
            if part[0] == "gate" and len(part) == 3:
                for inner in _parts(part[2], scene):
                    if inner[0] == "event" and isinstance(inner[1], dict) and inner[1].get("kind") == "exposed_text":
                        obj = inner[1].get("obj")
                        yield part[1], frozenset({obj} if isinstance(obj, str) else ())


def _parts(f: Any, scene: CompiledScene) -> Iterator[Any]:
    """A formula and everything in it; what is under a quantifier once for each thing that it ranges over."""
    if isinstance(f, list | tuple) and f:
        if f[0] in ("all", "exists") and len(f) == 4:
            for thing in _ranged_over(f[2], scene):
                yield from _parts(_bound(f[3], f[1], thing), scene)
            return
        if isinstance(f[0], str):
            yield f
        for x in f:
            yield from _parts(x, scene)


def _ranged_over(selector: Any, scene: CompiledScene) -> tuple[str, ...]:
    """Things of a selector with fixed members; none of one whose members are found at run time."""
    if selector[0] == "class":
        return tuple(t.id for t in scene.things if t.cls == selector[1])
    return tuple(selector[1:]) if selector[0] == "set" else ()


def _bound(f: Any, variable: str, thing: str) -> Any:
    if isinstance(f, dict):
        return {k: _bound(v, variable, thing) for k, v in f.items()}
    if isinstance(f, list | tuple):
        return [_bound(x, variable, thing) for x in f]
    return thing if f == variable else f


def _first_true(
    task: TaskPack, scene: CompiledScene, events: tuple[Event, ...], formulas: dict[str, Any]
) -> dict[str, int]:
    """The event of live interaction at which each formula first held; those that never did are left out."""
    if not formulas:
        return {}
    scripts = tuple(s.id for s in task.script)
    checks: dict[str, Check] = {}
    for name, formula in formulas.items():
        checks[name] = compile_check(formula, task=task.id, check=name, scene=scene, scripts=scripts)
    monitor = Monitor(checks, reached=frozenset(checks))
    for seq, event, state in fold(enumerate(events)):
        monitor.feed(seq, event, state)
    verdicts = monitor.verdicts()
    return {n: v.since for n, v in verdicts.items() if v.value and v.since is not None}


# ---------------------------------------------------------------------------------------- what was shown


class _Spot(NamedTuple):
    """A frame in which a face of a need could be read."""

    #: shown when it was read, then taller capitals: the greater the better
    rank: tuple[bool, float]
    event: FrameCaptured
    state: WorldState
    face: Face
    text: str


def _candidates(need: _Need, story: _Story) -> Iterator[FrameCaptured]:
    """The frames that the Assistant was shown in time and that show the thing, in their order."""
    ids = {f for _, _, frames in story.before(need.by) for f in frames}
    for frame_id, frame in story.frames.items():
        early = not need.warmup or frame.event.phase != "closed_loop"
        if frame_id in ids and early and need.thing in frame.event.visible:
            yield frame.event


@dataclass
class _Spots:
    """The frames in which a text could be read if nothing hid it."""

    #: the most promising ones, the best first
    best: list[_Spot] = field(default_factory=list)
    #: ids of all
    frames: set[str] = field(default_factory=set)

    def add(self, spot: _Spot) -> None:
        self.frames.add(spot.event.frame_id)
        self.best = sorted([*self.best, spot], key=lambda s: s.rank, reverse=True)[:_MOST_DRAWN]


def _spots(needs: list[_Need], story: _Story, scene: CompiledScene, events: tuple[Event, ...]) -> dict[int, _Spots]:
    """Per need about a text its frames, found without drawing."""
    wanted: dict[str, list[int]] = {}
    for i, need in enumerate(needs):
        if need.reads:
            for frame in _candidates(need, story):
                wanted.setdefault(frame.frame_id, []).append(i)
    things = {t.id: t for t in scene.things}
    wished = {i: _wished(needs[i], story) for i in {i for found in wanted.values() for i in found}}
    found: dict[int, _Spots] = {}
    for _, event, state in fold(enumerate(events)):
        if not isinstance(event, FrameCaptured):
            continue
        for i in wanted.get(event.frame_id, ()):
            need = needs[i]
            for face, text in _written(things[need.thing], need, state):
                cap_px = _rough_cap_px(event, things[need.thing], face, state)
                if cap_px < READABLE_CAP_PX:
                    continue
                rank = (event.frame_id in wished[i], cap_px)
                found.setdefault(i, _Spots()).add(_Spot(rank, event, state.copy(), face, text))
    return found


def _wished(need: _Need, story: _Story) -> frozenset[str]:
    """Where a text is looked for first: in what the Assistant was shown right after it was read, or else in what it was
    shown last."""
    read = (
        at
        for at, e in story.exposed
        if e.obj == need.thing and need.face in ("", e.detail.get("face")) and need.text in ("", e.detail.get("text"))
    )
    since = next(read, None)
    if since is not None:
        for seq, _, frames in story.before(need.by):
            if seq > since:
                return frozenset(frames)
    return _latest_shown(need, story)


def _latest_shown(need: _Need, story: _Story) -> frozenset[str]:
    before = story.before(need.by)
    return frozenset(before[-1][2]) if before else frozenset()


def _written(thing: Thing, need: _Need, state: WorldState) -> Iterator[tuple[Face, str]]:
    attrs = state.attrs[thing.id]
    for face in (f for link in thing.links for f in link.faces):
        text = attrs.get(f"text:{face.name}")
        if not isinstance(text, str) or not text.strip() or not face_shows(thing, face, attrs):
            continue
        if need.face in ("", face.name) and need.text in ("", text):
            yield face, text


def _rough_cap_px(event: FrameCaptured, thing: Thing, face: Face, state: WorldState) -> float:
    """Height of its capitals if nothing hides them; 0 when its middle is out of the picture or it is upside down in
    it."""
    at = next(f for f in faces_of(thing, state) if f.name == face.name)
    x, y, behind = transform_point(inverse(event.camera), at.pose[:3])
    half_w, half_h = event.width / 2 / event.focal_px, event.height / 2 / event.focal_px
    if not (abs(x) < -half_w * behind and abs(y) < -half_h * behind) or on_its_head(event.camera, at.pose):
        return 0.0
    return cap_height_px(event.camera, focal_px=event.focal_px, at=at.pose, cap_height_m=face.cap_height_m)


# ---------------------------------------------------------------------------------------- the proof


def _proof(need: _Need, story: _Story, spots: _Spots, scene: CompiledScene, maker: FrameMaker) -> Proof:
    thing = next(t for t in scene.things if t.id == need.thing)
    named = f"{need.thing}.{need.face}" if need.face else need.thing
    what = f"the text of {named}" if need.reads else named
    proof = Proof(what, need.thing, need.face, need.reads, "", before=need.why, gone=need.gone)
    if not need.why:
        proof.problem = f"{what} is declared to be needed before something that the oracle never does; mend `before`"
        return proof
    found = _read(spots.best, thing, maker, proof) if need.reads else _seen(need, story)
    if found is None:
        proof.problem = f"{what} {_missed(need, story, proof)}; before: {need.why}. {_advice(need, story, thing)}"
        return proof
    proof.frame = found.frame_id
    proof.turn = min(t for _, t, frames in story.before(need.by) if found.frame_id in frames)
    if need.gone:
        still = _still_there(need, story, spots)
        if still:
            proof.problem = (
                f"{what} is still in view in {still}, right before {need.why}: nothing needs to be remembered. Have "
                f"the Human go elsewhere first, or drop `gone`"
            )
    return proof


def _read(spots: list[_Spot], thing: Thing, maker: FrameMaker, proof: Proof) -> FrameCaptured | None:
    for spot in spots:
        measured = measure_text(
            maker, spot.state, camera=spot.event.camera, thing=thing, face=spot.face, text=spot.text
        )
        if measured.readable or proof.text is None or measured.shown > proof.text.shown:
            proof.text, proof.words = measured, spot.text
            proof.face, proof.frame = spot.face.name, spot.event.frame_id
        if measured.readable:
            return spot.event
    return None


def _seen(need: _Need, story: _Story) -> FrameCaptured | None:
    latest = _latest_shown(need, story)
    found = list(_candidates(need, story))

    def rank(frame: FrameCaptured) -> tuple[bool, bool, int]:
        seen = frame.visible[need.thing]
        # what fills the picture is too near for its outline, and for its state, to be seen
        return frame.frame_id in latest, seen <= _MOST_SHARE * frame.width * frame.height, seen

    return max(found, key=rank, default=None)


def _missed(need: _Need, story: _Story, proof: Proof) -> str:
    """Why nothing that was shown does."""
    if proof.text is not None:
        return f"{proof.text.trouble()} in {proof.frame}, the best frame that the Assistant is shown"
    shown = len({f for _, _, frames in story.before(need.by) for f in frames})
    phase = " of the warmup" if need.warmup else ""
    seen = list(_candidates(need, story))
    if seen and need.reads:
        return (
            f"is too small, turned away, upside down or cut off in each of the {len(seen)} shown frames{phase} that "
            f"have the thing"
        )
    return f"is in none of the {shown} frames{phase} that the Assistant is shown"


def _advice(need: _Need, story: _Story, thing: Thing) -> str:
    early = [s for s, e in story.exposed if e.obj == need.thing and s < need.by]
    at = story.before(need.by)
    if need.reads and early and (not at or early[0] > at[-1][0]):
        return "It is read in the same turn: end the turn after the Read"
    verb = "Read" if need.reads else "LookAt"
    return f"Have the Human look in an earlier turn: [Walk] {public_name(thing)}, [{verb}] {public_name(thing)}"


def _still_there(need: _Need, story: _Story, spots: _Spots) -> str:
    """A frame among the latest at the deciding turn that still shows it; ""."""
    before = story.before(need.by)
    latest = before[-1][2][-_LATEST:] if before else ()
    for frame_id in latest:
        if need.thing in story.frames[frame_id].event.visible and (not need.reads or frame_id in spots.frames):
            return frame_id
    return ""
