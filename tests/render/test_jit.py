"""How kernels are compiled: exact, and with or without a place to keep them."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from iwreplay.render import deflate, jit, layout, lighting, raster, shade, skinning, surfaces

KERNELS = (
    raster.place_parts,
    raster.setup,
    raster.count_bands,
    raster.fill_bands,
    raster.raster_band,
    raster.depth_band,
    surfaces.list_surfaces,
    surfaces.survey_band,
    lighting.light_surfaces,
    shade.colour_pixels,
    skinning.skin_vertices,
    skinning.skin_normals,
    skinning.copy_skin,
    deflate.count_symbols,
    deflate.make_code,
    deflate.write_bits,
)


@pytest.mark.parametrize("module", [raster, surfaces, lighting, shade, skinning, deflate])
def test_what_a_kernel_is_compiled_from_is_all_in_its_file(module: ModuleType) -> None:
    """numba keeps compiled code by the text of the kernel's file: a constant from elsewhere could go stale."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    imported |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    ours = {name for name in imported if name is not None and name.startswith("iwreplay")}
    assert ours == {"iwreplay.render.jit", "iwreplay.render.layout"}
    assert imported - ours <= {"__future__", "math", "numpy", "numpy.typing", "zlib"}
    asserted = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Assert)]
    # a number in the file's own text: what changes it changes the file
    assert f"assert OPTIONS_REVISION == {jit.OPTIONS_REVISION}" in asserted
    assert f"assert LAYOUT_REVISION == {layout.LAYOUT_REVISION}" in asserted


def test_the_layout_has_another_revision_when_any_number_of_it_changes() -> None:
    source = Path(str(layout.__file__)).read_text(encoding="utf-8")
    for old, new in (("CAP = 4096", "CAP = 8192"), ("MAP_PX = 768", "MAP_PX = 512"), ("TMP = 22", "TMP = 23")):
        assert old in source
        changed: dict[str, object] = {}
        exec(source.replace(old, new), changed)
        assert changed["LAYOUT_REVISION"] != layout.LAYOUT_REVISION


def product_and_sum(a: float, b: float, c: float) -> float:
    return a * b + c


def test_no_kernel_may_reorder_or_fuse_arithmetic() -> None:
    for k in KERNELS:
        assert not k.targetoptions.get("fastmath")  # type: ignore[attr-defined]
        assert not k.targetoptions.get("parallel")  # type: ignore[attr-defined]
        assert k.targetoptions["error_model"] == "numpy"  # type: ignore[attr-defined]


def test_a_product_and_a_sum_stay_two_roundings() -> None:
    compiled = jit.inlined(product_and_sum)
    # 1 - 2**-54 rounds to 1 before the subtraction; a fused one would keep -2**-54
    a = 1.0 + 2.0**-27
    b = 1.0 - 2.0**-27
    assert compiled(a, b, -1.0) == 0.0
    code = compiled.inspect_asm(compiled.signatures[0]).lower()  # type: ignore[attr-defined]
    assert "fmadd" not in code
    assert "fmla" not in code


def test_kernels_work_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = jit.njit

    def refusing(function: object, **options: object) -> object:
        asked.append(options["cache"])
        if options["cache"]:
            raise RuntimeError("cannot cache function 'product_and_sum': no locator available for file 'x.py'")
        return real(function, **options)

    monkeypatch.setattr(jit, "njit", refusing)
    assert jit.kernel(product_and_sum)(2.0, 3.0, 1.0) == 7.0
    assert asked == [True, False]
    monkeypatch.setattr(jit, "njit", lambda function, **options: (_ for _ in ()).throw(RuntimeError("out of luck")))
    with pytest.raises(RuntimeError, match="out of luck"):
        jit.kernel(product_and_sum)


_OTHER_PROCESSOR = """
import json
from tests.render import test_renderer as t
scene = t.kitchen()
state = t.WorldState(scene)
frame = t.Renderer(scene, threads=1).draw(
    state, camera=t.look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0)), focal_px=t.FOCAL, width=t.W, height=t.H
)
print(json.dumps(t.digest(frame)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processor names are those of one platform")
def test_code_for_the_plainest_processor_draws_the_same(tmp_path: object) -> None:
    """Compiled once for this processor and once without any extension of its instruction set."""
    found = []
    for more in ({}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}):
        done = subprocess.run(
            [sys.executable, "-c", _OTHER_PROCESSOR], env={**os.environ, **more}, capture_output=True, check=True
        )
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
