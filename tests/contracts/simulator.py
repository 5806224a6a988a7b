"""The contract of `iwreplay.ports.Simulator`: subclass `SimulatorContract` and give it `make`.

A backend whose `about().params["snapshot"]` is "approximate" is held to a tolerance instead of to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import pytest

from iwreplay.errors import SimulatorError
from iwreplay.ports import Simulator
from iwreplay.pose import IDENTITY, Pose, quat_about
from iwreplay.scene.model import CompiledScene, Joint, Link, Shape, Thing

__all__ = ["SimulatorContract", "bench_scene"]

_IDENTITY: Pose = IDENTITY


def _box(hx: float, hy: float, hz: float, *, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Shape:
    return Shape(kind="box", size=(hx, hy, hz), material="grey", pose=(*at, 1.0, 0.0, 0.0, 0.0))


def _thing(
    name: str,
    shapes: tuple[Shape, ...],
    pose: Pose,
    *,
    fixed: bool = False,
    links: tuple[Link, ...] = (),
    exists: bool = True,
) -> Thing:
    return Thing(
        id=name,
        cls=name.split("_", maxsplit=1)[0],
        name=name.split("_", maxsplit=1)[0],
        nouns=(name.split("_", maxsplit=1)[0],),
        fixed=fixed,
        links=(Link(name="base", shapes=shapes), *links),
        pose=pose,
        bounds_half=(0.1, 0.1, 0.1),
        attrs={} if exists else {"exists": False},
    )


def _cup(name: str, x: float, y: float, z: float, *, exists: bool = True) -> Thing:
    # origin at the middle of the bottom, as every movable thing has it
    body = Shape(kind="cylinder", size=(0.04, 0.05), material="grey", pose=(0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0))
    return _thing(name, (body,), (x, y, z, 1.0, 0.0, 0.0, 0.0), exists=exists)


def bench_scene() -> CompiledScene:
    """A floor, a table top at 0.72 m, a cabinet with a hinged door, a drawer, three cups and one off stage."""
    door = Link(
        name="door",
        parent=0,
        offset=(-0.3, -0.31, 0.3, 1.0, 0.0, 0.0, 0.0),
        joint=Joint(
            name="door",
            kind="hinge",
            axis=(0.0, 0.0, 1.0),
            anchor=(-0.3, -0.31, 0.0),
            lo=-1.6,
            hi=0.0,
            open_at=-1.5,
            handle=(0.55, 0.0, 0.0),
        ),
        shapes=(_box(0.3, 0.01, 0.3, at=(0.3, 0.0, 0.0)),),
    )
    tray = Link(
        name="tray",
        parent=0,
        offset=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        joint=Joint(
            name="slide", kind="slide", axis=(0.0, -1.0, 0.0), lo=0.0, hi=0.3, open_at=0.3, handle=(0.0, -0.2, 0.1)
        ),
        shapes=(
            _box(0.2, 0.2, 0.01, at=(0.0, 0.0, 0.01)),
            _box(0.2, 0.01, 0.05, at=(0.0, -0.2, 0.06)),
            _box(0.2, 0.01, 0.05, at=(0.0, 0.2, 0.06)),
        ),
    )
    return CompiledScene(
        id="bench",
        format=1,
        rooms=(),
        portals=(),
        materials=(),
        things=(
            _thing("floor_1", (_box(5.0, 5.0, 0.1, at=(0.0, 0.0, -0.1)),), _IDENTITY, fixed=True),
            _thing("table_1", (_box(0.6, 0.4, 0.02, at=(0.0, 0.0, 0.7)),), _IDENTITY, fixed=True),
            _thing(
                "cabinet_1",
                (_box(0.3, 0.3, 0.01, at=(0.0, 0.0, 0.01)),),
                (2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
                fixed=True,
                links=(door,),
            ),
            _thing(
                "drawer_1",
                (_box(0.25, 0.25, 0.01, at=(0.0, 0.0, -0.02)),),
                (-2.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0),
                fixed=True,
                links=(tray,),
            ),
            _cup("cup_1", -0.3, 0.0, 0.721),
            _cup("cup_2", 0.0, 0.0, 0.721),
            _cup("cup_3", -2.0, 0.0, 0.521),
            _cup("cup_4", 4.0, 4.0, -5.0, exists=False),
        ),
        lights=(),
        spawn=(0.0, -1.0, 0.0),
    )


def _hand_at(sim: Simulator, k: int) -> None:
    angle = 0.01 * k
    hand: Pose = (1.2 + 0.004 * k, 1.2, 1.0 + 0.002 * k, *quat_about((0.0, 0.0, 1.0), angle))
    sim.set_body(head=_IDENTITY, right_hand=hand, left_hand=_IDENTITY, root=_IDENTITY)


def _fall(sim: Simulator) -> None:
    sim.set_pose("cup_1", (0.02, 0.01, 1.1, *quat_about((1.0, 0.3, 0.2), 0.7)))


def _swing(sim: Simulator) -> None:
    sim.drive_joint("cabinet_1.door", -1.5)


def _carry(sim: Simulator) -> None:
    _hand_at(sim, 0)
    sim.attach("cup_1", hand="right_hand", hand_from_thing=(0.0, 0.1, 0.0, *quat_about((0.0, 0.0, 1.0), 0.5)))


def _nothing(sim: Simulator, k: int) -> None:
    del sim, k


def _slide(sim: Simulator, k: int) -> None:
    sim.drive_joint("drawer_1.slide", min(0.3, 0.004 * (k + 1)))


def _let_go_on_the_way(sim: Simulator, k: int) -> None:
    if k < 50:
        _hand_at(sim, k)
    elif k == 50:
        sim.detach("cup_1")


def _all_at_once(sim: Simulator) -> None:
    _carry(sim)
    _swing(sim)
    sim.set_pose("cup_2", (0.3, 0.0, 1.0, *quat_about((0.0, 1.0, 0.0), 1.0)))


def _busy(sim: Simulator, k: int) -> None:
    _let_go_on_the_way(sim, k)
    _slide(sim, k)


#: name -> (how it starts, what is done before every later step)
_MOTIONS: dict[str, tuple[Callable[[Simulator], None], Callable[[Simulator, int], None]]] = {
    "a thing falling": (_fall, _nothing),
    "a door swinging": (_swing, _nothing),
    "a drawer with a cup in it": (lambda sim: None, _slide),
    "a hand carrying": (_carry, _hand_at),
    "a hand letting go": (_carry, _let_go_on_the_way),
    "everything at once": (_all_at_once, _busy),
}


class SimulatorContract:
    """What any backend must do."""

    @staticmethod
    def make() -> Simulator:
        raise AssertionError("a contract test says which simulator it makes")

    @pytest.fixture
    def sim(self) -> Simulator:
        sim = self.make()
        sim.load(bench_scene())
        return sim

    def _same(self, a: Simulator, b: Simulator) -> None:
        exact = a.about().params["snapshot"] == "exact"
        for (name, p), (other, q) in zip(a.poses().items(), b.poses().items(), strict=True):
            assert name == other
            assert p == q if exact else max(abs(u - v) for u, v in zip(p, q, strict=True)) < 0.01
        for (name, x), (other, y) in zip(a.joints().items(), b.joints().items(), strict=True):
            assert name == other
            assert x == y if exact else abs(x - y) < 0.01

    def test_says_what_it_is(self, sim: Simulator) -> None:
        about = sim.about()
        assert about.name
        assert about.version
        assert about.params["snapshot"] in ("exact", "approximate")
        assert about.params["deterministic"] in ("yes", "no")
        assert 0.0 < sim.dt_s <= 0.02

    def test_poses_are_in_scene_order(self, sim: Simulator) -> None:
        assert tuple(sim.poses()) == tuple(t.id for t in bench_scene().things)
        assert tuple(sim.joints()) == ("cabinet_1.door", "drawer_1.slide")

    def test_things_come_to_rest_where_they_stand(self, sim: Simulator) -> None:
        sim.step(round(1.0 / sim.dt_s))
        first = sim.poses()
        assert abs(first["cup_1"][2] - 0.72) < 0.001
        sim.step(round(5.0 / sim.dt_s))
        for name, pose in sim.poses().items():
            assert math.dist(pose[:3], first[name][:3]) < 1e-4, name

    def test_a_dropped_thing_falls_and_rests(self, sim: Simulator) -> None:
        sim.set_pose("cup_1", (1.2, 1.2, 1.0, 1.0, 0.0, 0.0, 0.0))
        sim.step(round(0.3 / sim.dt_s))
        z = sim.poses()["cup_1"][2]
        assert abs((1.0 - z) - 0.5 * 9.81 * 0.09) < 0.03
        sim.step(round(2.0 / sim.dt_s))
        assert sim.poses()["cup_1"][2] < 0.06
        assert ("cup_1", "floor_1") in sim.contacts()

    def test_contacts_of_things_at_rest(self, sim: Simulator) -> None:
        sim.step(round(3.0 / sim.dt_s))
        assert ("cup_1", "table_1") in sim.contacts()
        assert not [c for c in sim.contacts() if "cup_4" in c]

    def test_a_held_thing_follows_the_hand_and_falls_when_let_go(self, sim: Simulator) -> None:
        hold: Pose = (0.0, 0.1, 0.0, *quat_about((0.0, 0.0, 1.0), 0.5))
        sim.set_body(
            head=_IDENTITY, right_hand=(1.2, 1.2, 1.0, 1.0, 0.0, 0.0, 0.0), left_hand=_IDENTITY, root=_IDENTITY
        )
        sim.attach("cup_1", hand="right_hand", hand_from_thing=hold)
        sim.step(100)
        assert sim.poses()["cup_1"][:3] == (1.2, 1.3, 1.0)
        sim.set_body(
            head=_IDENTITY, right_hand=(1.0, 1.0, 0.5, 1.0, 0.0, 0.0, 0.0), left_hand=_IDENTITY, root=_IDENTITY
        )
        assert sim.poses()["cup_1"][:3] == (1.0, 1.1, 0.5)
        sim.detach("cup_1")
        sim.step(round(2.0 / sim.dt_s))
        assert sim.poses()["cup_1"][2] < 0.06

    def test_what_rested_long_still_falls_when_its_support_goes(self, sim: Simulator) -> None:
        sim.set_pose("cup_2", (-0.3, 0.0, 0.821, 1.0, 0.0, 0.0, 0.0))
        sim.step(round(4.0 / sim.dt_s))
        assert abs(sim.poses()["cup_2"][2] - 0.82) < 0.002
        sim.attach("cup_1", hand="right_hand", hand_from_thing=(0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0))
        sim.step(round(1.0 / sim.dt_s))
        assert abs(sim.poses()["cup_2"][2] - 0.72) < 0.002

    def test_a_driven_door_arrives_and_stays(self, sim: Simulator) -> None:
        sim.drive_joint("cabinet_1.door", -1.5)
        sim.step(round(0.4 / sim.dt_s))
        assert abs(sim.joints()["cabinet_1.door"] + 1.5) < 0.01
        sim.step(round(3.0 / sim.dt_s))
        assert abs(sim.joints()["cabinet_1.door"] + 1.5) < 0.005

    def test_a_drawer_carries_what_is_in_it(self, sim: Simulator) -> None:
        sim.step(round(1.0 / sim.dt_s))
        for i in range(100):
            sim.drive_joint("drawer_1.slide", 0.3 * (i + 1) / 100.0)
            sim.step(round(0.01 / sim.dt_s))
        sim.step(round(0.5 / sim.dt_s))
        assert abs(sim.joints()["drawer_1.slide"] - 0.3) < 0.005
        assert abs(sim.poses()["cup_3"][1] + 0.3) < 0.05

    def test_off_stage_things_are_not_there(self, sim: Simulator) -> None:
        before = sim.poses()["cup_4"]
        sim.step(200)
        assert sim.poses()["cup_4"] == before
        sim.set_pose("cup_4", (0.3, 0.0, 0.721, 1.0, 0.0, 0.0, 0.0))
        assert "cup_4" not in sim.overlap_box((0.05, 0.05, 0.05), (0.3, 0.0, 0.77, 1.0, 0.0, 0.0, 0.0))
        sim.set_active("cup_4", True)
        sim.step(round(1.0 / sim.dt_s))
        assert abs(sim.poses()["cup_4"][2] - 0.72) < 0.001
        assert (
            sim.ray((0.3, 0.0, 2.0), (0.0, 0.0, -1.0), 5.0) == pytest.approx(("cup_4", 1.18), abs=0.002)
            or (sim.ray((0.3, 0.0, 2.0), (0.0, 0.0, -1.0), 5.0) or ("", 0.0))[0] == "cup_4"
        )
        sim.set_active("cup_4", False)
        assert (sim.ray((0.3, 0.0, 2.0), (0.0, 0.0, -1.0), 5.0) or ("", 0.0))[0] == "table_1"

    def test_overlap_is_exact_and_sorted(self, sim: Simulator) -> None:
        # a cylinder of radius 0.04: a box corner on its diagonal misses it where its bounding box would not
        at: Pose = (-0.3 + 0.045, 0.045, 0.77, 1.0, 0.0, 0.0, 0.0)
        assert sim.overlap_box((0.01, 0.01, 0.01), at) == ()
        assert sim.overlap_box((0.02, 0.02, 0.02), at) == ("cup_1",)
        sim.capsule_depths(at[:3], at[:3], 0.05)  # the one leaves nothing behind for the other
        assert sim.overlap_box((0.01, 0.01, 0.01), at) == ()
        assert sim.overlap_box((0.5, 0.1, 0.1), (0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0)) == ("cup_1", "cup_2", "table_1")
        assert sim.overlap_box((0.5, 0.1, 0.1), (0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0), ignore=("cup_2",)) == (
            "cup_1",
            "table_1",
        )

    def test_a_capsule_is_told_how_deep_things_reach_into_it(self, sim: Simulator) -> None:
        # beside the cup, a cylinder of radius 0.04 whose bottom is the table's top at 0.72
        up = ((-0.3, -0.2, 0.80), (-0.3, -0.09, 0.80))
        assert sim.capsule_depths(*up, 0.04) == ()
        ((name, depth),) = sim.capsule_depths(*up, 0.06)
        assert name == "cup_1"
        assert abs(depth - 0.01) < 0.002
        assert sim.capsule_depths(*up, 0.06, ignore=("cup_1",)) == ()
        both = sim.capsule_depths((-0.3, -0.07, 0.76), (-0.3, -0.07, 0.79), 0.05)
        assert [name for name, _ in both] == ["cup_1", "table_1"]
        assert all(abs(depth - d) < 0.002 for (_, depth), d in zip(both, (0.02, 0.01), strict=True))

    def test_a_capsule_may_point_anywhere_and_be_a_ball(self, sim: Simulator) -> None:
        for way in ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.6, -0.8, 0.0)):
            far = (1.2 + 0.2 * way[0], 1.2 + 0.2 * way[1], 0.5 + 0.2 * way[2])
            assert sim.capsule_depths((1.2, 1.2, 0.5), far, 0.1) == ()
            low = (1.2 + 0.2 * way[0], 1.2 + 0.2 * way[1], 0.25 + 0.2 * way[2])
            least = min(0.25, low[2])
            found = dict(sim.capsule_depths((1.2, 1.2, 0.25), low, 0.3))
            assert abs(found["floor_1"] - (0.3 - least)) < 0.002

    def test_a_capsule_right_through_a_thing_is_in_it(self, sim: Simulator) -> None:
        ((name, depth),) = sim.capsule_depths((-0.5, 0.0, 0.77), (-0.1, 0.0, 0.77), 0.01)
        assert name == "cup_1"
        assert depth > 0.04

    def test_a_ray_finds_the_nearest(self, sim: Simulator) -> None:
        hit = sim.ray((-0.3, 0.0, 2.0), (0.0, 0.0, -1.0), 5.0)
        assert hit is not None
        assert hit[0] == "cup_1"
        assert abs(hit[1] - (2.0 - 0.821)) < 0.002
        through = sim.ray((-0.3, 0.0, 2.0), (0.0, 0.0, -1.0), 5.0, ignore=("cup_1",))
        assert through is not None
        assert through[0] == "table_1"
        assert sim.ray((-0.3, 0.0, 2.0), (0.0, 0.0, -1.0), 1.0) is None
        assert sim.ray((-0.3, 0.0, 2.0), (0.0, 0.0, 1.0), 5.0) is None

    def test_queries_change_nothing(self, sim: Simulator) -> None:
        sim.step(300)
        before = sim.snapshot()
        sim.contacts()
        sim.overlap_box((0.5, 0.1, 0.1), (0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0))
        sim.ray((-0.3, 0.0, 2.0), (0.0, 0.0, -1.0), 5.0, ignore=("cup_1",))
        sim.capsule_depths((-0.3, 0.0, 0.7), (0.3, 0.0, 0.9), 0.05)
        sim.poses()
        sim.joints()
        assert sim.snapshot() == before

    def test_a_snapshot_goes_on_in_a_fresh_instance(self, sim: Simulator) -> None:
        sim.step(50)
        sim.set_body(
            head=_IDENTITY, right_hand=(0.0, 0.0, 1.2, 1.0, 0.0, 0.0, 0.0), left_hand=_IDENTITY, root=_IDENTITY
        )
        sim.attach("cup_1", hand="right_hand", hand_from_thing=_IDENTITY)
        sim.drive_joint("cabinet_1.door", -1.0)
        sim.set_active("cup_3", False)
        sim.step(700)
        saved = sim.snapshot()
        other = self.make()
        other.load(bench_scene())
        other.restore(saved)
        for s in (sim, other):
            s.detach("cup_1")
            s.step(60)
            s.set_active("cup_3", True)
            s.drive_joint("cabinet_1.door", 0.0)
            s.step(137)
        self._same(sim, other)
        sim.restore(saved)
        if sim.about().params["snapshot"] == "exact":
            assert sim.snapshot() == saved

    @pytest.mark.parametrize("motion", sorted(_MOTIONS))
    @pytest.mark.parametrize("at", [1, 13, 40])
    def test_a_snapshot_in_mid_motion_goes_on_as_the_original(self, sim: Simulator, motion: str, at: int) -> None:
        """Falling, swinging, sliding and carried things: restored into a fresh instance and into the same one, every
        later instant is the original's, and so is the snapshot taken at the end."""
        begin, during = _MOTIONS[motion]
        sim.step(round(1.0 / sim.dt_s))
        begin(sim)
        for k in range(at):
            during(sim, k)
            sim.step(1)
        before = (sim.poses(), sim.joints())
        saved = sim.snapshot()
        during(sim, at)
        sim.step(1)
        assert (sim.poses(), sim.joints()) != before, "nothing was moving when the snapshot was taken"
        sim.restore(saved)
        other = self.make()
        other.load(bench_scene())
        other.restore(saved)
        exact = sim.about().params["snapshot"] == "exact"
        if exact:
            assert other.snapshot() == saved
            assert sim.snapshot() == saved
        again: list[tuple[dict[str, Pose], dict[str, float]]] = []
        for s in (sim, other):
            for k in range(at, at + 120):
                during(s, k)
                s.step(1)
                if s is sim:
                    again.append((s.poses(), s.joints()))
                elif exact:
                    assert (s.poses(), s.joints()) == again[k - at], f"step {k}"
            s.step(round(1.0 / s.dt_s))
        self._same(sim, other)
        if exact:
            assert sim.snapshot() == other.snapshot()

    def test_a_stack_stands(self, sim: Simulator) -> None:
        """Three cups on each other on the table."""
        sim.set_pose("cup_2", (-0.3, 0.0, 0.822, 1.0, 0.0, 0.0, 0.0))
        sim.set_active("cup_4", True)
        sim.set_pose("cup_4", (-0.3, 0.0, 0.923, 1.0, 0.0, 0.0, 0.0))
        sim.step(round(10.0 / sim.dt_s))
        for name, height in (("cup_1", 0.72), ("cup_2", 0.82), ("cup_4", 0.92)):
            x, y, z = sim.poses()[name][:3]
            assert abs(z - height) < 0.003, name
            assert math.hypot(x + 0.3, y) < 0.003, name

    def test_what_is_pushed_keeps_to_its_support_until_it_is_over_the_edge(self, sim: Simulator) -> None:
        sim.step(round(0.5 / sim.dt_s))
        _, y, z, *turn = sim.poses()["cup_1"]
        steps = round(2.0 / sim.dt_s)
        # the table ends at x = -0.6; up to there the cup is on it
        for k in range(1, steps + 1):
            sim.set_pose("cup_1", (-0.3 - 0.25 * k / steps, y, z, *turn))  # type: ignore[arg-type]
            sim.step(1)
            assert abs(sim.poses()["cup_1"][2] - z) < 0.002
        for k in range(1, 61):
            sim.set_pose("cup_1", (-0.55 - 0.1 * k / 60, y, sim.poses()["cup_1"][2], *turn))  # type: ignore[arg-type]
            sim.step(1)
        sim.step(round(2.0 / sim.dt_s))
        assert sim.poses()["cup_1"][2] < 0.11, "it is still up there"
        assert ("cup_1", "floor_1") in sim.contacts()
        assert abs(sim.poses()["cup_2"][2] - 0.72) < 0.002

    def test_a_snapshot_knows_what_is_at_rest(self, sim: Simulator) -> None:
        """Things that have come to rest go on exactly as in the original, also when something hits them."""
        sim.set_pose("cup_2", (-0.3, 0.0, 0.821, 1.0, 0.0, 0.0, 0.0))
        for steps in (37, 400, 613):
            sim.step(steps)
            other = self.make()
            other.load(bench_scene())
            other.restore(sim.snapshot())
            back = sim.snapshot()
            for s in (sim, other):
                s.step(25)
                s.set_pose("cup_3", (-0.29, 0.01, 0.98, 1.0, 0.0, 0.0, 0.0))
                s.step(180)
            self._same(sim, other)
            sim.restore(back)

    def test_rest_is_perfect_rest(self, sim: Simulator) -> None:
        """What nothing touches keeps its pose to the bit, so that a log need not mention it."""
        sim.step(round(3.0 / sim.dt_s))
        before = sim.poses()
        sim.set_pose("cup_2", (1.2, 1.2, 0.5, 1.0, 0.0, 0.0, 0.0))
        sim.drive_joint("cabinet_1.door", -1.0)
        sim.step(round(2.0 / sim.dt_s))
        after = sim.poses()
        for name in ("cup_1", "cup_3"):
            assert after[name] == before[name]

    def test_a_fixed_thing_goes_off_stage_too(self, sim: Simulator) -> None:
        sim.step(round(3.0 / sim.dt_s))
        sim.set_active("table_1", False)
        assert ("cup_1", "table_1") not in sim.contacts()
        sim.step(round(1.0 / sim.dt_s))
        assert sim.poses()["cup_1"][2] < 0.06

    def test_a_thing_in_a_pile_can_be_taken_away(self, sim: Simulator) -> None:
        sim.set_pose("cup_2", (-0.3, 0.0, 0.822, 1.0, 0.0, 0.0, 0.0))
        sim.step(round(3.0 / sim.dt_s))
        sim.set_active("cup_1", False)
        sim.step(round(1.0 / sim.dt_s))
        assert abs(sim.poses()["cup_2"][2] - 0.72) < 0.002

    def test_an_open_thing_starts_open(self) -> None:
        scene = bench_scene()
        things = tuple(
            msgspec.structs.replace(t, attrs={"open": True}) if t.id == "cabinet_1" else t for t in scene.things
        )
        sim = self.make()
        sim.load(msgspec.structs.replace(scene, things=things))
        assert sim.joints() == {"cabinet_1.door": -1.5, "drawer_1.slide": 0.0}
        sim.step(round(2.0 / sim.dt_s))
        assert abs(sim.joints()["cabinet_1.door"] + 1.5) < 0.005

    def test_two_instances_run_alike(self, sim: Simulator) -> None:
        other = self.make()
        other.load(bench_scene())
        for s in (sim, other):
            s.set_pose("cup_1", (0.02, 0.01, 1.3, *quat_about((1.0, 0.3, 0.2), 0.7)))
            s.step(400)
        if sim.about().params["deterministic"] == "yes":
            self._same(sim, other)

    @pytest.mark.parametrize(
        "call",
        [
            lambda s: s.set_pose("cup_99", _IDENTITY),
            lambda s: s.attach("cup_99", hand="right_hand", hand_from_thing=_IDENTITY),
            lambda s: s.detach("cup_99"),
            lambda s: s.set_active("cup_99", True),
            lambda s: s.drive_joint("cup_99.lid", 1.0),
        ],
    )
    def test_unknown_names_are_refused_by_name(self, sim: Simulator, call: object) -> None:
        with pytest.raises(SimulatorError, match="cup_99"):
            call(sim)  # type: ignore[operator]

    def test_misuse_is_refused(self, sim: Simulator) -> None:
        with pytest.raises(SimulatorError, match="table_1"):
            sim.set_pose("table_1", _IDENTITY)
        with pytest.raises(SimulatorError, match="cup_1"):
            sim.detach("cup_1")
        with pytest.raises(SimulatorError, match="radius 0"):
            sim.capsule_depths((0.0, 0.0, 1.0), (0.0, 0.0, 1.1), 0.0)
        with pytest.raises(SimulatorError, match="third_hand"):
            sim.attach("cup_1", hand="third_hand", hand_from_thing=_IDENTITY)
        with pytest.raises(SimulatorError, match="cup_4"):
            sim.attach("cup_4", hand="right_hand", hand_from_thing=_IDENTITY)
        with pytest.raises(SimulatorError, match="-1"):
            sim.step(-1)
        with pytest.raises(SimulatorError, match="snapshot"):
            sim.restore(b"no snapshot")
        with pytest.raises(SimulatorError, match="load"):
            self.make().step(1)
