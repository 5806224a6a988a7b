"""Whether a text can be read in a frame: its capitals are tall enough, its ink stands out, its letters are in view."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iwreplay.frames import READABLE_CAP_PX, view_face
from iwreplay.frames.legibility import face_pixels, flattened, share_in_view
from iwreplay.frames.maker import DrawnState, FrameMaker
from iwreplay.frames.pages import Pixels
from iwreplay.pose import Pose
from iwreplay.render.labels import bend_m
from iwreplay.render.text import TextFit, draw_text, fit_text
from iwreplay.scene.model import Face, Thing
from iwreplay.world.geometry import faces_of

__all__ = ["FLAT_CAP_PX", "READABLE_CONTRAST", "READABLE_SHOWN", "MeasuredText", "measure_text"]

#: least ratio of the luminances of ink and paper in the pixels, as WCAG 2.2 defines it and asks of large letters
READABLE_CONTRAST = 3.0
#: as much of the letters must be in view
READABLE_SHOWN = 0.95
#: height of capitals in a face that is turned square to the reader, pixels
FLAT_CAP_PX = 34
#: of the pixels that the ink should take, the share that must be as far from the paper as that: edges are blurred
_INK_SHARE = 0.3


class MeasuredText(NamedTuple):
    """A text as a frame shows it."""

    #: height of a capital, pixels
    cap_px: float
    #: of ink to paper
    contrast: float
    #: share of its letters that are in view
    shown: float
    fit: TextFit
    #: the face turned square to the reader, with capitals of `FLAT_CAP_PX`
    flat: Pixels
    #: the whole frame
    rgb: Pixels

    @property
    def readable(self) -> bool:
        """Tall enough, with enough contrast, and nearly all of its letters in view."""
        return (
            self.fit.fits
            and self.cap_px >= READABLE_CAP_PX
            and self.contrast >= READABLE_CONTRAST
            and self.shown >= READABLE_SHOWN
        )

    def trouble(self) -> str:
        """Why it can't be read, as the rest of a sentence; "" when it can."""
        if not self.fit.fits:
            return "does not fit its face"
        if self.cap_px < READABLE_CAP_PX:
            return f"has capitals of {self.cap_px:.2f} pixels; {READABLE_CAP_PX} are needed"
        if self.contrast < READABLE_CONTRAST:
            return f"has a contrast of {self.contrast:.1f} to its paper; {READABLE_CONTRAST:g} are needed"
        if self.shown < READABLE_SHOWN:
            return f"is in view with {100 * self.shown:.0f} % of its letters; {100 * READABLE_SHOWN:.0f} % are needed"
        return ""


def measure_text(
    maker: FrameMaker, state: DrawnState, *, camera: Pose, thing: Thing, face: Face, text: str
) -> MeasuredText:
    """Draws the frame that `camera` sees and measures `text` on one face of a thing in it."""
    config, focal_px, scene = maker.config, maker.focal_px, maker.scene
    frame = maker.draw(state, camera=camera, focal_px=focal_px, width=config.frame_width, height=config.frame_height)
    at = next(f for f in faces_of(thing, state) if f.name == face.name).pose  # type: ignore[arg-type]
    index = next(i for i, t in enumerate(scene.things) if t.id == thing.id)
    fit = fit_text(text, face)
    seen = view_face(
        camera,
        focal_px=focal_px,
        face=at,
        size_m=face.size,
        cap_height_m=fit.cap_height_m,
        ids=frame.ids,
        depth=frame.depth,
        thing_index=index,
    )
    mask = face_pixels(camera, focal_px=focal_px, face=at, size_m=face.size, ids=frame.ids, thing_index=index)
    # measured square to the reader: what is near the eye would count for more otherwise
    flat, in_view = (
        flattened(
            picture, camera, focal_px=focal_px, face=at, size_m=face.size, px_per_m=FLAT_CAP_PX / fit.cap_height_m
        )
        for picture in (frame.rgb, np.where(mask[..., None], np.uint8(255), np.uint8(0)))
    )
    ink = _letters(text, face)
    contrast = _contrast(flat[in_view[..., 0] > 127], ink_share=float(ink.mean()))
    v, u = np.nonzero(ink > 0.5)
    points = np.stack(
        [((u + 0.5) / ink.shape[1] - 0.5) * face.size[0], (0.5 - (v + 0.5) / ink.shape[0]) * face.size[1]], axis=1
    )
    owner = next(link for link in thing.links if face in link.faces)
    shown = share_in_view(
        points,
        camera,
        focal_px=focal_px,
        face=at,
        bend_m=bend_m(owner, face),
        ids=frame.ids,
        depth=frame.depth,
        thing_index=index,
    )
    return MeasuredText(seen.cap_px, contrast, shown, fit, flat, frame.rgb)


def _letters(text: str, face: Face) -> npt.NDArray[np.float64]:
    """(height, width) of the face as it is drawn: how much of each pixel is ink, 0..1."""
    image, part = draw_text(text, face)
    used = image[: max(1, int(image.shape[0] * part[1])), : max(1, int(image.shape[1] * part[0]))].astype(np.int64)
    paper = np.array(face.paper)
    apart = int(np.abs(np.array(face.ink) - paper).sum())
    found: npt.NDArray[np.float64] = np.abs(used - paper).sum(axis=2) / max(apart, 1)
    return found


def _contrast(pixels: npt.NDArray[np.uint8], *, ink_share: float) -> float:
    """WCAG's ratio between paper, which is most of the pixels (n, 3), and ink, which is what differs from it most."""
    if len(pixels) == 0:
        return 1.0
    c = pixels.astype(np.float64) / 255.0
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    luminance = 0.2126 * linear[:, 0] + 0.7152 * linear[:, 1] + 0.0722 * linear[:, 2]
    paper = float(np.median(luminance))
    ratio = (np.maximum(luminance, paper) + 0.05) / (np.minimum(luminance, paper) + 0.05)
    rank = max(1, int(_INK_SHARE * ink_share * len(pixels)))
    return float(np.sort(ratio)[-rank])
