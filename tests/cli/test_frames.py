"""`iwreplay frames`: what it draws, what it verifies, and that nothing half-made is left."""

from __future__ import annotations

import builtins
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from iwreplay.app.drawing import FrameWish, draw_frames
from iwreplay.frames import png_pixels
from tests.body.synthetic_smplh import write as write_model
from tests.cli.conftest import Run
from tests.frames.film import write_film

ROOT = Path(__file__).parents[2]
FRAMES = 9


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "walk.arrows", frames=FRAMES)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_frames_are_drawn_and_verified(run: Run, log: Path) -> None:
    done = run("frames", log)
    assert done.code == 0, done.err
    assert done.out.count("same") == FRAMES
    assert names(Path("walk-frames")) == [f"f{i:06d}.png" for i in range(FRAMES)]
    assert png_pixels(Path("walk-frames/f000004.png").read_bytes()).shape == (48, 64, 3)


def test_a_turn_and_every_second_frame(run: Run, log: Path) -> None:
    drawn = run("frames", log, "--turn", 2, "--json", "--verify").json()
    assert [(f["frame"], f["turn"], f["file"]) for f in drawn["frames"]] == [(f"f00000{i}", 2, None) for i in (3, 4, 5)]
    drawn = run("frames", log, "--every", 4, "--json", "--verify").json()
    assert [f["frame"] for f in drawn["frames"]] == ["f000000", "f000004", "f000008"]
    assert names(Path()) == [], "--verify writes nothing"


def test_a_frame_from_beside_is_the_same_alone_as_among_all(run: Run, log: Path) -> None:
    assert run("frames", log, "--view", "third", "--out", "all").code == 0
    assert run("frames", log, "--view", "third", "--frame", 6, "--out", "one").code == 0
    name = "f000006-third.png"
    assert Path("all", name).read_bytes() == Path("one", name).read_bytes()


def test_other_views_and_sizes_have_names_of_their_own(run: Run, log: Path) -> None:
    for more in (("--view", "third"), ("--view", "top", "--size", "80x50"), ("--size", "32x24")):
        done = run("frames", log, "--frame", 4, "--out", "o", "--json", *more)
        assert done.code == 0, done.err
        assert [f["verdict"] for f in done.json()["frames"]] == ["another view"]
    assert names(Path("o")) == ["f000004-32x24.png", "f000004-third.png", "f000004-top-80x50.png"]
    assert png_pixels(Path("o/f000004-top-80x50.png").read_bytes()).shape == (50, 80, 3)


def test_a_frame_by_itself_is_as_it_is_among_the_others(run: Run, log: Path) -> None:
    for view in ("wearer", "third", "top"):
        assert run("frames", log, "--view", view, "--out", "all").code == 0
        assert run("frames", log, "--view", view, "--out", "one", "--frame", 7).code == 0
    one = names(Path("one"))
    assert len(one) == 3
    assert all(Path("one", n).read_bytes() == Path("all", n).read_bytes() for n in one)


def test_sheets_have_pages(run: Run, tmp_path: Path) -> None:
    log = write_film(tmp_path / "long.arrows", frames=33)
    done = run("frames", log, "--sheet", "sheets/s.png")
    assert done.out.splitlines()[-2:] == ["sheets/s-1.png", "sheets/s-2.png"]
    assert names(Path("sheets")) == ["s-1.png", "s-2.png"]
    first, second = (png_pixels(Path("sheets", n).read_bytes()).shape for n in ("s-1.png", "s-2.png"))
    assert first[0] > 4 * second[0]
    assert run("frames", log, "--sheet", "one.png", "--turn", 1).code == 0
    assert names(Path()) == ["long.arrows", "one.png", "sheets"]


def test_a_map_shows_the_way(run: Run, log: Path) -> None:
    done = run("frames", log, "--view", "map", "--out", "m")
    assert (done.code, done.out) == (0, "m/map.png\n")
    pixels = png_pixels(Path("m/map.png").read_bytes())
    assert ((pixels == (210, 0, 150)).all(axis=2)).sum() > 50


def test_a_video_has_its_words_beside_it(run: Run, log: Path) -> None:
    av = pytest.importorskip("av", reason="the extra `video` is not installed")
    for more, pictures in (((), 60), (("--fps", 4), 24), (("--view", "third", "--turn", 2), 30)):
        done = run("frames", log, "--video", "v.mp4", *more)
        assert done.code == 0, done.err
        with av.open("v.mp4") as made:
            shown = list(made.decode(video=0))
        # four seconds (one second of a turn) to the last frame, and two more
        assert len(shown) == pictures
    assert "Assistant: Stop." in Path("v.srt").read_text(), "words of the turn before are still shown"
    assert names(Path()) == ["v.mp4", "v.srt"]


def test_kept_pixels_change_nothing_but_the_time(run: Run, tmp_path: Path) -> None:
    log = write_film(tmp_path / "walk.arrows", frames=FRAMES)
    plain = run("frames", log, "--sheet", "plain.png", "--out", "plain", "--json").json()
    assert plain["kept"] == 0
    assert run("frames", log, "--store-pixels", "--sheet", "a.png").code == 0
    kept = tmp_path / "walk.pixels"
    assert len(names(kept)) == FRAMES
    again = run("frames", log, "--sheet", "kept.png", "--out", "kept", "--json").json()
    assert again["kept"] == FRAMES
    assert [f["verdict"] for f in again["frames"]] == [f["verdict"] for f in plain["frames"]]
    assert Path("kept.png").read_bytes() == Path("plain.png").read_bytes()
    assert all(Path("kept", n).read_bytes() == Path("plain", n).read_bytes() for n in names(Path("plain")))
    assert run("frames", log, "--verify", "--json").json()["kept"] == 0, "verifying draws"


def test_kept_pixels_that_are_not_what_they_say_are_drawn(run: Run, tmp_path: Path) -> None:
    log = write_film(tmp_path / "walk.arrows", frames=4)
    assert run("frames", log, "--store-pixels", "--sheet", "a.png").code == 0
    first, second, third, _ = sorted((tmp_path / "walk.pixels").iterdir())
    first.write_bytes(second.read_bytes())
    third.write_bytes(third.read_bytes()[:50])
    done = run("frames", log, "--sheet", "b.png", "--json")
    assert done.code == 0
    assert {first.name in done.err, third.name in done.err} == {True}
    assert "does not hold the pixels" in done.err
    assert done.json()["kept"] == 2
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    assert run("frames", log, "--store-pixels", "--sheet", "b.png", "--json").json()["kept"] == 2
    assert run("frames", log, "--sheet", "b.png", "--json").json()["kept"] == 4, "mended"


def test_frames_that_were_never_drawn_say_so(run: Run, tmp_path: Path) -> None:
    log = write_film(tmp_path / "walk.arrows", frames=3, drawn=False)
    done = run("frames", log, "--store-pixels", "--json")
    assert [f["verdict"] for f in done.json()["frames"]] == ["never drawn"] * 3
    assert not (tmp_path / "walk.pixels").exists(), "there is no hash to name them by"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--frame", "99"), "unknown frame 'f000099'"),
        (("--frame", "x"), "unknown frame 'x'"),
        (("--turn", "77"), "unknown turn '77'"),
        (("--size", "0x10"), "--size '0x10': each side is 1 to 8192 pixels"),
        (("--size", "10x9999"), "'10x9999'"),
        (("--size", "10"), "is not of the form WxH"),
        (("--size", "-5x5"), "is not of the form WxH"),
        (("--size", "1e3x5"), "is not of the form WxH"),
        (("--every", "0"), "--every"),
        (("--view", "back"), "--view"),
        (("--fps", "10"), "give --video"),
        (("--fps", "0", "--video", "v.mp4"), "--fps"),
        (("--video", "v.avi"), "does not end in .mp4"),
        (("--sheet", "s.jpg"), "does not end in .png"),
        (("--verify", "--out", "o"), "--verify writes nothing"),
        (("--view", "map", "--sheet", "s.png"), "--view map is one picture"),
        (("--view", "third", "--store-pixels"), "leave --view and --size out"),
    ],
)
def test_wrong_use_names_the_value(run: Run, log: Path, args: tuple[str, ...], says: str) -> None:
    done = run("frames", log, *args)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1
    assert names(Path()) == []


@pytest.mark.parametrize("target", [("--out", "f"), ("--sheet", "f/s.png"), ("--video", "f/v.mp4")])
def test_a_target_that_cannot_be(run: Run, log: Path, target: tuple[str, str]) -> None:
    Path("f").write_text("a file")
    done = run("frames", log, *target)
    assert done.code == 2
    assert "can't be written" in done.err
    assert names(Path()) == ["f"]


def test_without_pyav_only_a_video_is_refused(run: Run, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **more: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "av":
            raise ModuleNotFoundError(f"No module named {name!r}", name="av")
        return real(name, *args, **more)

    for loaded in [m for m in sys.modules if m == "av" or m.startswith("av.") or m == "iwreplay.frames.video"]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", absent)
    done = run("frames", log, "--video", "v.mp4")
    assert (done.code, "pip install 'iwreplay[video]'" in done.err) == (2, True)
    assert names(Path()) == []
    assert run("frames", log, "--sheet", "s.png").code == 0


def _small_files_only() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


@pytest.mark.parametrize("target", [("--out", "t/o"), ("--sheet", "t/s.png"), ("--video", "t/v.mp4")])
def test_a_disk_that_takes_no_more(log: Path, target: tuple[str, str]) -> None:
    if target[0] == "--video":
        pytest.importorskip("av", reason="the extra `video` is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "iwreplay", "frames", str(log), *target],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=_small_files_only,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "can't be written" in done.stderr
    assert [p for p in Path("t").rglob("*") if p.is_file()] == []


def test_ctrl_c_leaves_whole_files_only(tmp_path: Path) -> None:
    log = write_film(tmp_path / "walk.arrows", frames=400)
    args = ["frames", str(log), "--out", "o", "--size", "320x240"]
    going = subprocess.Popen(
        [sys.executable, "-m", "iwreplay", *args],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    folder = Path("o")
    until = time.monotonic() + 60
    while time.monotonic() < until and not (folder.is_dir() and len(names(folder)) > 5):
        time.sleep(0.01)
    going.send_signal(signal.SIGINT)
    _, said = going.communicate(timeout=60)
    assert going.returncode == 130, said
    left = names(folder)
    assert 5 < len(left) < 400
    assert all(png_pixels((folder / n).read_bytes()).shape == (240, 320, 3) for n in left)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("count", [300, pytest.param(1000, marks=pytest.mark.slow)])
def test_memory_stays_flat(tmp_path: Path, count: int) -> None:
    """Many frames take no more memory than a fifth of them, but for what Python keeps in its pockets."""
    log = write_film(tmp_path / "long.arrows", frames=count, drawn=False, size=(320, 240))
    peaks = []
    for every in (5, 1):
        code = (
            "from pathlib import Path; from iwreplay.app.drawing import *;"
            f"wish = FrameWish(sheet=Path('s.png'), out=Path('o{every}'), every={every});"
            f"assert len(draw_frames(Path('x'), {str(log)!r}, wish).frames) == {count // every};"
            # not ru_maxrss: a child begins with its parent's
            "print(next(v.split()[1] for v in open('/proc/self/status') if v.startswith('VmHWM')))"
        )
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300, check=True
        )
        peaks.append(int(done.stdout))
    # 240 frames of 320 x 240 pixels are 55 MB
    assert peaks[1] - peaks[0] < 15_000, peaks


def test_the_video_of_a_long_episode_is_not_held_in_memory(log: Path) -> None:
    """Every picture goes on as it comes: progress is told one by one."""
    pytest.importorskip("av", reason="the extra `video` is not installed")
    told: list[tuple[int, int]] = []
    wish = FrameWish(write=False, video=Path("v.mp4"), fps=2)
    draw_frames(Path("x"), str(log), wish, progress=lambda done, of: told.append((done, of)))
    assert told == [(k, 9) for k in range(1, 10)]


def test_the_wearer_with_a_body_of_the_users_own(run: Run, log: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "SMPLH_MALE.npz")
    done = run("frames", log, "--frame", 4, "--out", "o", "--body", model, "--json")
    assert done.code == 0, done.err
    drawn = done.json()
    assert [f["verdict"] for f in drawn["frames"]] == ["another body"]
    assert drawn["body"].startswith("SMPL+H model SMPLH_MALE.npz ")
    assert "nobody saw these pixels, they are compared with no hash" in done.err
    assert names(Path("o")) == ["f000004-body.png"]
    assert run("frames", log, "--frame", 4, "--out", "o", "--body", model, "--view", "third").code == 0
    assert names(Path("o")) == ["f000004-body.png", "f000004-third-body.png"]


@pytest.mark.parametrize("more", [("--verify",), ("--store-pixels",), ("--view", "map")])
def test_what_does_not_go_with_another_body(run: Run, log: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    done = run("frames", log, "--body", tmp_path / "m.npz", *more)
    assert done.code == 2
    assert "--body" in done.err


def test_a_body_that_is_no_model_is_refused_and_nothing_is_drawn(run: Run, log: Path, tmp_path: Path) -> None:
    (tmp_path / "SMPLH_male.pkl").write_bytes(b"\x80\x02}q\x00.")
    done = run("frames", log, "--out", "o", "--body", tmp_path / "SMPLH_male.pkl")
    assert done.code == 2
    assert "a pickle, as for chumpy" in done.err
    assert not Path("o").exists()
