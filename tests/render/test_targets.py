"""The same bytes from kernels compiled for other processors: other instructions, other widths, one picture."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest

#: name of a target -> (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES, features that this machine needs for it)
TARGETS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "x86-64, nothing but SSE2": ("generic", "+sse2,-sse3,-avx,-avx2,-fma", ("sse2",)),
    "Nehalem, SSE4.2": ("nehalem", "+sse4.2,-avx,-avx2,-fma", ("sse4.2",)),
    "Sandy Bridge, AVX": ("sandybridge", "+avx,-avx2,-fma", ("avx",)),
    "Haswell, AVX2 and FMA": ("haswell", "+avx,+avx2,+fma,+bmi,+bmi2", ("avx2", "fma", "bmi2")),
    "Skylake, AVX-512": (
        "skylake-avx512",
        "+avx2,+fma,+avx512f,+avx512vl,+avx512dq,+avx512bw",
        ("avx512f", "avx512vl", "avx512dq", "avx512bw"),
    ),
}
#: registers that the target has and lacks
REGISTERS = {"generic": "xmm", "nehalem": "xmm", "sandybridge": "ymm", "haswell": "ymm", "skylake-avx512": "zmm"}

PICTURES = Path(__file__).parent / "pictures.py"


def picture_hash(cache: Path | None, *, name: str = "", features: str = "", threads: int = 2) -> tuple[str, str]:
    """Hash of `pictures.py` drawn by a fresh process, and the widest registers that its kernels use."""
    env = dict(os.environ, PYTHONPATH=str(PICTURES.parents[2]))
    settings = {"NUMBA_CACHE_DIR": str(cache or ""), "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}
    for key, value in settings.items():
        env.pop(key, None)
        if value:
            env[key] = value
    done = subprocess.run(
        [sys.executable, "-m", "tests.render.pictures", str(threads)],
        env=env, cwd=PICTURES.parents[2], capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    digest, widest = done.stdout.split()
    return digest, widest


def lacking(needs: tuple[str, ...]) -> str:
    """Why this machine can't run a target, or ""."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"targets are x86-64; this is {platform.machine()}"
    has = llvm.get_host_cpu_features()
    missing = [n for n in needs if not has.get(n)]
    return f"this processor lacks {', '.join(missing)}" if missing else ""


@pytest.fixture(scope="module")
def expected() -> str:
    """The hash of this process, compiled for this machine."""
    from tests.render.pictures import pictures_sha256

    return pictures_sha256(threads=1)


def _check(target: str, cache: Path, expected: str) -> None:
    name, features, needs = TARGETS[target]
    reason = lacking(needs)
    if reason:
        pytest.skip(reason)
    digest, widest = picture_hash(cache, name=name, features=features)
    assert digest == expected
    # it was another program, not the same once more
    assert widest == REGISTERS[name]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_processor_draws_the_same_bytes(target: str, tmp_path: Path, expected: str) -> None:
    _check(target, tmp_path, expected)


def test_another_process_with_other_threads_draws_the_same_bytes(expected: str) -> None:
    assert picture_hash(None, threads=3)[0] == expected
    assert picture_hash(None, threads=1)[0] == expected
