"""How the kernels are compiled.

Exactness: `fastmath` stays off and `error_model="numpy"` (a division by zero gives infinity as on any IEEE machine);
kernels use + - * / sqrt floor, comparisons and integers, nothing else. No parallel regions: threads are ours
(`pool.py`), each calls kernels that release the interpreter lock and write rows of their own. So no threading layer
of numba is involved, any number of Python threads may draw, and a forked process may too.

Cache: compiled code is kept beside the source in `__pycache__`; where that is read-only (a system-wide install), in
numba's folder of the user (`~/.cache/numba` or what the platform uses); `NUMBA_CACHE_DIR` overrides both. Where none
of them can be written, kernels are compiled anew by every process, which costs some seconds at the first frame and
changes no pixel. Kernels call kernels of their own module only, because numba notices a changed source file but not a
changed callee elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["inlined", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


# `_nrt=False`: kernels allocate nothing, and without numba's reference counts on every array that is handed to an inner
# function they run twice as fast (the counts are atomic increments inside the pixel loop).
_EXACT: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy", "_nrt": False}


def kernel(function: F) -> F:
    """Compiles a function that is called from Python; cached on disk where possible. It may not allocate arrays."""
    try:
        return cast(F, njit(function, cache=True, **_EXACT))
    except RuntimeError as problem:
        if "cannot cache function" not in str(problem):
            raise
        return cast(F, njit(function, cache=False, **_EXACT))


def inlined(function: F) -> F:
    """Compiles a function that only kernels of the same module call, into its callers."""
    return cast(F, njit(function, forceinline=True, **_EXACT))
