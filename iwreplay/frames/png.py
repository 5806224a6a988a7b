"""Frames as PNG files: the same pixels give the same bytes (with one version of zlib), and nothing else is in them."""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import TYPE_CHECKING

from iwreplay.errors import RenderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["pixels_sha256", "png_bytes"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LEVEL = 6
#: PNG's row filter "up": difference to the row above
_FILTER_UP = 2


def pixels_sha256(rgb: npt.NDArray[np.uint8]) -> str:
    """Hash of a frame: sha256 of its RGB bytes, row by row, height x width x 3."""
    _check(rgb)
    return hashlib.sha256(rgb.tobytes()).hexdigest()


def png_bytes(rgb: npt.NDArray[np.uint8]) -> bytes:
    """An 8-bit RGB PNG of an array (height, width, 3). No time, no software name, no colour profile in it."""
    import numpy as np

    _check(rgb)
    height, width = rgb.shape[:2]
    rows = np.ascontiguousarray(rgb).reshape(height, width * 3)
    filtered = np.empty((height, 1 + width * 3), np.uint8)
    filtered[:, 0] = _FILTER_UP
    filtered[0, 1:] = rows[0]
    filtered[1:, 1:] = rows[1:] - rows[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), _LEVEL)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _check(rgb: npt.NDArray[np.uint8]) -> None:
    if rgb.dtype.name != "uint8" or rgb.ndim != 3 or rgb.shape[2] != 3 or 0 in rgb.shape:
        raise RenderError(f"pixels of type {rgb.dtype} and shape {rgb.shape} are not RGB bytes (height, width, 3)")
