"""PNG files: read back to the same pixels, the same bytes each time."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from iwreplay.errors import RenderError
from iwreplay.frames import pixels_sha256, png_bytes, png_pixels


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


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (48, 64)])
def test_its_own_pictures_are_read(shape: tuple[int, int]) -> None:
    rgb = np.random.default_rng(5).integers(0, 256, (*shape, 3)).astype(np.uint8)
    assert (png_pixels(png_bytes(rgb)) == rgb).all()


def test_others_and_damaged_ones_are_refused() -> None:
    rgb = np.random.default_rng(5).integers(0, 256, (9, 11, 3)).astype(np.uint8)
    good = png_bytes(rgb)
    out = io.BytesIO()
    Image.fromarray(rgb[..., 0]).save(out, "PNG")
    for bad in (b"", b"GIF89a", good[:-9], good[:40], good[:60] + b"\0\1" + good[62:], out.getvalue(), good[:8]):
        with pytest.raises(RenderError):
            png_pixels(bad)
    for k in range(len(good)):
        flipped = good[:k] + bytes([good[k] ^ 16]) + good[k + 1 :]
        try:
            read = png_pixels(flipped)
        except RenderError:
            continue
        assert (read == rgb).all(), k
