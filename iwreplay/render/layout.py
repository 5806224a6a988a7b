"""What the kernels of several modules must agree on: sizes, ids, and where a fragment's numbers are kept.

A fragment is one surface in one pixel. Fragments are worked on in blocks: the numbers of one kind stand side by side,
`CAP` apart from those of the next kind, in one flat float32 array; so that one instruction works on several of them.
"""

from __future__ import annotations

import zlib

__all__ = ["LAYOUT_REVISION"]

#: ids of what is no thing of the scene
SKY_ID = -1
BODY_ID = -2

#: fragments in a block
CAP = 4096
#: most fragments of one pixel: four samples, two panes in front of what is behind
MOST = 12

# place in view axes, normal, linear colour, gloss, own light, more of the light around (for texts to be read)
PX, PY, PZ, NX, NY, NZ, RED, GREEN, BLUE, GLOSS, GLOW, LIFT = range(12)
# shares of the pixel: of the surface itself, and of what it mirrors
SHARE, MIRROR = 12, 13
# worked out by `lighting`: light that falls on it, what it mirrors, direction to the eye, light around
LIGHT_R, LIGHT_G, LIGHT_B, SHINE, EX, EY, EZ, AROUND = range(14, 22)
# working space of `lighting`
TMP = 22
#: float32 numbers in a block
FLOATS = 32 * CAP

# columns of the lamps: place in view axes, colour times strength, one over the square of its reach, place in the
# world, rectangle x0 y0 x1 y1 that it shines in, how far it goes beyond, its map, strength
LAMP_AT, LAMP_RGB, LAMP_REACH, LAMP_WORLD, LAMP_RECT, LAMP_FADE, LAMP_MAP, LAMP_STRENGTH = 0, 3, 6, 7, 10, 14, 15, 16
LAMP_COLUMNS = 17
#: lamps that may shine at a time
MAX_LAMPS = 62

#: side of a lamp's shadow map, samples
MAP_PX = 768
#: it reaches 64 degrees to each side of straight down (384 / 187.5 = 2.05)
MAP_FOCAL_PX = 187.5
#: what is nearer to the lamp than this casts no shadow: its own fitting
MAP_NEAR_M = 0.25

#: Follows from all of the above. Kernel modules assert it in their own text: numba keeps compiled code by that text,
#: so that none of it outlives a change here.
LAYOUT_REVISION = zlib.crc32(
    repr(sorted((k, v) for k, v in globals().items() if k.isupper() and isinstance(v, int | float))).encode()
)
