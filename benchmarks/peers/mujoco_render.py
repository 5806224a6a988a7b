"""Draws a scene of triangles with mujoco's own renderer (Mesa), or with the ray camera of mujoco-warp.

    MUJOCO_GL=egl python mujoco_render.py gl SCENE.npz FRAMES
    python mujoco_render.py warp SCENE.npz FRAMES

Prints one JSON object: milliseconds of wall and processor time a frame, medians. Needs nothing of iwreplay: it runs in
an environment of its own. SCENE.npz: positions (v, 3), faces (f, 3), starts of each part's vertices and faces, colours
(parts, 4) 0..1, lamp (3,), eyes (n, 3), targets (n, 3), fovy, width, height.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np


def model_of(scene: Any) -> Any:
    """A mesh for each part; parts whose vertices lie in a plane are left out (mujoco has no hull of them)."""
    assets, geoms = [], []
    v, f = scene["vertex_starts"], scene["face_starts"]
    for p in range(len(v) - 1):
        points, corners = scene["positions"][v[p] : v[p + 1]], scene["faces"][f[p] : f[p + 1]] - v[p]
        if len(points) < 4 or np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[-1] < 1e-5:
            continue
        vertex, face = (" ".join(map(repr, a.ravel().tolist())) for a in (points, corners))
        colour = " ".join(map(str, scene["colours"][p].tolist()))
        assets.append(f'<mesh name="m{p}" inertia="shell" vertex="{vertex}" face="{face}"/>')
        geoms.append(f'<geom type="mesh" mesh="m{p}" rgba="{colour}" contype="0" conaffinity="0"/>')
    x, y, z = scene["lamp"].tolist()
    width, height = int(scene["width"]), int(scene["height"])
    xml = f"""<mujoco><visual><global offwidth="{width}" offheight="{height}" fovy="{float(scene["fovy"])}"/>
    <quality shadowsize="1024" offsamples="4"/></visual><asset>{"".join(assets)}</asset>
    <worldbody><light pos="{x} {y} {z}" dir="0 0 -1" cutoff="80" castshadow="true"/>
    <camera name="eye" pos="0 0 0" fovy="{float(scene["fovy"])}"/>{"".join(geoms)}</worldbody></mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)


def look(model: Any, eye: Any, target: Any) -> None:
    """Puts the camera at eye, looking at target."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, np.stack([right, np.cross(back, right), back], axis=1).ravel())
    model.cam_pos[0], model.cam_quat[0] = eye, quat


def median_ms(draw: Callable[[int], object], *, frames: int) -> dict[str, float]:
    draw(0)
    wall, cpu = [], []
    for i in range(frames):
        w, c = time.perf_counter(), time.process_time()
        draw(i)
        wall.append(1000.0 * (time.perf_counter() - w))
        cpu.append(1000.0 * (time.process_time() - c))
    return {"wall_ms": statistics.median(wall), "cpu_ms": statistics.median(cpu)}


def with_gl(scene: Any, frames: int) -> dict[str, Any]:
    model = model_of(scene)
    data = mujoco.MjData(model)
    renderer = mujoco.Renderer(model, int(scene["height"]), int(scene["width"]))

    def shot(i: int, *, passes: tuple[str, ...]) -> None:
        look(model, scene["eyes"][i % len(scene["eyes"])], scene["targets"][i % len(scene["eyes"])])
        mujoco.mj_forward(model, data)
        for name in passes:
            if name == "depth":
                renderer.enable_depth_rendering()
            if name == "ids":
                renderer.enable_segmentation_rendering()
            renderer.update_scene(data, camera="eye")
            renderer.render()
            renderer.disable_depth_rendering()
            renderer.disable_segmentation_rendering()

    return {
        "rgb": median_ms(lambda i: shot(i, passes=("rgb",)), frames=frames),
        "rgb, depth and ids": median_ms(lambda i: shot(i, passes=("rgb", "depth", "ids")), frames=frames),
        "triangles": int(model.nmeshface),
        "version": mujoco.__version__,
    }


def with_warp(scene: Any, frames: int) -> dict[str, Any]:
    import mujoco_warp as mjw
    import warp as wp

    model = model_of(scene)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    m, d = mjw.put_model(model), mjw.put_data(model, data)
    context = mjw.create_render_context(
        model, nworld=1, cam_res=(int(scene["width"]), int(scene["height"])), render_rgb=True, render_depth=True,
        render_seg=True,
        use_shadows=True, use_textures=False,
    )  # fmt: skip

    def shot(i: int) -> None:
        look(model, scene["eyes"][i % len(scene["eyes"])], scene["targets"][i % len(scene["eyes"])])
        mujoco.mj_forward(model, data)
        wp.copy(d.cam_xpos, wp.array(data.cam_xpos[None], dtype=wp.vec3))
        wp.copy(d.cam_xmat, wp.array(data.cam_xmat.reshape(1, -1, 3, 3), dtype=wp.mat33))
        mjw.render(m, d, context)
        wp.synchronize()

    return {
        "rgb, depth and ids": median_ms(shot, frames=frames),
        "version": mjw.__version__ if hasattr(mjw, "__version__") else "",
    }


if __name__ == "__main__":
    with np.load(sys.argv[2]) as loaded:
        arrays = dict(loaded)
    made = (with_gl if sys.argv[1] == "gl" else with_warp)(arrays, int(sys.argv[3]))
    sys.stdout.write(json.dumps(made) + "\n")
