"""Pixels kept beside a log, under the hash of their bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from iwreplay.frames.png import pixels_sha256, png_bytes
from iwreplay.store import KeptPixels


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    rgb = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
    kept, name = KeptPixels(tmp_path / "pixels"), pixels_sha256(rgb)
    assert kept.get(name, width=8, height=6) is None
    kept.keep(name, rgb)
    again = kept.get(name, width=8, height=6)
    assert again is not None
    assert np.array_equal(again, rgb)
    assert kept.damaged == []


def test_a_picture_with_the_same_bytes_and_another_shape_is_not_it(tmp_path: Path) -> None:
    rgb = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
    turned = rgb.reshape(8, 6, 3)
    name = pixels_sha256(rgb)
    assert pixels_sha256(turned) == name
    (tmp_path / f"{name}.png").write_bytes(png_bytes(turned))
    kept = KeptPixels(tmp_path)
    assert kept.get(name, width=8, height=6) is None
    assert kept.damaged == [tmp_path / f"{name}.png"]
    # keeping the right one mends it
    kept.keep(name, rgb)
    assert kept.get(name, width=8, height=6) is not None
