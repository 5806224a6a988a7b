"""Frames as PNG files: the same pixels give the same bytes, and nothing else is in them."""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import TYPE_CHECKING

from iwreplay.errors import RenderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["pixels_sha256", "png_bytes", "png_pixels"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: PNG's row filter "up": difference to the row above
_FILTER_UP = 2
_HEADER = struct.Struct(">IIBBBBB")
#: of the two bytes of length and name, and of the checksum
_CHUNK_EXTRA = 12
#: no side of a frame is longer
_MOST_SIDE = 8192


def pixels_sha256(rgb: npt.NDArray[np.uint8]) -> str:
    """Hash of a frame: sha256 of its RGB bytes, row by row, height x width x 3. Not of its size, which the event that
    has the hash says too."""
    _check(rgb)
    return hashlib.sha256(rgb.tobytes()).hexdigest()


def png_bytes(rgb: npt.NDArray[np.uint8]) -> bytes:
    """An 8-bit RGB PNG of an array (height, width, 3). No time, no software name, no colour profile in it."""
    import numpy as np

    # Files as large as zlib's at its quickest level, in half the time: drawing must stay the larger part. It is a
    # kernel of the renderer, which is not loaded for what is only read.
    from iwreplay.render.deflate import zlib_packed

    _check(rgb)
    height, width = rgb.shape[:2]
    rows = np.ascontiguousarray(rgb).reshape(height, width * 3)
    filtered = np.empty((height, 1 + width * 3), np.uint8)
    filtered[:, 0] = _FILTER_UP
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
    header = _HEADER.pack(width, height, 8, 2, 0, 0, 0)
    body = zlib_packed(filtered.reshape(-1))
    return b"".join((_SIGNATURE, *_chunk(b"IHDR", header), *_chunk(b"IDAT", body), *_chunk(b"IEND", b"")))


def png_pixels(data: bytes) -> npt.NDArray[np.uint8]:
    """The array that `png_bytes` made these bytes of. RenderError for any others, damaged or of another program."""
    import numpy as np

    try:
        parts = dict(_chunks(data))
        width, height, *form = _HEADER.unpack(parts[b"IHDR"])
        if form != [8, 2, 0, 0, 0] or not (1 <= width <= _MOST_SIDE and 1 <= height <= _MOST_SIDE):
            raise RenderError(f"a PNG of {width} x {height} pixels, form {form}: not one of ours")
        size = height * (1 + width * 3)
        out = zlib.decompressobj()
        raw = out.decompress(parts[b"IDAT"], size)
        if len(raw) != size or not out.eof:
            raise RenderError(f"a PNG whose pixels are not {size} bytes")
    except (KeyError, struct.error, zlib.error) as e:
        raise RenderError(f"a damaged PNG: {e}") from e
    filtered = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * 3)
    if not (filtered[:, 0] == _FILTER_UP).all():
        raise RenderError("a PNG whose rows are packed in another way: not one of ours")
    # differences are of bytes, modulo 256
    rows = np.add.accumulate(filtered[:, 1:], axis=0, dtype=np.uint8)
    return rows.reshape(height, width, 3)


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    if not data.startswith(_SIGNATURE):
        raise RenderError("not a PNG file")
    found, at = [], len(_SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (crc,) = struct.unpack_from(">I", data, at + 8 + length)
        if crc != zlib.crc32(kind + body):
            raise RenderError(f"a damaged PNG: its part {kind!r} fails its checksum")
        found.append((kind, body))
        at += _CHUNK_EXTRA + length
    return found


def _chunk(kind: bytes, data: bytes) -> tuple[bytes, ...]:
    return struct.pack(">I", len(data)), kind, data, struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def _check(rgb: npt.NDArray[np.uint8]) -> None:
    if rgb.dtype.name != "uint8" or rgb.ndim != 3 or rgb.shape[2] != 3 or 0 in rgb.shape:
        raise RenderError(f"pixels of type {rgb.dtype} and shape {rgb.shape} are not RGB bytes (height, width, 3)")
