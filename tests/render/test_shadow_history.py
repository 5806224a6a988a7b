"""A frame is of the state alone: whatever was drawn before it, in any order, by any number of threads."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iwreplay.body import bone_poses, own_skin
from iwreplay.events import EpisodeOpened, FrameCaptured
from iwreplay.log import read_log
from iwreplay.pose import Pose, from_xyz_yaw
from iwreplay.render import Frame, Renderer, focal_from_fovy, shadows
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState, fold
from tests.render.kitchen import kitchen, look, mug

W, H = 96, 72
FOCAL = focal_from_fovy(60.0, height=H)
SAMPLE = Path(__file__).parents[2] / "episodes" / "samples" / "V06-oracle.arrows"
CAMERAS = (
    look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0)),
    look((2.2, 0.3, 1.55), (2.2, 1.6, 0.75)),
    look((3.6, 2.0, 1.5), (1.0, 1.0, 0.2)),
)
MUGS = ("mug_1", "mug_10", "mug_11", "mug_12")


class Moment(NamedTuple):
    """All that a frame is of."""

    #: per mug: where it stands, or None for one that is not there
    mugs: tuple[int | None, ...]
    #: place of a lamp that is carried, or None while it is off
    lamp: int | None
    #: how far the wearer has moved, or None for nobody there
    body: int | None
    camera: int
    #: ids only, which follows the state and makes no map
    survey: bool


def made_up() -> CompiledScene:
    lamp = mug("mug_90", 0.5, 2.6, 0.9, "white")
    lamp_props = {**lamp.props, "light": 0.6, "light_z": 0.6}
    return kitchen(
        more=(
            *(mug(tid, 1.5 + 0.2 * i, 0.92, 0.753, "red") for i, tid in enumerate(MUGS[1:])),
            type(lamp)(
                **{**{f: getattr(lamp, f) for f in lamp.__struct_fields__}, "props": lamp_props,
                   "attrs": {**lamp.attrs, "on": False}}
            ),
        )
    )  # fmt: skip


SCENE = made_up()
SKIN = own_skin().without_head()


def drawn(renderer: Renderer, m: Moment) -> Frame | None:
    state = WorldState(SCENE)
    for k, (tid, at) in enumerate(zip(MUGS, m.mugs, strict=True)):
        if at is None:
            state.attrs[tid]["exists"] = False
        else:
            state.poses[tid] = from_xyz_yaw(1.2 + 0.3 * at, 0.8 + 0.15 * k, 0.75 + 0.1 * at, 0.2 * at)
    if m.lamp is not None:
        state.attrs["mug_90"]["on"] = True
        state.poses["mug_90"] = from_xyz_yaw(1.0 + 0.4 * m.lamp, 1.2, 1.0, 0.0)
    body: tuple[Pose, ...] = ()
    if m.body is not None:
        x, y, *rest = state.body
        body = bone_poses((x + 1.5 + 0.2 * m.body, y + 1.0, *rest[:5], *(v + 0.02 * m.body for v in rest[5:])))
    camera = CAMERAS[m.camera]
    if m.survey:
        renderer.survey(state, camera=camera, focal_px=FOCAL, width=W, height=H, body=body)
        return None
    return renderer.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H, body=body)


_PLACE = st.integers(0, 3)
MOMENTS = st.builds(
    Moment,
    mugs=st.tuples(*[st.none() | _PLACE] * len(MUGS)),
    lamp=st.none() | st.integers(0, 2),
    body=st.none() | st.integers(0, 2),
    camera=st.integers(0, len(CAMERAS) - 1),
    survey=st.booleans(),
)


@pytest.mark.parametrize(("threads", "full"), [(1, 0.25), (3, 0.001)])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moments=st.lists(MOMENTS, min_size=2, max_size=7))
def test_any_history_gives_the_frame_of_a_fresh_renderer(
    moments: list[Moment], threads: int, full: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """full: from which share on what is at rest goes to the base; with so small a one it does at once."""
    monkeypatch.setattr(shadows, "_FULL", full)
    used = Renderer(SCENE, body=SKIN, threads=threads)
    for m in moments:
        found = drawn(used, m)
        if found is None:
            continue
        fresh = Renderer(SCENE, body=SKIN, threads=1)
        expected = drawn(fresh, m)
        assert expected is not None
        assert (found.rgb == expected.rgb).all(), m
        assert (found.depth == expected.depth).all()
        assert (found.ids == expected.ids).all()
        # more than can be seen: all of the maps of the lamps that shine
        for lit in fresh._lamps.lit:
            if fresh._shadows._kept[lit.index].lit is not None:
                assert (used._shadows.maps[lit.index] == fresh._shadows.maps[lit.index]).all(), (m, lit)


def test_frames_of_an_episode_in_any_order() -> None:
    with read_log(SAMPLE) as log:
        opened = log.at_seq(0)
        assert isinstance(opened, EpisodeOpened)
        shots = [(e, state.copy()) for _, e, state in fold(log) if isinstance(e, FrameCaptured)]
    shots = shots[::8]
    focal = focal_from_fovy(60.0, height=H)

    def rgb(renderer: Renderer, k: int) -> bytes:
        event, state = shots[k]
        frame = renderer.draw(
            state, camera=event.camera, focal_px=focal, width=W, height=H, body=bone_poses(state.body)
        )
        return frame.rgb.tobytes()

    fresh = [rgb(Renderer(opened.scene, body=SKIN, threads=1), k) for k in range(len(shots))]
    assert len(set(fresh)) > 4
    orders = [list(range(len(shots))), list(range(len(shots)))[::-1]]
    orders += [random.Random(seed).choices(range(len(shots)), k=2 * len(shots)) for seed in range(2)]
    for threads, order in zip((1, 2, 3, 2), orders, strict=True):
        renderer = Renderer(opened.scene, body=SKIN, threads=threads)
        for k in order:
            assert rgb(renderer, k) == fresh[k], (order, k)


def test_what_stays_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map is made once; then only what moves is drawn, and nothing when nothing moves."""
    parts: list[int] = []
    real = shadows.ShadowMaps._draw

    def counted(self: shadows.ShadowMaps, wanted: np.ndarray, *rest: object) -> object:
        parts.append(int(wanted.sum()))
        return real(self, wanted, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(shadows.ShadowMaps, "_draw", counted)
    renderer = Renderer(SCENE, body=SKIN, threads=1)
    still = Moment((0, 1, 2, 3), None, 0, 0, False)
    drawn(renderer, still)
    whole, worn = parts[0], len(SKIN.parts)
    assert whole > 4 * worn
    assert parts[1:] == [worn]
    parts.clear()
    drawn(renderer, still)
    assert parts == []
    drawn(renderer, still._replace(body=1))
    assert parts == [worn]
    parts.clear()
    # a mug leaves the base; from then on it and the body are drawn over it
    drawn(renderer, still._replace(mugs=(1, 1, 2, 3)))
    assert parts[0] < whole
    assert worn < parts[1] < whole / 3
    moving = parts[1]
    parts.clear()
    drawn(renderer, still._replace(mugs=(2, 1, 2, 3)))
    assert parts == [moving]
