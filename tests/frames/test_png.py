"""PNG files: read back to the same pixels, the same bytes each time."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from iwreplay.errors import RenderError
from iwreplay.frames import pixels_sha256, png_bytes


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (48, 64)])
def test_round_trip(shape: tuple[int, int]) -> None:
    rgb = np.random.default_rng(3).integers(0, 256, (*shape, 3)).astype(np.uint8)
    data = png_bytes(rgb)
    assert (np.asarray(Image.open(io.BytesIO(data)).convert("RGB")) == rgb).all()
    assert data == png_bytes(rgb.copy())


def test_holds_pixels_only() -> None:
    data = png_bytes(np.zeros((4, 4, 3), np.uint8))
    assert [k for k in (b"tIME", b"tEXt", b"iCCP", b"gAMA") if k in data] == []


def test_hash_is_of_rows_in_order() -> None:
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert pixels_sha256(rgb) == hashlib.sha256(bytes(range(24))).hexdigest()
    assert pixels_sha256(np.asfortranarray(rgb)) == pixels_sha256(rgb)


@pytest.mark.parametrize(
    "bad",
    [np.zeros((2, 2), np.uint8), np.zeros((2, 2, 4), np.uint8), np.zeros((2, 2, 3)), np.zeros((0, 2, 3), np.uint8)],
)
def test_refuses_other_arrays(bad: np.ndarray) -> None:
    with pytest.raises(RenderError, match="RGB"):
        png_bytes(bad)
