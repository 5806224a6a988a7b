"""Bands: each once, errors come through, forked processes draw as well."""

from __future__ import annotations

import os

import numpy as np
import pytest

from iwreplay.render import Renderer
from iwreplay.render.pool import default_threads, for_each_band
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, look


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_band_once(threads: int) -> None:
    times = np.zeros(50, int)
    workers: set[int] = set()

    def work(band: int, worker: int) -> None:
        times[band] += 1
        workers.add(worker)

    for_each_band(work, bands=50, threads=threads)
    assert (times == 1).all()
    assert workers <= set(range(threads))


def test_an_error_of_any_worker_is_raised() -> None:
    def work(band: int, worker: int) -> None:
        if band == 7:
            raise ArithmeticError("band seven")

    for threads in (1, 3):
        with pytest.raises(ArithmeticError, match="band seven"):
            for_each_band(work, bands=20, threads=threads)


def test_there_is_at_least_one_thread() -> None:
    assert 1 <= default_threads() <= 16


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_draws_the_same() -> None:
    scene = kitchen()
    renderer = Renderer(scene, threads=2)
    args = {"camera": look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0)), "focal_px": 100.0, "width": 160, "height": 120}
    expected = renderer.draw(WorldState(scene), **args).rgb  # type: ignore[arg-type]
    child = os.fork()
    if child == 0:
        same = (renderer.draw(WorldState(scene), **args).rgb == expected).all()  # type: ignore[arg-type]
        os._exit(0 if same else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
