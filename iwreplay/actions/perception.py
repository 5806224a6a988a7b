"""What the wearer perceives and remembers: a fold over events, so that a replay rebuilds it exactly.

Sight comes from the frames' visible lists; touch from what was held, handled or touched. A remembered thing stays
known while it has not moved against what carries it.
"""

from __future__ import annotations

from typing import NamedTuple

from iwreplay.actions.naming import described, lateral_m, listed, public_name, room_name, touch_name, where
from iwreplay.events import Event, FrameCaptured, Happened, PrimitiveOutcome, StateDelta
from iwreplay.frames import READABLE_CAP_PX, cap_height_px
from iwreplay.pose import Pose, inverse, transform_point
from iwreplay.processes.support import Parent, closed_around, parent_of, relative_pose
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import exists, faces_of, room_at, thing_box, thing_of
from iwreplay.world.state import WorldState

__all__ = ["TOUCH_REACH_M", "Perception"]

#: how far from where it stands a Human without sight finds things with its hands
TOUCH_REACH_M = 1.25
#: a remembered thing that is farther than this from where it was has moved
_MOVED_M = 0.03
_RECENT = 16
#: most things that a Human without sight is told to be within reach
_MOST_FELT = 12
#: attributes whose change by a primitive means that the wearer had the thing in its hands
_HANDLING = ("parent", "held", "worn")


class _Fix(NamedTuple):
    parent: Parent
    pose: Pose


class Perception:
    """Memory of one wearer. `apply` takes every event after the state has folded it in."""

    def __init__(self, state: WorldState, *, sighted: bool) -> None:
        self._state = state
        self.sighted = sighted
        #: ids seen in the latest frames (those of one action), most pixels first
        self.visible: tuple[str, ...] = ()
        #: ids ever seen by the camera, in order of first sight
        self.seen: dict[str, None] = {}
        #: (thing, face) whose text was legible in a frame or was read, in order
        self.legible: dict[tuple[str, str], None] = {}
        #: things handled or named with success, latest first
        self.recent: tuple[str, ...] = ()
        self._fixes: dict[str, _Fix] = {}
        self._pixels: dict[str, int] = {}
        self._frames_of: int | None = None
        self._handled: dict[str, None] = {}

    # ------------------------------------------------------------------ fold

    def apply(self, event: Event) -> tuple[str, ...]:
        """Folds one event in; returns the things that this event made visible for the first time."""
        if isinstance(event, FrameCaptured):
            return self._frame(event)
        if isinstance(event, StateDelta):
            if event.thing == WEARER and event.attr == "held" and isinstance(event.new, str) and event.new:
                self._handle(event.new)
            elif event.thing != WEARER and event.attr in _HANDLING and event.cause.startswith("primitive:"):
                self._handled[event.thing] = None
            if event.attr.startswith("text:"):
                # another text now: that the last one could be read says nothing of it
                self.legible.pop((event.thing, event.attr.removeprefix("text:")), None)
        elif isinstance(event, Happened):
            if event.what == "exposed_text":
                face = event.detail.get("face")
                self.legible[(event.obj, face if isinstance(face, str) else "")] = None
            if event.what in ("touch", "pour", "wipe", "wash", "soak", "cut", "fill"):
                for thing in (event.obj, event.dest):
                    if thing in self._state.attrs:
                        self._handled[thing] = None
        elif isinstance(event, PrimitiveOutcome):
            if event.ok:
                for thing in (event.dest, event.obj):
                    if thing in self._state.attrs and thing != WEARER:
                        self._recall(thing)
            for thing in self._handled:
                self._fix(thing)
            self._handled = {}
        return ()

    def _frame(self, event: FrameCaptured) -> tuple[str, ...]:
        if event.action is None or event.action != self._frames_of:
            self._pixels = {}
        self._frames_of = event.action
        fresh: list[str] = []
        for thing, pixels in event.visible.items():
            if thing not in self._state.attrs:
                continue
            self._pixels[thing] = max(pixels, self._pixels.get(thing, 0))
            if thing not in self.seen:
                self.seen[thing] = None
                fresh.append(thing)
            if self.sighted:
                self._fix(thing)
                self._look_at_text(thing, event)
        self.visible = tuple(sorted(self._pixels, key=lambda t: (-self._pixels[t], t)))
        return tuple(fresh)

    def _look_at_text(self, thing: str, event: FrameCaptured) -> None:
        owner = thing_of(self._state, thing)
        if not any(link.faces for link in owner.links):
            return
        caps = {f.name: f.cap_height_m for link in owner.links for f in link.faces}
        for face in faces_of(owner, self._state):
            if (thing, face.name) in self.legible or not self._state.attrs[thing].get(f"text:{face.name}"):
                continue
            x, y, behind = transform_point(inverse(event.camera), face.pose[:3])
            half_w, half_h = event.width / 2 / event.focal_px, event.height / 2 / event.focal_px
            in_view = abs(x) < -half_w * behind and abs(y) < -half_h * behind
            cap_px = cap_height_px(event.camera, focal_px=event.focal_px, at=face.pose, cap_height_m=caps[face.name])
            if in_view and cap_px >= READABLE_CAP_PX:
                self.legible[(thing, face.name)] = None

    def _fix(self, thing: str) -> None:
        if parent_of(self._state, thing).how != "fixed":
            self._fixes[thing] = _Fix(*relative_pose(self._state, thing))

    def _handle(self, thing: str) -> None:
        self._handled[thing] = None
        self._recall(thing)

    def _recall(self, thing: str) -> None:
        self.recent = (thing, *(t for t in self.recent if t != thing))[:_RECENT]

    # ------------------------------------------------------------------ questions

    def knows(self, thing: str) -> bool:
        """Whether the wearer can name this thing now."""
        if not exists(self._state, thing):
            return False
        if parent_of(self._state, thing).how in ("fixed", "held", "worn"):
            return True
        if self.sighted and thing in self._pixels:
            return True
        return self._remembers(thing, 0) or (not self.sighted and self.in_touch_reach(thing))

    def describe(self, state: WorldState, thing: str) -> str:
        """What the wearer calls a thing, told from the others of that name that it knows."""
        return described(state, thing, known=self.knows, sighted=self.sighted)

    def _remembers(self, thing: str, depth: int) -> bool:
        fix = self._fixes.get(thing)
        if fix is None or depth > 8 or not exists(self._state, thing):
            return False
        parent, pose = relative_pose(self._state, thing)
        if parent != fix.parent or not _close(pose, fix.pose):
            return False
        if not parent.thing or parent_of(self._state, parent.thing).how == "fixed":
            return True
        return parent_of(self._state, parent.thing).how == "held" or self._remembers(parent.thing, depth + 1)

    def in_touch_reach(self, thing: str) -> bool:
        """Within reach of the hands from where the wearer stands, in the same room and not shut away."""
        state = self._state
        if not exists(state, thing) or closed_around(state, thing):
            return False
        x, y = state.body[0], state.body[1]
        box = thing_box(thing_of(state, thing), state)
        if room_at(state.scene, x, y) != room_at(state.scene, box.pose[0], box.pose[1]):
            return False
        gap = max(0.0, ((box.pose[0] - x) ** 2 + (box.pose[1] - y) ** 2) ** 0.5 - max(box.half[:2]))
        return gap <= TOUCH_REACH_M and box.pose[2] <= 2.1

    def printed_words(self, thing: Thing) -> tuple[str, ...]:
        """Words printed on the faces of a thing that the wearer has been able to read, lower case."""
        words: list[str] = []
        for name in (f.name for link in thing.links for f in link.faces):
            if (thing.id, name) in self.legible:
                text = self._state.attrs[thing.id].get(f"text:{name}")
                if isinstance(text, str):
                    words.extend(w.strip(".,:;!?()\"'").lower() for w in text.replace("\n", " ").split())
        return tuple(w for w in words if w)

    def at_hand(self) -> tuple[str, ...]:
        """Ids of what is perceived this moment, not remembered: seen in the latest frames (largest first) or, when
        blind, in touch reach; and what is held or worn."""
        state = self._state
        own = [
            t.id for t in state.scene.things if parent_of(state, t.id).how in ("held", "worn") and exists(state, t.id)
        ]
        if self.sighted:
            sensed = [t for t in self.visible if exists(state, t)]
        else:
            sensed = [t.id for t in state.scene.things if self.in_touch_reach(t.id)]
        return tuple(dict.fromkeys((*own, *sensed)))

    def _in_reach(self) -> list[Thing]:
        found = [t for t in self._state.scene.things if not t.fixed and self.in_touch_reach(t.id)]
        found = [t for t in found if parent_of(self._state, t.id).how not in ("held", "worn")]
        return sorted(found, key=lambda t: (lateral_m(self._state, t.id), t.id))

    def proprioception(self) -> dict[str, str]:
        """The wearer's own body and touch, as words; keys and values hold no identifier."""
        state = self._state
        own = state.attrs[WEARER]
        held, seat = str(own.get("held") or ""), str(own.get("sitting") or "")
        out = {
            "holding": self._name(held) if held else "nothing",
            "posture": str(own.get("posture") or "stand"),
            "room": room_name(state, str(own.get("room") or "")) or "outside",
        }
        if seat:
            out["sitting on"] = self._name(seat)
        worn = [t.id for t in state.scene.things if state.attrs[t.id].get("worn") is True]
        if worn:
            out["wearing"] = listed(self._name(t) for t in worn)
        if not self.sighted:
            out["within reach"] = self._felt() or "nothing"
        return out

    def _felt(self) -> str:
        """ "left: mug on the counter; ahead: table": each thing in words that may be typed as they stand."""
        sides: dict[str, list[str]] = {"left": [], "ahead": [], "right": []}
        for thing in self._in_reach()[:_MOST_FELT]:
            aside = lateral_m(self._state, thing.id)
            side = "left" if aside < -0.12 else "right" if aside > 0.12 else "ahead"
            sides[side].append(f"{touch_name(thing)} {where(self._state, thing.id, sighted=False)}".strip())
        return "; ".join(f"{side}: {', '.join(found)}" for side, found in sides.items() if found)

    def _name(self, thing: str) -> str:
        owner = thing_of(self._state, thing)
        return public_name(owner) if self.sighted else touch_name(owner)


def _close(a: Pose, b: Pose) -> bool:
    return sum((p - q) ** 2 for p, q in zip(a[:3], b[:3], strict=True)) <= _MOVED_M**2
