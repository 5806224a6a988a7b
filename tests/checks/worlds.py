"""A small world for the checks: a kitchen and a hall, toy relations that read positions only, and a log builder."""

from __future__ import annotations

from typing import Any

from iwreplay.checks import Relations
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    Contact,
    EpisodeConfig,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    FrameCaptured,
    Happened,
    Participant,
    PhaseChanged,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
)
from iwreplay.pose import Pose, from_xyz_yaw
from iwreplay.scene.model import CompiledScene, Face, Interior, Joint, Link, Room, Surface, Thing
from iwreplay.taskpack.model import HumanRole, Objective, OracleStep, TaskPack
from iwreplay.vocabulary import WEARER, AttrValue
from iwreplay.world.state import WorldState

_DOOR = Joint(name="door", kind="hinge", axis=(0.0, 0.0, 1.0), lo=0.0, hi=1.6, open_at=1.5, handle=(0.3, 0.0, 0.5))


def thing(
    id: str,
    cls: str,
    at: tuple[float, float, float],
    *affordances: str,
    fixed: bool = False,
    attrs: dict[str, AttrValue] | None = None,
    props: dict[str, AttrValue] | None = None,
    links: tuple[Link, ...] = (Link(name="base"),),
) -> Thing:
    return Thing(
        id=id,
        cls=cls,
        name=cls,
        nouns=(cls,),
        fixed=fixed,
        links=links,
        pose=from_xyz_yaw(*at, 0.0),
        affordances=affordances,
        attrs=attrs or {},
        props=props or {},
        bounds_half=(0.05, 0.05, 0.05),
    )


_TABLE = (Link(name="base", surfaces=(Surface(name="top", pos=(0.0, 0.0, 0.8), half=(0.5, 0.5)),)),)
_FRIDGE = (
    Link(
        name="base",
        interiors=(Interior(name="main", pos=(0.0, 0.0, 1.0), half=(0.4, 0.4, 0.9), closed_by=("door",)),),
    ),
    Link(name="door", parent=0, joint=_DOOR),
)
_BOX = (Link(name="base", interiors=(Interior(name="main", pos=(0.0, 0.0, 0.1), half=(0.3, 0.3, 0.1)),)),)
_NOTE = (Link(name="base", faces=(Face(name="front", pose=from_xyz_yaw(0, 0, 0, 0.0), size=(0.1, 0.1)),)),)

THINGS: tuple[Thing, ...] = (
    thing("table_1", "table", (0.0, 0.0, 0.0), "surface", "wipe", fixed=True, links=_TABLE),
    thing("shelf_1", "shelf", (5.0, 0.0, 0.0), "surface", fixed=True, links=_TABLE),
    thing("fridge_1", "fridge", (0.0, 5.0, 0.0), "container", "open", fixed=True, links=_FRIDGE, attrs={"open": False}),
    thing(
        "oven_1",
        "oven",
        (3.0, 5.0, 0.0),
        "container",
        "open",
        "machine",
        "switch",
        fixed=True,
        links=_FRIDGE,
        attrs={"open": False, "running": False, "cycle": 0},
    ),
    thing("box_1", "box", (5.0, 5.0, 0.0), "container", "grab", links=_BOX),
    thing("box_2", "box", (7.0, 5.0, 0.0), "container", "grab", links=_BOX),
    thing(
        "mug_1",
        "mug",
        (0.1, 0.1, 0.8),
        "grab",
        "wash",
        "liquid_container",
        attrs={"clean": False},
        props={"size_l": 0.3},
    ),
    thing("mug_2", "mug", (0.2, 0.1, 0.8), "grab", "wash", "liquid_container", props={"size_l": 0.3}),
    thing("mug_3", "mug", (5.0, 0.1, 0.8), "grab", "wash", "liquid_container", props={"size_l": 0.5}),
    thing("sponge_1", "sponge", (0.3, 0.1, 0.8), "grab", "wiper", "soak"),
    thing("sponge_2", "sponge", (0.4, 0.1, 0.8), "grab", "wiper", "soak"),
    thing("dough_1", "dough", (0.0, 0.3, 0.8), "grab", "cuttable", "cookable", "edible"),
    thing("phone_1", "phone", (5.1, 0.1, 0.8), "grab", "phone"),
    thing("note_1", "note", (0.0, 0.4, 0.8), "grab", "read", links=_NOTE, attrs={"text:front": "use before MAY"}),
)

ROOMS = (
    Room(id="kitchen", nouns=("kitchen",), rect=(-2.0, -2.0, 4.0, 8.0)),
    Room(id="hall", nouns=("hall",), rect=(4.0, -2.0, 9.0, 8.0)),
)


def scene(things: tuple[Thing, ...] = THINGS) -> CompiledScene:
    return CompiledScene(
        id="toy", format=1, rooms=ROOMS, portals=(), materials=(), things=things, lights=(), spawn=(1.0, 1.0, 0.0)
    )


def holds(state: WorldState, relation: str, a: str, b: str) -> bool:
    """Positions only: on or in a thing is within 1 m of it in the plane; in a room is in its rectangle."""
    if state.attrs[a].get("exists") is False:
        return False
    x, y, z = _at(state, a)
    if relation == "in_room":
        room = next(r for r in state.scene.rooms if r.id == b)
        return room.rect[0] <= x < room.rect[2] and room.rect[1] <= y < room.rect[3]
    if b == "floor":
        return z < 0.05
    owner = b.split(".", 1)[0]
    if state.attrs[owner].get("exists") is False:
        return False
    bx, by, bz = _at(state, owner)
    near = abs(x - bx) <= 1.0 and abs(y - by) <= 1.0
    if relation == "ontop":
        return near and 0.5 < z - bz < 1.5
    if relation == "inside":
        return near and 0.0 <= z - bz < 0.5
    if relation == "left_of":
        return x < bx
    if relation == "right_of":
        return x > bx
    return near


def support_of(state: WorldState, thing_id: str) -> tuple[str, str, str] | None:
    for t in state.scene.things:
        if t.fixed and holds(state, "ontop", thing_id, t.id):
            return ("on", t.id, "top")
    return None


def _at(state: WorldState, thing_id: str) -> tuple[float, float, float]:
    if thing_id == WEARER:
        return state.body[0], state.body[1], state.body[2]
    return state.poses[thing_id][:3]


TOY = Relations(holds=holds, support_of=support_of, version="toy")


def task(**changes: Any) -> TaskPack:
    base: dict[str, Any] = {
        "format": 1,
        "id": "T01",
        "family": "guidance",
        "title": "toy",
        "scene": "toy",
        "request": "help me",
        "human": HumanRole(role="cook", restriction="guidance"),
        "oracle": (OracleStep(say="go", do=("[NoOp]",)),),
        "objectives": (Objective(id="clean", text="the mug is clean", formula=["attr", "mug_1", "clean", True]),),
    }
    return TaskPack(**{**base, **changes})


_WHO = Participant(name="x", version="1")


class Story:
    """Builds a log event by event; times and phases are filled in."""

    def __init__(self, pack: TaskPack | None = None, *, things: tuple[Thing, ...] = THINGS) -> None:
        self.events: list[Event] = []
        self.state = WorldState(scene(things))
        self.time_s, self.turn, self.phase = 0.0, 0, "scene_init"
        self.action = 0
        self.add(
            EpisodeOpened,
            format_version=1,
            task=pack or task(),
            scene=self.state.scene,
            scene_hash="",
            config=EpisodeConfig(max_turns=8, max_actions=16),
            assistant=_WHO,
            human=_WHO,
            simulator=_WHO,
            renderer="none",
            fingerprint={},
        )

    def add(self, kind: type[Event], **fields: Any) -> int:
        """Appends an event; returns its sequence number."""
        event = kind(sim_time_s=self.time_s, turn=self.turn, phase=self.phase, **fields)  # type: ignore[arg-type]
        self.events.append(event)
        self.state.apply(event)
        return len(self.events) - 1

    def warmup(self) -> int:
        self.phase = "warmup"
        return self.add(PhaseChanged, previous="scene_init")

    def live(self) -> int:
        """Baseline snapshot; live interaction begins with it."""
        previous, self.phase, self.turn = self.phase, "closed_loop", 1
        self.add(PhaseChanged, previous=previous)
        self.events.append(self.state.snapshot("baseline"))
        self.state.apply(self.events[-1])
        return len(self.events) - 1

    def periodic(self) -> int:
        self.events.append(self.state.snapshot("periodic"))
        self.state.apply(self.events[-1])
        return len(self.events) - 1

    def end(self, *, reason: str = "done", valid: bool = True, detail: str = "") -> int:
        self.phase = "end"
        return self.add(EpisodeEnded, reason=reason, valid=valid, turns=self.turn, actions=self.action, detail=detail)

    def set(self, thing_id: str, attr: str, value: AttrValue) -> int:
        old = self.state.attrs[thing_id].get(attr)
        return self.add(StateDelta, thing=thing_id, attr=attr, old=old, new=value, cause="primitive:test")

    def move(self, thing_id: str, x: float, y: float, z: float, *, yaw: float = 0.0) -> int:
        pose: Pose = from_xyz_yaw(x, y, z, yaw)
        return self.add(PosesSampled, step=self.state.step + 1, things=(thing_id,), joints=(), values=pose)

    def jump(self, thing_id: str, x: float, y: float, z: float) -> int:
        """A snapshot that says something new: the thing is elsewhere, and held."""
        self.state.poses[thing_id] = from_xyz_yaw(x, y, z, 0.0)
        self.state.attrs[thing_id]["held"] = True
        return self.periodic()

    def happen(self, what: str, *, obj: str = "", dest: str = "", tool: str = "", **detail: AttrValue) -> int:
        return self.add(Happened, what=what, obj=obj, dest=dest, tool=tool, detail=detail)

    def touch(self, a: str, b: str) -> int:
        return self.add(Contact, a=a, b=b)

    def script(self, name: str) -> int:
        return self.add(ScriptedEvent, script=name)

    def say(self, text: str | None) -> int:
        return self.add(AssistantDecision, decision="interrupt" if text else "silent", text=text)

    def do(
        self,
        primitive: str,
        *,
        obj: str = "",
        dest: str = "",
        tool: str = "",
        code: str = "OK",
        distance_m: float = 0.0,
        source: str = "human",
        blocker: str = "",
    ) -> int:
        """A command and its outcome."""
        self.add(CommandIssued, action=self.action, text=f"[{primitive}]", source=source)
        seq = self.add(
            PrimitiveOutcome,
            action=self.action,
            command=f"[{primitive}]",
            verb=primitive,
            primitive=primitive,
            obj=obj,
            dest=dest,
            tool=tool,
            ok=code == "OK",
            code=code,
            refused=code != "OK",
            started_s=self.time_s,
            duration_s=0.0,
            distance_m=distance_m,
            blocker=blocker,
        )
        self.action += 1
        return seq

    def frame(self) -> int:
        """An event that says nothing about the world."""
        return self.add(
            FrameCaptured,
            frame_id="f0",
            step=0,
            camera=from_xyz_yaw(0.0, 0.0, 0.0, 0.0),
            focal_px=100.0,
            width=4,
            height=4,
            renderer="none",
            pixels_sha256=None,
            visible={},
            cause="action",
        )
