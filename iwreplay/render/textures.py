"""Procedural textures: wood, tile, fabric and so on, painted around a material's colour.

Integer hashing only (no random-number library, no libm), so the texels are the same everywhere. Every texture tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from iwreplay.errors import RenderError

__all__ = ["TEXTURES", "TEXTURE_PX", "Ints", "Texture", "cloud", "noise", "paint", "random_bytes", "texel_grid"]

#: side of every procedural texture, texels; a power of two
TEXTURE_PX = 256

Ints = npt.NDArray[np.int64]
#: texel columns and rows -> (shade in 1/256 of the colour, mortar share in 0..256)
Painter = Callable[[Ints, Ints], tuple[Ints, Ints]]


@dataclass(frozen=True)
class Texture:
    """A kind of surface. `period_m` is the side of the square that one copy covers; `gloss` 0 dull to 1 mirror-like."""

    period_m: float
    gloss: float
    painter: Painter
    #: colour of joints, mixed in by the mortar share
    mortar: tuple[int, int, int] = (150, 146, 140)
    #: u runs along the horizontal on walls, whatever their proportions
    upright: bool = False


def random_bytes(x: Ints, y: Ints, *, seed: int) -> Ints:
    """0..255 per pair, by mixing 32-bit integers."""
    mask = 0xFFFFFFFF
    h = (x * 374761393 + y * 668265263 + seed * 2246822519) & mask
    h = ((h ^ (h >> 15)) * 2246822519) & mask
    h = ((h ^ (h >> 13)) * 3266489917) & mask
    return (h ^ (h >> 16)) & 255


def noise(u: Ints, v: Ints, *, cells: tuple[int, int], seed: int) -> Ints:
    """Smooth value noise, 0..255, with so many cells across the tile each way."""
    across, down = TEXTURE_PX // cells[0], TEXTURE_PX // cells[1]
    x0, y0 = u // across, v // down
    fx, fy = (u % across) * 256 // across, (v % down) * 256 // down
    # 3t^2 - 2t^3 in 1/256
    sx, sy = (fx * fx * (768 - 2 * fx)) >> 16, (fy * fy * (768 - 2 * fy)) >> 16
    x1, y1 = (x0 + 1) % cells[0], (y0 + 1) % cells[1]
    x0, y0 = x0 % cells[0], y0 % cells[1]
    a, b = random_bytes(x0, y0, seed=seed), random_bytes(x1, y0, seed=seed)
    c, d = random_bytes(x0, y1, seed=seed), random_bytes(x1, y1, seed=seed)
    top, bottom = a * 256 + (b - a) * sx, c * 256 + (d - c) * sx
    return (top * 256 + (bottom - top) * sy) >> 16


def cloud(u: Ints, v: Ints, *, cells: int, seed: int) -> Ints:
    """Three octaves of noise, 0..255, middle 128."""
    parts = [noise(u, v, cells=(cells << k, cells << k), seed=seed + k) for k in range(3)]
    return (parts[0] * 4 + parts[1] * 2 + parts[2]) // 7


def _none(u: Ints) -> Ints:
    return np.zeros_like(u)


def _line(position: Ints, *, every: int, width: int) -> Ints:
    """256 on a joint of `width` texels that repeats, else 0."""
    return np.where(position % every < width, 256, 0)


def _wood(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    bend = (noise(u, v, cells=(2, 4), seed=11) - 128) // 10
    w = (v + bend) % TEXTURE_PX
    rings = noise(u, w, cells=(2, 32), seed=12)
    fibre = noise(u, w, cells=(8, 128), seed=13)
    return 232 + (rings - 128) // 5 + (fibre - 128) // 9, _none(u)


def _planks(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    row = v // 64
    shift = (u + row * 83) % TEXTURE_PX
    tone = (random_bytes(row, shift // 128, seed=21) - 128) // 9
    grain, _ = _wood((u + row * 57) % TEXTURE_PX, v)
    joint = np.maximum(_line(v, every=64, width=2), _line(shift, every=128, width=2))
    return np.where(joint > 0, 150, grain + tone), _none(u)


def _tile(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    half = TEXTURE_PX // 2
    tone = (random_bytes(u // half, v // half, seed=31) - 128) // 20
    joint = np.maximum(_line(u, every=half, width=4), _line(v, every=half, width=4))
    return 248 + tone + (cloud(u, v, cells=8, seed=32) - 128) // 16, joint * 7 // 8


def _brick(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    row = v // 64
    shift = (u + (row % 2) * 64) % TEXTURE_PX
    tone = (random_bytes(row, shift // 128, seed=41) - 128) // 6
    joint = np.maximum(_line(v, every=64, width=6), _line(shift, every=128, width=6))
    return 236 + tone + (cloud(u, v, cells=16, seed=42) - 128) // 6, joint


def _fabric(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    weave = np.where((u // 4 + v // 4) % 2 == 0, 10, -10)
    return 240 + weave + (noise(u, v, cells=(64, 64), seed=51) - 128) // 10, _none(u)


def _terry(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    loops = (noise(u, v, cells=(64, 64), seed=53) - 128) // 3
    return 226 + loops + (cloud(u, v, cells=4, seed=54) - 128) // 10, _none(u)


def _knit(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    # columns of stitches: each slants to the middle of its column, where it is deepest
    across = np.abs(v % 32 - 16)
    stitch = np.abs((u + across) % 16 - 8)
    return 206 + across * 3 - np.where(stitch < 3, 26, 0), _none(u)


def _check(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    half = TEXTURE_PX // 2
    return 250 + _none(u), 118 * (u // half) + 118 * (v // half)


def _carpet(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    tuft = (noise(u, v, cells=(128, 128), seed=61) - 128) // 4
    return 238 + tuft + (cloud(u, v, cells=4, seed=62) - 128) // 10, _none(u)


def _metal(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    return 248 + (noise(u, v, cells=(4, 256), seed=71) - 128) // 12, _none(u)


def _stone(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    speck = (noise(u, v, cells=(128, 128), seed=81) - 128) // 4
    return 240 + speck + (cloud(u, v, cells=16, seed=82) - 128) // 5, _none(u)


def _marble(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    haze = cloud(u, v, cells=4, seed=91)
    vein = np.abs((haze * 3 + u + v) % TEXTURE_PX - 128)
    return 252 + (haze - 128) // 12, np.where(vein < 10, (10 - vein) * 9, 0)


def _plaster(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    return 252 + (cloud(u, v, cells=8, seed=101) - 128) // 24, _none(u)


def _concrete(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    return 240 + (cloud(u, v, cells=4, seed=111) - 128) // 5, _none(u)


def _grass(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    blade = (noise(u, v, cells=(128, 64), seed=121) - 128) // 2
    return 232 + blade + (cloud(u, v, cells=4, seed=122) - 128) // 4, _none(u)


def _leather(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    return 244 + (cloud(u, v, cells=32, seed=131) - 128) // 7, _none(u)


def _wicker(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    over = (u // 16 + v // 16) % 2 == 0
    bulge = np.where(over, np.abs(v % 16 - 8), np.abs(u % 16 - 8))
    return 256 - bulge * 9, _none(u)


def _checker(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    half = TEXTURE_PX // 2
    return np.full_like(u, 250), np.where((u // half + v // half) % 2 == 0, 220, 0)


def _stripes(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    return 250 + _none(u), np.where(u % 64 < 24, 230, 0)


def _flat(u: Ints, v: Ints) -> tuple[Ints, Ints]:
    return 256 + _none(u), _none(u)


_WHITE = (240, 240, 236)

#: name -> texture; "" is plain paint. "ceramic", "plastic", "glass" and "rubber" differ from it in gloss only.
TEXTURES: dict[str, Texture] = {
    "": Texture(1.0, 0.10, _flat),
    "brick": Texture(0.46, 0.02, _brick, (196, 190, 180), upright=True),
    "carpet": Texture(0.40, 0.0, _carpet),
    "ceramic": Texture(1.0, 0.45, _flat),
    "check": Texture(0.04, 0.0, _check, _WHITE),
    "checker": Texture(0.60, 0.25, _checker, _WHITE),
    "concrete": Texture(1.20, 0.03, _concrete),
    "fabric": Texture(0.20, 0.0, _fabric),
    "glass": Texture(1.0, 0.80, _flat),
    "grass": Texture(0.60, 0.0, _grass),
    "knit": Texture(0.08, 0.0, _knit),
    "leather": Texture(0.25, 0.20, _leather),
    "marble": Texture(0.80, 0.40, _marble, (120, 122, 128)),
    "metal": Texture(0.30, 0.60, _metal),
    "paper": Texture(1.0, 0.0, _flat),
    "planks": Texture(0.80, 0.15, _planks),
    "plaster": Texture(1.0, 0.0, _plaster),
    "plastic": Texture(1.0, 0.30, _flat),
    "rubber": Texture(1.0, 0.04, _flat),
    "stone": Texture(0.50, 0.25, _stone),
    "stripes": Texture(0.12, 0.0, _stripes, _WHITE, upright=True),
    "terry": Texture(0.12, 0.0, _terry),
    "tile": Texture(0.60, 0.35, _tile, (176, 172, 166)),
    "wicker": Texture(0.12, 0.03, _wicker),
    "wood": Texture(0.70, 0.14, _wood),
}


def texel_grid() -> tuple[Ints, Ints]:
    """Column and row of every texel."""
    v, u = np.meshgrid(np.arange(TEXTURE_PX), np.arange(TEXTURE_PX), indexing="ij")
    return u.astype(np.int64), v.astype(np.int64)


@lru_cache(maxsize=64)
def _pattern(name: str) -> tuple[Ints, Ints]:
    """Shade and mortar of every texel: what a texture is before it has a colour."""
    return TEXTURES[name].painter(*texel_grid())


@lru_cache(maxsize=512)
def paint(name: str, rgb: tuple[int, int, int]) -> npt.NDArray[np.uint8] | None:
    """Texels (TEXTURE_PX, TEXTURE_PX, 3) of a texture in a colour, read-only; None for plain paint.

    RenderError for a name that is not in TEXTURES.
    """
    texture = TEXTURES.get(name)
    if texture is None:
        raise RenderError(f"texture {name!r} is not one of: {', '.join(n for n in TEXTURES if n)}")
    if texture.painter is _flat:
        return None
    shade, mortar = _pattern(name)
    channels = [
        ((c * shade * (256 - mortar)) >> 16) + ((m * mortar) >> 8) for c, m in zip(rgb, texture.mortar, strict=True)
    ]
    texels: npt.NDArray[np.uint8] = np.clip(np.stack(channels, axis=-1), 0, 255).astype(np.uint8)
    texels.setflags(write=False)
    return texels
