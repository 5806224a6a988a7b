"""Sine and cosine: close to the truth, and pinned bit by bit."""

from __future__ import annotations

import hashlib
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwreplay.errors import GeometryError
from iwreplay.trig import sin_cos, tan


@given(st.floats(-1e6, 1e6))
def test_agrees_with_the_c_library_to_the_last_places(angle: float) -> None:
    s, c = sin_cos(angle)
    assert abs(s - math.sin(angle)) <= 2e-16
    assert abs(c - math.cos(angle)) <= 2e-16


@given(st.floats(-100.0, 100.0))
def test_symmetry_is_exact(angle: float) -> None:
    s, c = sin_cos(angle)
    assert sin_cos(-angle) == (-s, c)


def test_bits_are_pinned() -> None:
    digest = hashlib.sha256()
    for i in range(-2000, 2000):
        digest.update(struct.pack("<dd", *sin_cos(i * 0.01737)))
    assert digest.hexdigest() == "f04d0c14f18d0b6b058f2108317c11010e53df4b263f5c9abdd56f8cd3016593"


def test_known_values() -> None:
    assert sin_cos(0.0) == (0.0, 1.0)
    assert tan(0.0) == 0.0
    assert tan(math.pi / 6) == pytest.approx(1.0 / math.sqrt(3.0), rel=1e-15)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.5e6])
def test_refuses_what_has_no_exact_reduction(bad: float) -> None:
    with pytest.raises(GeometryError, match="rad"):
        sin_cos(bad)
