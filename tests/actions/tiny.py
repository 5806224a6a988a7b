"""A tiny scene built by hand, for tests that need names and places but no physics."""

from __future__ import annotations

from iwreplay.actions.perception import Perception
from iwreplay.body import standing
from iwreplay.events import FrameCaptured
from iwreplay.pose import Vec3, from_xyz_yaw
from iwreplay.scene.geometry import initial_joints
from iwreplay.scene.model import CompiledScene, Face, Interior, Joint, Link, Room, Shape, Surface, Thing
from iwreplay.vocabulary import WEARER, AttrValue
from iwreplay.world.state import WorldState

__all__ = ["at_spawn", "frame", "scene_of", "seen_whole", "state_of", "thing"]


def thing(
    id_: str,
    name: str,
    at: Vec3,
    *,
    half: Vec3 = (0.04, 0.04, 0.05),
    adjectives: tuple[str, ...] = (),
    nouns: tuple[str, ...] | None = None,
    touch: tuple[str, ...] = (),
    fixed: bool = False,
    affordances: tuple[str, ...] = (),
    attrs: dict[str, AttrValue] | None = None,
    props: dict[str, AttrValue] | None = None,
    surfaces: tuple[str, ...] = (),
    interiors: tuple[str, ...] = (),
    door: bool = False,
    faces: tuple[str, ...] = (),
    repaint: str = "",
    yaw: float = 0.0,
) -> Thing:
    """A box with its bottom at `at`; with `door` its interiors are closed by a joint."""
    hx, hy, hz = half
    body = Shape(
        kind="box",
        size=half,
        pose=(0.0, 0.0, hz, 1.0, 0.0, 0.0, 0.0),
        material="m",
        repaint={repaint: {}} if repaint else {},
    )
    links = [
        Link(
            name="base",
            shapes=(body,),
            surfaces=tuple(Surface(name=s, pos=(0.0, 0.0, 2 * hz), half=(hx, hy)) for s in surfaces),
            interiors=tuple(
                Interior(name=i, pos=(0.0, 0.0, hz), half=(hx, hy, hz), closed_by=("door",) if door else ())
                for i in interiors
            ),
            # looks to the thing's front, its local -y
            faces=tuple(
                Face(
                    name=f,
                    pose=(0.0, -hy, hz, 0.70710678118, 0.70710678118, 0.0, 0.0),
                    size=(hx, hz),
                    cap_height_m=0.02,
                )
                for f in faces
            ),
        )
    ]
    if door:
        joint = Joint(
            name="door", kind="hinge", axis=(0.0, 0.0, 1.0), lo=0.0, hi=1.6, open_at=1.6, handle=(0.0, -hy, hz)
        )
        links.append(Link(name="door", parent=0, joint=joint))
    return Thing(
        id=id_,
        cls=id_.rsplit("_", 1)[0],
        name=name,
        adjectives=adjectives,
        nouns=nouns or (name,),
        touch_nouns=touch,
        fixed=fixed,
        links=tuple(links),
        pose=from_xyz_yaw(*at, yaw),
        affordances=affordances,
        attrs={"open": False, **(attrs or {})} if door else dict(attrs or {}),
        props=dict(props or {}),
        bounds_half=half,
        bounds_pos=(0.0, 0.0, hz),
    )


def scene_of(*things: Thing) -> CompiledScene:
    """Two rooms side by side; the wearer starts at the origin, facing +y."""
    return CompiledScene(
        id="tiny",
        format=1,
        rooms=(
            Room(id="kitchen_1", nouns=("kitchen",), rect=(-3.0, -3.0, 3.0, 3.0)),
            Room(id="hall_1", nouns=("hall", "hallway"), rect=(3.0, -3.0, 6.0, 3.0)),
        ),
        portals=(),
        materials=(),
        things=things,
        lights=(),
        spawn=(0.0, 0.0, 1.5707963267948966),
    )


def state_of(scene: CompiledScene) -> WorldState:
    """The scene's initial state with the wearer standing at its spawn."""
    state = WorldState(scene)
    state.body = standing(*scene.spawn)
    state.attrs[WEARER] = {"held": "", "sitting": "", "posture": "stand", "room": "kitchen_1"}
    return state


def at_spawn(scene: CompiledScene) -> WorldState:
    """A compiled scene as it is at load, with the wearer where it begins."""
    state = WorldState(scene)
    state.joints.update(initial_joints(scene))
    state.body = standing(*scene.spawn)
    state.attrs[WEARER] = {"posture": "stand", "sitting": "", "held": ""}
    return state


def seen_whole(scene: CompiledScene) -> tuple[WorldState, Perception]:
    """The same, and a wearer that has seen everything in it."""
    state = at_spawn(scene)
    perception = Perception(state, sighted=True)
    perception.apply(frame(state, *(t.id for t in scene.things)))
    return state, perception


def frame(state: WorldState, *ids: str, action: int | None = 0, pixels: int = 100) -> FrameCaptured:
    """A frame that shows the given things, from 1.5 m above the wearer's feet and looking along +y."""
    x, y = state.body[:2]
    return FrameCaptured(
        sim_time_s=state.sim_time_s,
        turn=1,
        phase="closed_loop",
        frame_id="f000000",
        step=state.step,
        camera=(x, y, 1.0, 0.70710678118, 0.70710678118, 0.0, 0.0),
        focal_px=415.0,
        width=640,
        height=480,
        renderer="none",
        pixels_sha256=None,
        visible=dict.fromkeys(sorted(ids), pixels),
        cause="action" if action is not None else "idle",
        action=action,
    )
