"""Types of arrays, and a product of them that costs the same on a busy machine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Flags", "Floats", "Places", "product"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

#: rows that are multiplied together
_SLICE = 16


def product(rows: Floats, matrix: Floats) -> Floats:
    """rows @ matrix, in slices so small that BLAS starts no threads for them.

    For the sizes met here (thousands of rows, a hundred or two columns) threads gain little, and where other processes
    use the cores their waiting for each other makes it ten times slower.
    """
    out = np.empty((len(rows), matrix.shape[1]))
    slices, rest = divmod(len(rows), _SLICE)
    whole = slices * _SLICE
    out[:whole] = (rows[:whole].reshape(slices, _SLICE, rows.shape[1]) @ matrix).reshape(whole, matrix.shape[1])
    if rest:
        out[whole:] = rows[whole:] @ matrix
    return out
