"""State replay: the fold at every event, and frames drawn again."""

from __future__ import annotations

import msgspec
import pytest

from iwreplay.errors import LogError
from iwreplay.events import FrameCaptured, WorldSnapshot
from iwreplay.world.state import fold
from replayer import replay_frames
from tests.loop.fakes import FakeFrames, play


def test_every_frame_is_drawn_again_and_verified() -> None:
    log, _ = play()
    frames = list(replay_frames(log, frames=lambda scene, config: FakeFrames(config)))
    assert len(frames) == sum(isinstance(e, FrameCaptured) for e in log.events())
    assert {f.ok for f in frames} == {True}
    assert frames[0].rgb.shape == (6, 8, 3)
    only = list(replay_frames(log, frames=lambda scene, config: FakeFrames(config), only={"f000003"}))
    assert [f.event.frame_id for f in only] == ["f000003"]


def test_a_wrong_hash_or_another_renderer_is_not_ok() -> None:
    log, _ = play()
    other = replay_frames(log, frames=lambda scene, config: FakeFrames(config, renderer="fake/2"))
    assert {f.ok for f in other} == {False}
    events = [
        (seq, msgspec.structs.replace(e, pixels_sha256=None) if isinstance(e, FrameCaptured) else e) for seq, e in log
    ]
    assert {f.ok for f in replay_frames(events, frames=lambda scene, config: FakeFrames(config))} == {None}


def test_the_fold_reaches_every_snapshot() -> None:
    log, _ = play(snapshot_every=9)
    seen = 0
    for _, event, state in fold(log):
        if isinstance(event, WorldSnapshot):
            assert state.snapshot(event.reason) == event
            seen += 1
    assert seen > 5


def test_a_fold_without_opening_is_refused() -> None:
    log, _ = play()
    with pytest.raises(LogError, match="begins with EpisodeOpened"):
        list(fold(list(log)[1:]))


def test_kept_pixels_of_another_shape_are_drawn_again() -> None:
    """The hash is of the bytes alone: 6 rows of 8 pixels and 8 rows of 6 share it."""
    log, _ = play()
    drawn = {f.event.frame_id: f.rgb for f in replay_frames(log, frames=lambda scene, config: FakeFrames(config))}
    for shape, taken in (((6, 8, 3), True), ((8, 6, 3), False), ((4, 12, 3), False)):
        frames = list(
            replay_frames(
                log,
                frames=lambda scene, config: FakeFrames(config),
                kept=lambda event, shape=shape: drawn[event.frame_id].reshape(shape),  # type: ignore[misc]
            )
        )
        assert {f.kept for f in frames} == {taken}
        assert {(f.ok, f.rgb.shape) for f in frames} == {(True, (6, 8, 3))}
