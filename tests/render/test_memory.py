"""Drawing many frames needs no more memory than drawing some."""

from __future__ import annotations

import gc
import multiprocessing
import sys
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from iwreplay.pose import from_xyz_yaw
from iwreplay.render import Frame, Renderer, focal_from_fovy
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, look, mug

W, H = 160, 120
STATM = Path("/proc/self/statm")
#: most that may be held more, bytes: by Python, and by the process with what its allocators keep
HELD, RESIDENT = 1_000_000, 6_000_000


def _frames(renderer: Renderer, state: WorldState, *, first: int, count: int, kept: list[Frame] | None = None) -> None:
    for i in range(first, first + count):
        state.poses["mug_1"] = from_xyz_yaw(2.0 + 0.01 * (i % 40), 1.0, 0.9, 0.1 * i)
        state.attrs["mug_1"]["clean"] = i % 3 == 0
        state.attrs["mug_1"]["wet"] = i % 2 == 0
        state.joints["cabinet_2.door"] = -0.03 * (i % 50)
        camera = look((0.5 + 0.03 * (i % 100), 0.5, 1.6), (2.2, 1.6, 0.8))
        frame = renderer.draw(state, camera=camera, focal_px=focal_from_fovy(60.0, height=H), width=W, height=H)
        if kept is not None:
            kept.append(frame)


def _resident_bytes() -> int:
    return int(STATM.read_text().split()[1]) * 4096


def _growth(frames: int, *, keep: bool = False) -> tuple[int, int]:
    """Bytes that Python and the process hold more after so many frames, beyond the first forty.

    In a process of its own: what tests run before have freed would be used again, and nothing would be seen to grow.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measured, frames, keep=keep).result()


def _measured(frames: int, *, keep: bool) -> tuple[int, int]:
    kept: list[Frame] | None = [] if keep else None
    scene = kitchen(more=(mug("mug_7", 1.5, 1.0, 0.75, "blue"),))
    state = WorldState(scene)
    renderer = Renderer(scene, threads=2)
    # every look that comes up is painted once and kept
    _frames(renderer, state, first=0, count=40)
    gc.collect()
    tracemalloc.start()
    try:
        held, resident = tracemalloc.get_traced_memory()[0], _resident_bytes()
        _frames(renderer, state, first=40, count=frames, kept=kept)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - held, _resident_bytes() - resident
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not STATM.exists(), reason=f"resident memory is read from {STATM}; {sys.platform} has none")
@pytest.mark.parametrize("frames", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_memory_stays_flat(frames: int) -> None:
    held, resident = _growth(frames)
    # the same for a hundred frames and for a thousand; one frame alone is 0.3 MB
    assert held < HELD
    assert resident < RESIDENT


@pytest.mark.skipif(not STATM.exists(), reason=f"resident memory is read from {STATM}; {sys.platform} has none")
def test_frames_that_are_kept_would_be_seen() -> None:
    held, resident = _growth(200, keep=True)
    assert held > 5 * HELD
    assert resident > RESIDENT
