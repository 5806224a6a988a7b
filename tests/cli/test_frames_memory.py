"""That `tests.cli.test_frames.test_memory_stays_flat` can fail: what holds on to its frames is seen by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.frames.film import write_film

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_frames_that_are_held_would_be_seen(tmp_path: Path) -> None:
    log = write_film(tmp_path / "long.arrows", frames=300, drawn=False, size=(320, 240))
    peaks = []
    for every in (5, 1):
        code = (
            "from pathlib import Path; import iwreplay.app.drawing as d;"
            "real, held = d.replay_frames, [];"
            "d.replay_frames = lambda *args, **named: (held.append(f) or f for f in real(*args, **named));"
            f"wish = d.FrameWish(sheet=Path('s.png'), out=Path('o{every}'), every={every});"
            f"assert len(d.draw_frames(Path('x'), {str(log)!r}, wish).frames) == {300 // every};"
            "print(next(v.split()[1] for v in open('/proc/self/status') if v.startswith('VmHWM')))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
        peaks.append(int(done.stdout))
    # as much as that test allows, and more
    assert peaks[1] - peaks[0] > 2 * 15_000, peaks
