"""Videos: as long as they should be, read back, and whole or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iwreplay.errors import PictureWriteError

av = pytest.importorskip("av", reason="the extra `video` is not installed")

from iwreplay.frames.video import VideoFile  # noqa: E402


def test_pictures_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    with VideoFile(path, width=64, height=48, fps=5) as video:
        for k in range(10):
            video.add(np.full((48, 64, 3), 25 * k, np.uint8))
        assert not path.exists()
    assert [p.name for p in tmp_path.iterdir()] == ["v.mp4"]
    with av.open(str(path)) as made:
        stream = made.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (64, 48, 5)
        levels = [f.to_ndarray(format="rgb24").mean() for f in made.decode(stream)]
        assert made.duration == pytest.approx(2_000_000, abs=50_000)
    assert levels == pytest.approx([25 * k for k in range(10)], abs=4)


@pytest.mark.parametrize("why", [KeyboardInterrupt, ValueError])
def test_nothing_is_left_of_one_that_was_not_finished(tmp_path: Path, why: type[BaseException]) -> None:
    old = tmp_path / "v.mp4"
    old.write_bytes(b"older")

    def broken_off() -> None:
        with VideoFile(old, width=64, height=48, fps=5) as video:
            video.add(np.zeros((48, 64, 3), np.uint8))
            raise why

    with pytest.raises(why):
        broken_off()
    assert [p.name for p in tmp_path.iterdir()] == ["v.mp4"]
    assert old.read_bytes() == b"older"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PictureWriteError, match="nowhere"):
        VideoFile(tmp_path / "nowhere" / "v.mp4", width=64, height=48, fps=5)
