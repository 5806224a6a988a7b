"""How the kernels are compiled.

Exactness: `fastmath` stays off and `error_model="numpy"` (a division by zero gives infinity as on any IEEE machine);
kernels use + - * / sqrt floor, comparisons and integers, nothing else. No parallel regions: threads are ours
(`pool.py`), each calls kernels that release the interpreter lock and write rows of their own. So no threading layer
of numba is involved, any number of Python threads may draw, and a forked process may too.

Cache: compiled code is kept beside the source in `__pycache__`; where that is read-only (a system-wide install), in
numba's folder of the user (`~/.cache/numba` or what the platform uses); `NUMBA_CACHE_DIR` overrides both. Where none
of them can be written, kernels are compiled anew by every process, which costs some seconds at the first frame and
changes no pixel. What numba keeps is keyed by the text of the kernel's own file and nothing else of ours: so a kernel
module imports nothing from the package except this module and the numbers of `layout` (a test holds it to that), and
asserts the revisions of both as numbers in its own text: `OPTIONS_REVISION`, which must be raised here and there when
the options below change, and `LAYOUT_REVISION`, which follows from the layout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["OPTIONS_REVISION", "inlined", "kernel", "shared"]

OPTIONS_REVISION = 1

#: kernels are typed by what they are called with, not by annotations
Kernel = Callable[..., Any]


# `_nrt=False`: kernels allocate nothing, and without numba's reference counts on every array that is handed to an inner
# function they run twice as fast (the counts are atomic increments inside the pixel loop).
_EXACT: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy", "_nrt": False}


def kernel(function: Kernel) -> Kernel:
    """Compiles a function that is called from Python; cached on disk where possible. It may not allocate arrays."""
    try:
        compiled: Kernel = njit(function, cache=True, **_EXACT)
    except RuntimeError as problem:
        if "cannot cache function" not in str(problem):
            raise
        compiled = njit(function, cache=False, **_EXACT)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """Compiles a function that only kernels of the same module call, into its callers."""
    compiled: Kernel = njit(function, forceinline=True, **_EXACT)
    return compiled


def shared(function: Kernel) -> Kernel:
    """Compiles a function that only kernels of the same module call, once for all its callers: they compile faster."""
    compiled: Kernel = njit(function, **_EXACT)
    return compiled
