"""What is packed is what zlib unpacks, whatever it is; the same bytes each time, and not much larger than zlib's."""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.frames import png_bytes
from iwreplay.render import Renderer, focal_from_fovy
from iwreplay.render.deflate import zlib_packed
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, look

Bytes = npt.NDArray[np.uint8]


def _bytes(values: object) -> Bytes:
    return np.asarray(values, np.uint8)


RNG = np.random.default_rng(7)
#: each byte half as often as the one before: words as long as they get, and longer ones that have to be cut
STEEP = RNG.permutation(np.repeat(np.arange(20), [1 << k for k in range(20)]))


@pytest.mark.parametrize(
    "data",
    [
        _bytes([]), _bytes([0]), _bytes([255]), _bytes([7, 7]), _bytes([7, 7, 7, 7]), _bytes(np.zeros(100_000)),
        _bytes(RNG.integers(0, 256, 70_000)), _bytes(RNG.integers(0, 2, 5_000)), _bytes(STEEP),
        _bytes(np.repeat(RNG.integers(0, 256, 900), RNG.integers(1, 600, 900))),
    ],
    ids=["nothing", "a zero", "a byte", "two", "the shortest run", "zeros", "noise", "bits", "steep", "runs"],
)  # fmt: skip
def test_zlib_unpacks_it(data: Bytes) -> None:
    packed = zlib_packed(data)
    assert zlib.decompress(packed) == data.tobytes()
    assert packed == zlib_packed(data.copy())


@pytest.mark.parametrize("before", range(9))
def test_every_length_of_a_run(before: int) -> None:
    """Of zeros, from wherever in a word to wherever, and of other bytes."""
    for length in (*range(1, 40), *range(240, 300), *range(505, 540)):
        data = _bytes([1] * before + [0] * length + [9] * length + [0] * length)
        assert zlib.decompress(zlib_packed(data)) == data.tobytes(), length


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 255), st.integers(1, 300)), max_size=30))
def test_any_runs(runs: list[tuple[int, int]]) -> None:
    data = _bytes([b for b, n in runs for _ in range(n)])
    assert zlib.decompress(zlib_packed(data)) == data.tobytes()


def test_a_frame_is_about_as_large_as_zlib_makes_it() -> None:
    rgb = Renderer(kitchen(), threads=1).draw(
        WorldState(kitchen()), camera=look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0)),
        focal_px=focal_from_fovy(60.0, height=240), width=320, height=240,
    ).rgb  # fmt: skip
    rows = rgb.reshape(240, -1)
    up = np.concatenate([rows[:1], rows[1:] - rows[:-1]])
    assert len(png_bytes(rgb)) < 1.1 * len(zlib.compress(up.tobytes(), 1))
