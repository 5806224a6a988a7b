"""Pictures in which every kind of arithmetic of the renderer is used, and their hash.

    python -m tests.render.pictures THREADS

prints the hash and the widest registers that the compiled kernels use.
"""

from __future__ import annotations

import hashlib
import re
import sys

from iwreplay.body import bone_poses, own_skin
from iwreplay.pose import from_xyz_yaw, quat_about
from iwreplay.render import Renderer
from iwreplay.render.lighting import light_surfaces
from iwreplay.render.raster import raster_band
from iwreplay.render.shade import colour_pixels
from iwreplay.render.surfaces import list_surfaces
from iwreplay.scene.model import CompiledScene, Shape
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, look, shape, thing

WIDTH, HEIGHT = 161, 121


def _scene() -> CompiledScene:
    """The kitchen with a lamp, a switch, a prism, a rounded box and a pane."""
    prism = Shape(
        kind="prism", size=(0.03, 0.0, 0.0, 0.2, 0.0, 0.2, 0.1, 0.1, 0.05, 0.0, 0.2), material="oak", role="visual",
    )  # fmt: skip
    lamp = thing("lamp_1", shape("sphere", 0.05, at=(0, 0, 0.3), m="lamp"), pose=from_xyz_yaw(1.5, 1.5, 0.75, 0.4),
                 attrs={"on": True}, props={"light": 0.5, "light_z": 0.3, "light_rgb": "#ffb060"})  # fmt: skip
    switch = thing("switch_1", shape("box", 0.04, 0.01, 0.04, m="white"), pose=from_xyz_yaw(1.0, 2.98, 1.2, 0.0),
                   attrs={"on": True}, props={"lights": "room"})  # fmt: skip
    window = shape("box", 0.3, 0.004, 0.2, at=(0, 0, 0.2), m="glass")
    pane = thing("pane_1", window, pose=from_xyz_yaw(2.2, 1.1, 0.75, 0.3))
    plate = thing("plate_1", shape("rounded_box", 0.1, 0.1, 0.02, 0.015, m="white"),
                  pose=from_xyz_yaw(1.8, 1.2, 0.77, 0.2), attrs={"clean": False, "wet": True})  # fmt: skip
    turned = thing("prism_1", prism, pose=(2.4, 1.3, 0.8, *quat_about((1.0, 0.0, 0.0), 0.9)))
    return kitchen(more=(turned, pane, plate, lamp, switch))


def pictures_sha256(*, threads: int) -> str:
    """Hash over pixels, depth, ids and lattice of eight frames."""
    scene = _scene()
    state = WorldState(scene)
    renderer = Renderer(scene, body=own_skin().without_head(), threads=threads)
    h = hashlib.sha256()
    for k in range(8):
        state.attrs["switch_1"]["on"] = k % 4 < 2
        state.attrs["lamp_1"]["on"] = k % 2 == 0
        state.joints["cabinet_2.door"] = -0.2 * k
        state.poses["mug_1"] = (2.0 + 0.05 * k, 1.0, 0.9, *quat_about((1.0, 1.0, 0.3), 0.3 * k))
        camera = look((0.4 + 0.4 * k, 0.4, 1.6), (2.2, 1.6 + 0.1 * k, 0.7))
        frame = renderer.draw(
            state, camera=camera, focal_px=90.0, width=WIDTH, height=HEIGHT, body=bone_poses(state.body)
        )
        for array in (frame.rgb, frame.depth, frame.ids, frame.lattice):
            h.update(array.tobytes())
    return h.hexdigest()


def widest_registers() -> str:
    """xmm, ymm or zmm: what the kernels of this process were compiled to use."""
    found = {"xmm"}
    for kernel in (raster_band, list_surfaces, light_surfaces, colour_pixels):
        for code in kernel.inspect_asm().values():  # type: ignore[attr-defined]
            found |= set(re.findall(r"[xyz]mm", code))
    return max(found)


if __name__ == "__main__":
    sys.stdout.write(f"{pictures_sha256(threads=int(sys.argv[1]))} {widest_registers()}\n")
