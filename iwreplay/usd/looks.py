"""Materials of a stage: the colours and textures of the reference renderer as UsdPreviewSurface, pictures as PNG.

A texture is painted once and laid out by metres, as the renderer does it: `st` of a mesh is in metres (v upwards), the
material scales it by its tiles per metre. A text's picture covers its face once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, UsdShade

from iwreplay.frames import pixels_sha256
from iwreplay.render.looks import PLAIN, Look
from iwreplay.render.palette import Palette
from iwreplay.render.text import draw_text
from iwreplay.scene.model import Face, Material
from iwreplay.usd.edge import linear_rgb
from iwreplay.usd.names import prim_name

__all__ = ["Looks", "Picture"]

#: of a look, in a material's name
_MARKS = ("wet", "dirt", "roast", "mould", "cracks", "drinks")
_METAL = ("metal",)
_GLASS_IOR = 1.5
#: UsdPreviewSurface's roughness 0 is a mirror, which nothing here is
_LEAST_ROUGH = 0.08


@dataclass(frozen=True)
class Picture:
    """Pixels (height, width, 3) that a material shows."""

    pixels: npt.NDArray[np.uint8]


@dataclass
class Looks:
    """Makes every material that is asked for, once."""

    stage: Any
    #: prim that the materials lie under
    root: str
    #: folder of the pictures as the stage names it
    folder: str
    #: what has to be written into that folder, by file name
    pictures: dict[str, Picture] = field(default_factory=dict)
    _palette: Palette = field(default_factory=Palette)
    _known: dict[Hashable, tuple[Any, Any]] = field(default_factory=dict)
    _texts: dict[str, Any] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def of(self, material: Material, look: Look = PLAIN) -> tuple[Any, Any]:
        """(UsdShade.Material, linear colour) of a material with what is on it."""
        index = self._palette.material(material, look)
        key = (material.name, index)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(material, look, index)
        return known

    def of_text(self, text: str, face: Face) -> tuple[Any, tuple[float, float], str]:
        """(UsdShade.Material, share of its picture that the face takes, file of the picture) of a text on a face."""
        pixels, part = draw_text(text, face)
        file = self._picture("text", pixels)
        if file not in self._texts:
            made, surface = self._surface(self._free(file.removesuffix(".png")), roughness=0.9, metallic=0.0)
            self._textured(made, surface, file, wrap="clamp", tiles=None)
            self._texts[file] = made
        return self._texts[file], part, self._asset(file)

    def _make(self, material: Material, look: Look, i: int) -> tuple[Any, Any]:
        p = self._palette
        name = material.name.strip("()")
        marks = [f"{m}{int(getattr(look, m))}" for m in _MARKS if getattr(look, m)]
        rough = max(_LEAST_ROUGH, 1.0 - float(p.gloss[i]))
        solid = float(p.alpha[i]) >= 1.0
        made, surface = self._surface(
            self._free("_".join([prim_name(name), *marks])),
            roughness=rough,
            metallic=1.0 if material.texture in _METAL and solid else 0.0,
        )
        colour = linear_rgb((float(p.rgb[i, 0]), float(p.rgb[i, 1]), float(p.rgb[i, 2])))
        if p.texture[i] >= 0:
            pixels = self._texels(int(p.texture[i]))
            self._textured(
                made,
                surface,
                self._picture(material.texture or "plain", pixels),
                wrap="repeat",
                tiles=float(p.uv_scale[i, 0]),
            )
            colour = linear_rgb(_mean(pixels))
        else:
            surface.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(colour)
        if not solid:
            surface.CreateInput("opacity", Sdf.ValueTypeNames.Float).Set(float(p.alpha[i]))
            surface.CreateInput("ior", Sdf.ValueTypeNames.Float).Set(_GLASS_IOR)
        if p.glow[i] > 0.0:
            surface.CreateInput("emissiveColor", Sdf.ValueTypeNames.Color3f).Set(colour * float(p.glow[i]))
        made.GetPrim().SetCustomDataByKey("iwreplay:name", material.name)
        return made, colour

    def _surface(self, name: str, *, roughness: float, metallic: float) -> tuple[Any, Any]:
        made = UsdShade.Material.Define(self.stage, f"{self.root}/{name}")
        surface = UsdShade.Shader.Define(self.stage, f"{self.root}/{name}/surface")
        surface.CreateIdAttr("UsdPreviewSurface")
        surface.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(roughness)
        surface.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(metallic)
        surface.CreateOutput("surface", Sdf.ValueTypeNames.Token)
        made.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
        return made, surface

    def _textured(self, made: Any, surface: Any, file: str, *, wrap: str, tiles: float | None) -> None:
        path = made.GetPath()
        reader = UsdShade.Shader.Define(self.stage, path.AppendChild("st"))
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("st")
        reader.CreateOutput("result", Sdf.ValueTypeNames.Float2)
        source = reader
        if tiles is not None:
            source = UsdShade.Shader.Define(self.stage, path.AppendChild("tiles"))
            source.CreateIdAttr("UsdTransform2d")
            source.CreateInput("in", Sdf.ValueTypeNames.Float2).ConnectToSource(reader.ConnectableAPI(), "result")
            source.CreateInput("scale", Sdf.ValueTypeNames.Float2).Set((tiles, tiles))
            source.CreateOutput("result", Sdf.ValueTypeNames.Float2)
        texture = UsdShade.Shader.Define(self.stage, path.AppendChild("picture"))
        texture.CreateIdAttr("UsdUVTexture")
        texture.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(Sdf.AssetPath(self._asset(file)))
        texture.CreateInput("st", Sdf.ValueTypeNames.Float2).ConnectToSource(source.ConnectableAPI(), "result")
        texture.CreateInput("wrapS", Sdf.ValueTypeNames.Token).Set(wrap)
        texture.CreateInput("wrapT", Sdf.ValueTypeNames.Token).Set(wrap)
        texture.CreateInput("sourceColorSpace", Sdf.ValueTypeNames.Token).Set("sRGB")
        texture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3)
        colour = surface.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
        colour.ConnectToSource(texture.ConnectableAPI(), "rgb")

    def _asset(self, file: str) -> str:
        return f"./{self.folder}/{file}"

    def _picture(self, kind: str, pixels: npt.NDArray[np.uint8]) -> str:
        """File name of a picture: named by its size and pixels, so that equal ones are one file."""
        height, width = pixels.shape[:2]
        file = f"{kind}_{width}x{height}_{pixels_sha256(pixels)[:16]}.png"
        self.pictures.setdefault(file, Picture(pixels))
        return file

    def _texels(self, texture: int) -> npt.NDArray[np.uint8]:
        """The finest level of a texture of the palette, unpacked."""
        start, log_width, log_height = (int(v) for v in self._palette.levels[texture, 0])
        width, height = 1 << log_width, 1 << log_height
        packed = self._palette.texels[start : start + width * height].reshape(height, width)
        channels = [(packed >> np.uint64(shift)) & np.uint64(255) for shift in (0, 20, 40)]
        return np.stack(channels, axis=-1).astype(np.uint8)

    def _free(self, name: str) -> str:
        wanted, n = name, 2
        while wanted in self._names:
            wanted, n = f"{name}_{n}", n + 1
        self._names.add(wanted)
        return wanted


def _mean(pixels: npt.NDArray[np.uint8]) -> tuple[float, float, float]:
    """Average colour, 0..1; summed as integers."""
    count = pixels.shape[0] * pixels.shape[1]
    r, g, b = (int(pixels[..., k].sum(dtype=np.int64)) / count / 255.0 for k in range(3))
    return (r, g, b)
