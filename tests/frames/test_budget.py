"""The frame budget: rules 11 and 12 of the protocol."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwreplay.frames import FRAME_LIMIT, LATEST_FRAMES, choose_frames, frame_indices


@given(st.integers(0, FRAME_LIMIT))
def test_few_frames_are_all_shown(n: int) -> None:
    assert frame_indices(n) == tuple(range(n))


@given(st.integers(FRAME_LIMIT + 1, 200_000))
def test_of_many_the_latest_eight_and_a_sample_with_both_ends(n: int) -> None:
    chosen = frame_indices(n)
    assert len(chosen) == len(set(chosen)) == FRAME_LIMIT
    assert list(chosen) == sorted(chosen)
    assert chosen[-LATEST_FRAMES:] == tuple(range(n - LATEST_FRAMES, n))
    assert chosen[0] == 0
    assert chosen[-LATEST_FRAMES - 1] == n - LATEST_FRAMES - 1


@given(st.integers(FRAME_LIMIT + 1, 200_000))
def test_the_sample_is_uniform(n: int) -> None:
    older = frame_indices(n)[:-LATEST_FRAMES]
    gaps = [b - a for a, b in pairwise(older)]
    assert max(gaps) - min(gaps) <= 1


def test_the_index_rule_as_written() -> None:
    m = 100 - 8
    assert frame_indices(100)[:24] == tuple((i * (m - 1) + 11) // 23 for i in range(24))


def test_frames_themselves_can_be_chosen() -> None:
    names = [f"f{i:06d}" for i in range(40)]
    assert choose_frames(names) == tuple(names[i] for i in frame_indices(40))
    with pytest.raises(ValueError, match="-1"):
        frame_indices(-1)
