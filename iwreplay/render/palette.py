"""The materials and texels that a scene uses, as arrays for the kernels.

Grows as materials and texts come up; a stated limit on texels is an error, never a silent loss.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from iwreplay.errors import RenderError
from iwreplay.render.looks import PLAIN, Look, stained, tinted
from iwreplay.render.textures import TEXTURE_PX, TEXTURES, paint
from iwreplay.scene.model import Material

__all__ = ["MAX_TEXELS", "Palette", "coverage_level"]

T = TypeVar("T", bound=np.generic)

#: texels of all textures together, with their mip levels (8 bytes each)
MAX_TEXELS = 1 << 26
_MAX_LEVELS = 13
_OPAQUE = 4
#: side of the square that the stains on plain paint repeat in; on furniture
_STAINED_M, _STAINED_LARGE_M = 0.28, 1.12
#: textures on which water stands in drops and pools; the others drink it
_HARD = ("", "ceramic", "checker", "glass", "marble", "metal", "planks", "plastic", "rubber", "stone", "tile", "wood")
#: dirt, cracks and drops can be seen on glass
_STAINED_ALPHA, _WET_ALPHA = 0.55, 0.45


def coverage_level(alpha: float) -> int:
    """How many of a pixel's four samples a surface of this opacity takes: 4 opaque, at least 1 so that it shows."""
    return max(1, min(_OPAQUE, int(alpha * 4.0 + 0.5)))


class Palette:
    """Materials by index. Arrays may be replaced when it grows: read them anew for every frame."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._size = 0
        self._used_texels = 0
        self._textures = 0
        #: (n, 3) colour 0..1; (n,) own light, share of the light around that it has more of, gloss, opacity, index of
        #: its texture or -1; (n, 2) tiles per metre; coverage
        self.rgb = np.zeros((32, 3))
        self.glow = np.zeros(32)
        self.lift = np.zeros(32)
        self.gloss = np.zeros(32)
        self.alpha = np.ones(32)
        self.texture = np.full(32, -1, np.int32)
        self.uv_scale = np.ones((32, 2))
        self.level = np.full(32, _OPAQUE, np.uint8)
        #: red from bit 0 on, green from bit 20, blue from bit 40 (room for weights when they are mixed); textures and
        #: their mip levels one after another
        self.texels: npt.NDArray[np.uint64] = np.zeros(1 << 16, np.uint64)
        #: (texture, level, (start, log2 width, log2 height)) and the number of levels
        self.levels: npt.NDArray[np.int64] = np.zeros((16, _MAX_LEVELS, 3), np.int64)
        self.level_count: npt.NDArray[np.int32] = np.zeros(16, np.int32)

    def material(self, material: Material, look: Look = PLAIN) -> int:
        """Index of a material with a look; RenderError when its texture is unknown or a number is out of range."""
        key = ("material", material.name, material.rgb, material.alpha, material.texture, material.emission, look)
        if key in self._known:
            return self._known[key]
        if not all(0 <= c <= 255 for c in material.rgb):
            raise RenderError(f"material {material.name!r}: colour {material.rgb} is not within 0..255")
        if not (0.0 < material.alpha <= 1.0 and 0.0 <= material.emission <= 4.0):
            raise RenderError(
                f"material {material.name!r}: alpha {material.alpha} must be in (0, 1], "
                f"emission {material.emission} in 0..4"
            )
        hard = material.texture in _HARD and not look.drinks
        rgb = tinted(material.rgb, look, hard=hard)
        texels = paint(material.texture, rgb)
        kind = TEXTURES[material.texture]
        period = kind.period_m
        if look != PLAIN:
            if texels is None:
                texels = np.full((TEXTURE_PX, TEXTURE_PX, 3), rgb, np.uint8)
                period = _STAINED_LARGE_M if look.large else _STAINED_M
            texels = stained(texels, look, period_m=period, hard=hard)
        texture, tiles = -1, 1.0
        if texels is not None:
            image = ("texture", material.texture, material.rgb, look)
            texture = self._known[image] if image in self._known else self._add_texture(image, texels)
            tiles = 1.0 / period
        seen = _STAINED_ALPHA if look.dirt or look.cracks or look.mould else _WET_ALPHA if look.wet else 0.0
        alpha = max(material.alpha, seen)
        level = coverage_level(alpha)
        gloss = max(kind.gloss, TEXTURES["glass"].gloss) if level < _OPAQUE else kind.gloss
        if look.wet:
            gloss = max(gloss, 0.7 if hard else 0.35)
        elif look.dirt == 2 or look.roast == 3:
            gloss *= 0.25
        return self._add(
            key,
            rgb=rgb,
            glow=material.emission,
            gloss=gloss,
            alpha=alpha if level < _OPAQUE else 1.0,
            texture=texture,
            scale=(tiles, tiles),
            level=level,
        )

    def image(
        self, key: Hashable, image: npt.NDArray[np.uint8], *, part: tuple[float, float], lift: float = 0.0
    ) -> int:
        """Index of a material that shows an image (h, w, 3) with sides that are powers of two.

        part: the share of its width and height that uv 0..1 covers. lift: it gets so much more of the light
        around. The image is read only when `key` is new.
        """
        if key in self._known:
            return self._known[key]
        texture = self._add_texture(("image", key), image)
        return self._add(key, rgb=(255, 255, 255), lift=lift, texture=texture, scale=part)

    def knows(self, key: Hashable) -> int | None:
        """Index of an image's material when it is there already."""
        return self._known.get(key)

    def _add(
        self,
        key: Hashable,
        *,
        rgb: tuple[int, int, int],
        texture: int,
        scale: tuple[float, float],
        glow: float = 0.0,
        lift: float = 0.0,
        gloss: float = 0.0,
        alpha: float = 1.0,
        level: int = _OPAQUE,
    ) -> int:
        i = self._size
        if i == len(self.glow):
            for name in ("rgb", "glow", "lift", "gloss", "alpha", "texture", "uv_scale", "level"):
                setattr(self, name, _doubled(getattr(self, name)))
        self.rgb[i] = [c / 255.0 for c in rgb]
        self.glow[i], self.gloss[i], self.texture[i], self.uv_scale[i] = glow, gloss, texture, scale
        self.lift[i], self.alpha[i], self.level[i] = lift, alpha, level
        self._size += 1
        self._known[key] = i
        return i

    def _add_texture(self, key: Hashable, image: npt.NDArray[np.uint8]) -> int:
        mips = _mip_levels(image)
        wanted = self._used_texels + sum(m.shape[0] * m.shape[1] for m in mips)
        if wanted > MAX_TEXELS:
            raise RenderError(
                f"textures need {wanted} texels, more than the limit of {MAX_TEXELS}: use fewer or smaller texts"
            )
        while wanted > len(self.texels):
            self.texels = _doubled(self.texels)
        i = self._textures
        if i == len(self.level_count):
            self.levels, self.level_count = _doubled(self.levels), _doubled(self.level_count)
        for j, m in enumerate(mips):
            height, width = m.shape[:2]
            self.levels[i, j] = (self._used_texels, width.bit_length() - 1, height.bit_length() - 1)
            packed = m[..., 0].astype(np.uint64) | m[..., 1].astype(np.uint64) << 20 | m[..., 2].astype(np.uint64) << 40
            self.texels[self._used_texels : self._used_texels + width * height] = packed.ravel()
            self._used_texels += width * height
        self.level_count[i] = len(mips)
        self._textures += 1
        self._known[key] = i
        return i


def _doubled(array: npt.NDArray[T]) -> npt.NDArray[T]:
    return np.concatenate([array, np.zeros_like(array)])


def _mip_levels(image: npt.NDArray[np.uint8]) -> list[npt.NDArray[np.uint8]]:
    """The image and its halvings down to one texel, by integer averages."""
    height, width = image.shape[:2]
    if height & (height - 1) or width & (width - 1) or max(height, width) > 1 << (_MAX_LEVELS - 1):
        raise RenderError(
            f"texture of {width} x {height} texels: sides must be powers of two up to {1 << (_MAX_LEVELS - 1)}"
        )
    levels = [image]
    while max(height, width) > 1:
        fine = levels[-1].astype(np.uint32)
        down, across = min(2, height), min(2, width)
        height, width = height // down, width // across
        blocks = fine.reshape(height, down, width, across, 3)
        n = down * across
        levels.append(((blocks.sum(axis=(1, 3), dtype=np.uint32) + n // 2) // n).astype(np.uint8))
    return levels
