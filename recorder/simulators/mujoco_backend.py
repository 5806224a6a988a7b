"""The embedded simulator: MuJoCo behind `iwreplay.ports.Simulator`.

Held things follow their hand rigidly: their pose is written, contacts and gravity are switched off for them.
Snapshots are exact: restored into a fresh instance of the same version on the same architecture, the run goes on
bit for bit.
"""

from __future__ import annotations

import hashlib
import math
import platform
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, get_args

import msgspec
import mujoco
import numpy as np

from iwreplay.errors import SimulatorError
from iwreplay.events import Participant
from iwreplay.pose import IDENTITY, Pose, Quat, Vec3, compose, normalised, quat_to_matrix
from iwreplay.scene.geometry import initial_joints
from iwreplay.scene.model import CompiledScene, Thing
from recorder.simulators.mjcf import DT_S, body_name, physics_digest, to_mjcf
from recorder.simulators.mujoco_state import EngineState

__all__ = ["MujocoSimulator"]

Hand = Literal["right_hand", "left_hand", "root"]
_HANDS: tuple[str, ...] = get_args(Hand)

#: geoms of this group are not found by rays
_HIDDEN_GROUP = 5
_RAY_GROUPS = np.array([1, 1, 1, 1, 1, 0], dtype=np.uint8)


class _Hold(msgspec.Struct, frozen=True):
    hand: str
    hand_from_thing: Pose


class _Saved(msgspec.Struct, frozen=True):
    """A snapshot: MuJoCo's own state and what this backend changes in the model."""

    scene: str
    #: digest of the model, so that a scene of the same name with other things in it is told apart
    model: str
    physics: bytes
    asleep: tuple[int, ...]
    inactive: tuple[str, ...]
    held: dict[str, _Hold]
    hands: dict[str, Pose]


class MujocoSimulator:
    """See `iwreplay.ports.Simulator` for what each method promises."""

    dt_s: float = DT_S

    def __init__(self) -> None:
        self._scene: CompiledScene | None = None

    def about(self) -> Participant:
        return Participant(
            name="mujoco",
            version=str(mujoco.__version__),
            params={
                "architecture": platform.machine(),
                "deterministic": "yes",
                "dt_s": repr(DT_S),
                "physics": physics_digest(),
                "snapshot": "exact",
            },
        )

    def load(self, scene: CompiledScene) -> None:
        try:
            text = to_mjcf(scene)
            self._model = mujoco.MjModel.from_xml_string(text)
        except ValueError as e:
            raise SimulatorError(f"MuJoCo refuses scene {scene.id!r}: {e}") from e
        self._data = mujoco.MjData(self._model)
        self._still = mujoco.MjData(self._model)
        self._state = EngineState(self._model, self._data)
        self._scene = scene
        self._digest = hashlib.sha256(text.encode()).hexdigest()
        self._things: dict[str, Thing] = {t.id: t for t in scene.things}
        self._held: dict[str, _Hold] = {}
        self._hands: dict[str, Pose] = dict.fromkeys(_HANDS, IDENTITY)
        self._inactive: set[str] = set()
        self._stale = True
        self._index()
        for joint, position in initial_joints(scene).items():
            self._data.qpos[self._joint_qpos[joint]] = position
            self._data.ctrl[self._joint_ctrl[joint]] = position
        for thing in scene.things:
            if thing.attrs.get("exists") is False:
                self.set_active(thing.id, False)

    def _index(self) -> None:
        m = self._model
        ids = {n: i for i in range(m.nbody) if (n := m.body(i).name)}
        self._bodies = {t: [ids[body_name(t, i)] for i in range(len(th.links))] for t, th in self._things.items()}
        owner = {b: t for t, bs in self._bodies.items() for b in bs}
        self._geom_thing = [owner.get(int(m.geom_bodyid[g]), "") for g in range(m.ngeom)]
        self._geoms: dict[str, list[int]] = {t: [] for t in self._things}
        for g, t in enumerate(self._geom_thing):
            if t:  # the probe is nobody's
                self._geoms[t].append(g)
        self._bits = [(int(m.geom_contype[g]), int(m.geom_conaffinity[g])) for g in range(m.ngeom)]
        self._free = {t: int(m.joint(f"{t}:free").qposadr[0]) for t, th in self._things.items() if not th.fixed}
        self._free_dof = {t: int(m.joint(f"{t}:free").dofadr[0]) for t in self._free}
        names = [f"{t.id}.{k.joint.name}" for t in self._things.values() for k in t.links if k.joint is not None]
        self._joint_qpos = {n: int(m.joint(n).qposadr[0]) for n in names}
        self._joint_ctrl = {n: int(m.actuator(n).id) for n in names}
        self._trees = {t: sorted({int(m.body_treeid[b]) for b in bs} - {-1}) for t, bs in self._bodies.items()}
        self._joint_thing = {f"{t.id}.{k.joint.name}": t.id for t in self._things.values() for k in t.links if k.joint}
        # bounding sphere of every geom, for the broad phase of overlap_box
        self._radius = np.array(m.geom_rbound, dtype=np.float64)
        # and its box in its own axes, for that of capsule_depths
        self._box_middle = np.array(m.geom_aabb[:, :3], dtype=np.float64)
        self._box_half = np.array(m.geom_aabb[:, 3:], dtype=np.float64)
        self._gravcomp = np.array(m.body_gravcomp, dtype=np.float64)

    # -- the wearer and what it holds

    def set_body(self, *, head: Pose, right_hand: Pose, left_hand: Pose, root: Pose) -> None:
        del head  # nothing in the physics rests on the head
        self._loaded()
        self._hands = {"right_hand": _pose(right_hand), "left_hand": _pose(left_hand), "root": _pose(root)}
        self._carry()

    def attach(self, thing: str, *, hand: str, hand_from_thing: Pose) -> None:
        self._movable(thing)
        if hand not in _HANDS:
            raise SimulatorError(f"no hand {hand!r}; there are {', '.join(_HANDS)}")
        if thing in self._inactive:
            raise SimulatorError(f"{thing} is off stage and can't be held")
        self._held[thing] = _Hold(hand, _pose(hand_from_thing))
        self._freeze(thing)
        self._carry()

    def detach(self, thing: str) -> None:
        self._movable(thing)
        if thing not in self._held:
            raise SimulatorError(f"{thing} is not attached; attached: {', '.join(sorted(self._held)) or 'nothing'}")
        del self._held[thing]
        self._unfreeze(thing)
        self._rest(thing)

    def _carry(self) -> None:
        for thing, hold in self._held.items():
            self._write_pose(thing, compose(self._hands[hold.hand], hold.hand_from_thing))

    # -- things

    def set_pose(self, thing: str, pose: Pose) -> None:
        self._movable(thing)
        if thing in self._held:
            raise SimulatorError(f"{thing} is attached to {self._held[thing].hand}; detach it first")
        self._write_pose(thing, pose)

    def set_active(self, thing: str, active: bool) -> None:
        self._known(thing)
        if active == (thing not in self._inactive):
            return
        if not active:
            if thing in self._held:
                raise SimulatorError(f"{thing} is attached to {self._held[thing].hand}; detach it first")
            self._inactive.add(thing)
            self._freeze(thing)
            for g in self._geoms[thing]:
                self._model.geom_group[g] = _HIDDEN_GROUP
        else:
            self._inactive.discard(thing)
            self._unfreeze(thing)
            for g in self._geoms[thing]:
                self._model.geom_group[g] = 0
        self._rest(thing)

    def drive_joint(self, joint: str, position: float) -> None:
        self._loaded()
        if joint not in self._joint_ctrl:
            raise SimulatorError(f"no joint {joint!r}; there are {', '.join(self._joint_ctrl) or 'none'}")
        if self._data.ctrl[self._joint_ctrl[joint]] != float(position):
            self._data.ctrl[self._joint_ctrl[joint]] = float(position)
            self._state.wake(self._trees[self._joint_thing[joint]])

    def step(self, n: int = 1) -> None:
        self._loaded()
        if n < 0:
            raise SimulatorError(f"{n} steps: time goes forward only")
        if n == 0:
            return
        mujoco.mj_step(self._model, self._data, n)
        self._carry()
        self._stale = True
        if not np.isfinite(self._data.qpos).all():
            raise SimulatorError(f"the physics of scene {self._scene_id} became unstable at {self._data.time:.3f} s")

    def poses(self) -> dict[str, Pose]:
        self._loaded()
        qpos: list[float] = self._data.qpos.tolist()
        out: dict[str, Pose] = {}
        for thing, t in self._things.items():
            at = self._free.get(thing)
            out[thing] = t.pose if at is None else _pose(qpos[at : at + 7])
        return out

    def joints(self) -> dict[str, float]:
        self._loaded()
        return {n: float(self._data.qpos[at]) for n, at in self._joint_qpos.items()}

    # -- queries

    def contacts(self) -> tuple[tuple[str, str], ...]:
        self._loaded()
        m, d = self._model, self._still
        # on a second MjData with sleeping off: MuJoCo looks for no contacts between sleeping bodies
        flags = m.opt.enableflags
        m.opt.enableflags = flags & ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        d.qpos[:] = self._data.qpos
        mujoco.mj_fwdPosition(m, d)
        m.opt.enableflags = flags
        pairs: set[tuple[str, str]] = set()
        for i in range(d.ncon):
            c = d.contact[i]
            a, b = self._geom_thing[c.geom1], self._geom_thing[c.geom2]
            if a != b and c.dist <= 0.0:
                pairs.add((min(a, b), max(a, b)))
        return tuple(sorted(pairs))

    def overlap_box(self, half: Vec3, pose: Pose, *, ignore: Collection[str] = ()) -> tuple[str, ...]:
        self._refresh()
        if min(half) <= 0.0:
            raise SimulatorError(f"box half extents {half} must be positive")
        m, d = self._model, self._data
        x = np.array(pose[:3])
        reach = float(np.sqrt(half[0] ** 2 + half[1] ** 2 + half[2] ** 2))
        gap = d.geom_xpos - x
        near = np.flatnonzero((gap * gap).sum(axis=1) <= (self._radius + reach) ** 2)
        found: set[str] = set()
        with self._probe(half, pose) as probe:
            for g in near.tolist():
                thing = self._geom_thing[g]
                if g == probe or thing in found or thing in ignore or thing in self._inactive:
                    continue
                if mujoco.mj_geomDistance(m, d, probe, g, 1.0, None) <= 0.0:
                    found.add(thing)
        return tuple(sorted(found))

    def capsule_depths(
        self, a: Vec3, b: Vec3, radius_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[tuple[str, float], ...]:
        self._refresh()
        if radius_m <= 0.0:
            raise SimulatorError(f"capsule radius {radius_m} must be positive")
        m, d = self._model, self._data
        middle = np.array([(p + q) / 2.0 for p, q in zip(a, b, strict=True)])
        half_m = math.dist(a, b) / 2.0
        reach = radius_m + half_m
        gap = middle - d.geom_xpos
        near = np.flatnonzero((gap * gap).sum(axis=1) <= (self._radius + reach) ** 2)
        # what is large is near to everything: its own box says more than its bounding sphere
        mine = np.einsum("ni,nij->nj", gap[near], d.geom_xmat[near].reshape(-1, 3, 3))
        over = np.maximum(np.abs(mine - self._box_middle[near]) - self._box_half[near], 0.0)
        near = near[(over * over).sum(axis=1) <= reach * reach]
        depths: dict[str, float] = {}
        along = ((b[0] - a[0]), (b[1] - a[1]), (b[2] - a[2]))
        pose: Pose = (*middle.tolist(), *_onto(along))
        with self._probe((radius_m, half_m, 0.0), pose, shape=mujoco.mjtGeom.mjGEOM_CAPSULE) as probe:
            for g in near.tolist():
                thing = self._geom_thing[g]
                if g == probe or thing in ignore or thing in self._inactive:
                    continue
                depth = -mujoco.mj_geomDistance(m, d, probe, g, 0.01, None)
                if depth > depths.get(thing, 0.0):
                    depths[thing] = depth
        return tuple(sorted(depths.items()))

    @contextmanager
    def _probe(self, size: Vec3, pose: Pose, *, shape: mujoco.mjtGeom = mujoco.mjtGeom.mjGEOM_BOX) -> Iterator[int]:
        """Lends the probe geom (the last of the model) shape, size and place."""
        m, d = self._model, self._data
        probe = m.ngeom - 1
        m.geom_type[probe] = shape
        m.geom_size[probe] = size
        m.geom_rbound[probe] = float(np.sqrt(size[0] ** 2 + size[1] ** 2 + size[2] ** 2))
        d.geom_xpos[probe] = pose[:3]
        quat: Quat = (pose[3], pose[4], pose[5], pose[6])
        d.geom_xmat[probe] = [v for row in quat_to_matrix(quat) for v in row]
        yield probe

    def ray(
        self, origin: Vec3, direction: Vec3, max_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[str, float] | None:
        self._refresh()
        m = self._model
        norm = float(np.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2))
        if not norm > 0.0:
            raise SimulatorError(f"ray direction {direction} has no length")
        hidden = [g for t in sorted(set(ignore)) if t not in self._inactive for g in self._geoms.get(t, ())]
        for g in hidden:
            m.geom_group[g] = _HIDDEN_GROUP
        hit = np.array([-1], dtype=np.int32)
        at = np.array(origin, dtype=np.float64)
        along = np.array([v / norm for v in direction], dtype=np.float64)
        distance = float(mujoco.mj_ray(m, self._data, at, along, _RAY_GROUPS, 1, -1, hit, None))
        for g in hidden:
            m.geom_group[g] = 0
        if distance < 0.0 or distance > max_m:
            return None
        return self._geom_thing[int(hit[0])], distance

    # -- saving

    def snapshot(self) -> bytes:
        self._loaded()
        saved = _Saved(
            scene=self._scene_id,
            model=self._digest,
            physics=self._state.physics(),
            asleep=self._state.asleep(),
            inactive=tuple(sorted(self._inactive)),
            held=dict(self._held),
            hands=dict(self._hands),
        )
        return msgspec.msgpack.encode(saved)

    def restore(self, state: bytes) -> None:
        self._loaded()
        try:
            saved = msgspec.msgpack.decode(state, type=_Saved)
        except msgspec.DecodeError as e:
            raise SimulatorError(f"these {len(state)} bytes are not a snapshot of this simulator: {e}") from e
        if saved.model != self._digest or not self._state.fits(saved.physics):
            raise SimulatorError(
                f"snapshot of scene {saved.scene!r} does not fit scene {self._scene_id!r}: they are not the same model"
            )
        for thing in sorted(self._inactive):
            self.set_active(thing, True)
        for thing in sorted(self._held):
            self._unfreeze(thing)
        self._held = {}
        for thing in saved.inactive:
            self.set_active(thing, False)
        self._held, self._hands = dict(saved.held), dict(saved.hands)
        for thing in self._held:
            self._freeze(thing)
        self._state.restore(saved.physics, asleep=saved.asleep)
        self._stale = True

    def close(self) -> None:
        self._scene = None

    # -- inside

    @property
    def _scene_id(self) -> str:
        return self._scene.id if self._scene is not None else ""

    def _loaded(self) -> None:
        if self._scene is None:
            raise SimulatorError("no scene is loaded; call load() first")

    def _known(self, thing: str) -> None:
        self._loaded()
        if thing not in self._things:
            raise SimulatorError(f"no thing {thing!r} in scene {self._scene_id!r}")

    def _movable(self, thing: str) -> None:
        self._known(thing)
        if thing not in self._free:
            raise SimulatorError(f"{thing} is fixed to the building and can't be moved")

    def _write_pose(self, thing: str, pose: Pose) -> None:
        at, dof = self._free[thing], self._free_dof[thing]
        quat: Quat = (pose[3], pose[4], pose[5], pose[6])
        new = np.array((*pose[:3], *normalised(quat)))
        d = self._data
        if not (np.array_equal(d.qpos[at : at + 7], new) and not d.qvel[dof : dof + 6].any()):
            self._wake(thing)
            d.qpos[at : at + 7] = new
            self._rest(thing)

    def _rest(self, thing: str) -> None:
        dof = self._free_dof.get(thing)
        if dof is not None:
            self._data.qvel[dof : dof + 6] = 0.0
            self._data.qacc_warmstart[dof : dof + 6] = 0.0
        self._stale = True

    def _wake(self, thing: str) -> None:
        """The thing, and everything that fell asleep leaning on it. Of a fixed thing anything may lean on: all."""
        self._state.wake(self._trees[thing] if thing in self._free else range(self._model.ntree))

    def _freeze(self, thing: str) -> None:
        """No contacts and no weight: with zero velocity it stays exactly where it is put."""
        self._wake(thing)
        for g in self._geoms[thing]:
            self._model.geom_contype[g] = 0
            self._model.geom_conaffinity[g] = 0
        for b in self._bodies[thing]:
            self._model.body_gravcomp[b] = 1.0

    def _unfreeze(self, thing: str) -> None:
        self._wake(thing)
        for g in self._geoms[thing]:
            self._model.geom_contype[g], self._model.geom_conaffinity[g] = self._bits[g]
        for b in self._bodies[thing]:
            self._model.body_gravcomp[b] = self._gravcomp[b]

    def _refresh(self) -> None:
        """Places of bodies and geoms from qpos; queries read them."""
        self._loaded()
        if self._stale:
            mujoco.mj_kinematics(self._model, self._data)
            self._stale = False


def _onto(along: Vec3) -> Quat:
    """A rotation that takes z to a direction; none for no direction."""
    x, y, z = along
    n = math.sqrt(x * x + y * y + z * z)
    if n < 1e-9:
        return (1.0, 0.0, 0.0, 0.0)
    if n + z < 1e-6 * n:
        return (0.0, 1.0, 0.0, 0.0)
    return normalised((n + z, -y, x, 0.0))


def _pose(values: Sequence[float]) -> Pose:
    x, y, z, qw, qx, qy, qz = values
    return (float(x), float(y), float(z), float(qw), float(qx), float(qy), float(qz))
