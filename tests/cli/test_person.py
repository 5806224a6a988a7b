"""A person plays at a terminal, or through a pipe: the whole way from the keyboard to a log that re-executes."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from iwreplay.app.replaying import replay_episodes
from iwreplay.app.tasks import find_tasks
from iwreplay.cli.inline_pictures import as_blocks, as_iterm, as_kitty, fitted, way_of
from iwreplay.cli.person import TerminalConsole
from iwreplay.events import CommandIssued, EpisodeEnded, EpisodeOpened, HumanTurn, Observation
from iwreplay.frames.png import png_bytes, png_pixels
from iwreplay.log import read_log
from tests.cli.conftest import Run
from tests.contracts.console import ConsoleContract

ROOT = Path(__file__).parents[2]

needs_terminal = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
if os.name == "posix":
    from tests.cli.playing import Playing

#: a task that takes a few seconds, in which the Human is blind; and one in which it sees
BLIND, SIGHTED = "A13", "F19"


def oracle_lines(task: str) -> list[str]:
    """The oracle's commands, with the empty line that ends each turn."""
    return [line for step in find_tasks((task,))[0].oracle for line in (*step.do, "")]


def log_of(store: Path, episode: str) -> Path:
    return store / "episodes" / episode / "log.arrows"


def piped(store: Path, *args: object, lines: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "iwreplay", "run", *map(str, args), "--store", str(store)]
    return subprocess.run(
        command, cwd=ROOT, input=lines.encode("utf-8", "surrogateescape"), capture_output=True, timeout=120, check=False
    )


def assert_exact(store: Path) -> None:
    (done,) = replay_episodes(store, ())
    assert done.grade == "exact"


class TestTerminalConsole(ConsoleContract):
    @pytest.fixture(autouse=True)
    def _somewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = tmp_path, monkeypatch

    def make(self, *lines: str) -> TerminalConsole:
        self.patch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return TerminalConsole(self.folder, show="blocks")


# -- at a terminal -------------------------------------------------------------------------------------------------


@needs_terminal
def test_a_person_who_types_what_the_oracle_would_do_passes_and_it_reexecutes(tmp_path: Path) -> None:
    with Playing("run", SIGHTED, "--human", "person", "--store", tmp_path, "--json") as person:
        # malformed, completed, and as it is
        person.says("walk porch bench", "[Fly] home")
        person.asked()
        person.types("[Walk] po\t bench\r")
        person.asked()
        person.types("[Gra\tparcel on porch bench\r")
        person.says("say: I have it.", "", "[Walk] hall bench", "[PutOn] parcel, hall bench", "")
        code, out = person.ends()
    assert code == 0, person.text
    (done,) = json.loads(out)
    assert (done["passed"], done["actions"], done["human"]) == (True, 4, "person")
    with read_log(done["log"]) as log:
        turns = [e for e in log.events() if isinstance(e, HumanTurn)]
        opened = next(e for e in log.events() if isinstance(e, EpisodeOpened))
    assert [t.commands for t in turns] == [
        ("[Walk] porch bench", "[Grab] parcel on porch bench"),
        ("[Walk] hall bench", "[PutOn] parcel, hall bench"),
    ]
    assert turns[0].reply == "I have it."
    assert opened.human.params == {"interface": "terminal", "pictures": "blocks", "editing": "completion"}
    for said in (
        "A person who saw two couriers come",
        "The Assistant says: It is the one on the bench.",
        "The courier said: A parcel for you!",
        "A command is written as a verb in square brackets",
        "I don't know how to Fly.",
        "done: [Walk] porch bench",
        "holding: parcel",
    ):
        assert said in " ".join(person.text.split())
    assert re.search(r"\x1b\[38;2;\d+;\d+;\d+;48;2;\d+;\d+;\d+m▀", person.raw)
    seen = sorted(p.name for p in Path(done["log"]).with_name("seen").iterdir())
    assert len(seen) == 8
    assert f"{seen[-1]}" in person.text
    assert_exact(tmp_path)


@needs_terminal
def test_a_person_who_says_what_the_oracle_says_passes_and_it_reexecutes(tmp_path: Path) -> None:
    with Playing("run", SIGHTED, "--assistant", "person", "--store", tmp_path, "--show", "none", "--json") as person:
        person.says("?", "/bye", *(step.say for step in find_tasks((SIGHTED,))[0].oracle), "/done Thank you.")
        code, out = person.ends()
    assert code == 0, person.text
    (done,) = json.loads(out)
    assert (done["passed"], done["end_reason"], done["assistant"]) == (True, "done", "person")
    assert "/bye is no command" in person.text
    assert "▀" not in person.text
    seen = sorted(p.name for p in Path(done["log"]).with_name("seen").iterdir())
    with read_log(done["log"]) as log:
        observed = [e.frames for e in log.events() if isinstance(e, Observation) and e.role == "assistant"]
    assert [len(frames) for frames in observed] == [32, 32, 32]
    sheets = [f"turn-{turn:03d}.png" for turn in (1, 2, 3)]
    assert seen == [*sorted({f"{f}.png" for frames in observed for f in frames}), *sheets]
    assert_exact(tmp_path)


@needs_terminal
def test_who_is_blind_sees_no_picture_and_what_is_long_fits_a_narrow_terminal(tmp_path: Path) -> None:
    with Playing("run", BLIND, "--human", "person", "--store", tmp_path, columns=44) as person:
        person.says(*oracle_lines(BLIND))
        code, out = person.ends()
    assert (code, " yes " in out) == (0, True), person.text
    told = [line for line in person.text.splitlines() if not line.startswith(">")]
    assert 36 < max(map(len, told)) < 44
    assert "▀" not in person.text
    assert not log_of(tmp_path, f"{BLIND}-oracle-person-s0").with_name("seen").exists()


@needs_terminal
@pytest.mark.parametrize("keys", ["\x03", "\x04"])
def test_ctrl_c_and_ctrl_d_end_the_episode_in_good_order(tmp_path: Path, keys: str) -> None:
    with Playing("run", BLIND, "--human", "person", "--store", tmp_path) as person:
        person.says("[Walk] coffee table", "", "[Grab] middle key")
        person.asked()
        person.types(keys)
        code, out = person.ends()
    assert (code, "interrupted" in out) == (130, True), person.text
    with read_log(log_of(tmp_path, f"{BLIND}-oracle-person-s0")) as log:
        events = list(log.events())
        assert log.state == "sealed"
    ended = events[-1]
    assert isinstance(ended, EpisodeEnded)
    assert (ended.reason, ended.valid) == ("interrupted", False)
    # what was typed in the turn that never ended is not done
    assert [e.text for e in events if isinstance(e, CommandIssued)] == ["[Walk] coffee table"]
    assert_exact(tmp_path)


@needs_terminal
def test_without_the_extra_lines_are_read_plainly(tmp_path: Path) -> None:
    code = "import sys; sys.modules['prompt_toolkit'] = None; from iwreplay.__main__ import main; main()"
    with Playing("run", BLIND, "--human", "person", "--store", tmp_path, code=code) as person:
        person.until("Assistant says: Walk to the coffee table.\n> ")
        person.types("[Fly] home\r")
        person.until("I don't know how to Fly.")
        person.types("\x04")
        code_of_exit, _ = person.ends()
    assert code_of_exit == 130
    assert "> \n" in person.text
    assert "pip install 'iwreplay[person]'" in person.text


# -- through a pipe ------------------------------------------------------------------------------------------------


def test_lines_of_a_pipe_are_read_as_they_come(tmp_path: Path) -> None:
    lines = ["\udcff", "walk", *oracle_lines(BLIND)]
    done = piped(tmp_path, BLIND, "--human", "person", "--json", lines="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr.decode()
    (episode,) = json.loads(done.stdout)
    assert (episode["passed"], episode["actions"]) == (True, 2)
    told = done.stderr.decode()
    assert "> [Walk] coffee table\n" in told
    assert "A command is written as a verb in square brackets" in told
    assert "\x1b" not in told
    with read_log(episode["log"]) as log:
        opened = next(e for e in log.events() if isinstance(e, EpisodeOpened))
    assert opened.human.params == {"interface": "lines", "pictures": "none", "editing": "none"}
    assert_exact(tmp_path)


def test_the_end_of_the_input_interrupts_and_later_tasks_are_not_begun(tmp_path: Path) -> None:
    done = piped(tmp_path, BLIND, SIGHTED, "--assistant", "person", "--json", lines="Walk to the coffee table.\n")
    assert done.returncode == 130, done.stderr.decode()
    (episode,) = json.loads(done.stdout)
    assert (episode["task"], episode["end_reason"], episode["turns"]) == (BLIND, "interrupted", 2)


def test_pictures_go_where_they_are_asked_for(tmp_path: Path) -> None:
    done = piped(tmp_path / "s", BLIND, "--assistant", "person", "--pictures", tmp_path / "p", lines="/done\n")
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(p.name for p in (tmp_path / "p" / f"{BLIND}-person-literal-s0").iterdir())[-1] == "turn-001.png"
    assert not log_of(tmp_path / "s", f"{BLIND}-person-literal-s0").with_name("seen").exists()


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--human", "person", "--jobs", "2"), "a person plays one episode at a time; leave --jobs 2 out"),
        (("--human", "person", "--assistant", "person"), "one person is Assistant or Human, not both"),
        (("--human", "person", "--no-frames"), "a person is shown frames, so they must be drawn"),
        (("--show", "blocks"), "--show and --pictures are for a person"),
        (("--pictures", "x"), "--show and --pictures are for a person"),
        (("--human", "persona"), "person"),
    ],
)
def test_wrong_use_is_told_before_anything_begins(run: Run, tmp_path: Path, args: tuple[str, ...], why: str) -> None:
    ran = run("run", BLIND, SIGHTED, "--store", tmp_path / "s", *args)
    assert ran.code == 2
    assert why in ran.err
    assert not (tmp_path / "s").exists()


def test_nobody_is_asked_to_play_a_benchmark(run: Run, tmp_path: Path) -> None:
    wanted = ("--assistants", "oracle", "--humans", "person", "--tasks", BLIND, "--store", tmp_path / "s")
    ran = run("bench", "run", *wanted)
    assert (ran.code, "there is one in: iwreplay run" in ran.err) == (2, True), ran.err
    assert not list((tmp_path / "s").glob("episodes/*"))


# -- pictures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "way"),
    [
        ({"TERM": "xterm-256color"}, "blocks"),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1", "TMUX": "x"}, "blocks"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "none"),
        ({"TERM": "linux"}, "none"),
        ({"TERM": "dumb"}, "none"),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, "none"),
        ({}, "none"),
    ],
)
def test_a_terminal_gets_what_it_says_that_it_can(environment: dict[str, str], way: str) -> None:
    assert way_of(environment, terminal=True) == way
    assert way_of(environment, terminal=False) == "none"


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 12), (20, 50), (1, 1), (300, 20)])
@pytest.mark.parametrize("aspect", [4 / 3, 16 / 9, 0.5])
def test_a_picture_fits_its_terminal(size: tuple[int, int], aspect: float) -> None:
    columns, rows = fitted(aspect=aspect, columns=size[0], lines=size[1])
    assert 1 <= columns <= size[0]
    assert 1 <= rows <= max(1, size[1] - 1)
    if min(columns, rows) > 8:
        assert columns / (2 * rows) == pytest.approx(aspect, rel=0.1)
    if size == (200, 60):
        assert rows >= 48 - 1 or columns == 200


def test_blocks_have_two_pixels_each() -> None:
    rgb = np.array([[[1, 2, 3], [1, 2, 3]], [[4, 5, 6], [4, 5, 6]], [[7, 8, 9], [0, 0, 0]], [[9, 9, 9], [255, 0, 0]]])
    assert as_blocks(rgb.astype(np.uint8), columns=2, rows=2) == (
        "\x1b[38;2;1;2;3;48;2;4;5;6m▀▀\x1b[0m\n"
        "\x1b[38;2;7;8;9;48;2;9;9;9m▀\x1b[38;2;0;0;0;48;2;255;0;0m▀\x1b[0m\n"
    )  # fmt: skip


def test_the_protocols_carry_the_picture() -> None:
    rgb = np.random.default_rng(1).integers(0, 256, (60, 80, 3)).astype(np.uint8)
    kitty = as_kitty(png_bytes(rgb), columns=8, rows=3)
    pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", kitty)
    assert len(pieces) > 2
    assert pieces[0][0] == "a=T,f=100,q=2,c=8,r=3,m=1"
    assert [head for head, _ in pieces[1:]] == ["m=1"] * (len(pieces) - 2) + ["m=0"]
    assert all(len(data) <= 4096 for _, data in pieces)
    assert np.array_equal(png_pixels(base64.b64decode("".join(data for _, data in pieces))), rgb)
    data = re.fullmatch(
        r"\x1b\]1337;File=inline=1;[^:]*;width=8;height=3:(.*)\x07\n", as_iterm(png_bytes(rgb), columns=8, rows=3)
    )
    assert data is not None
    assert np.array_equal(png_pixels(base64.b64decode(data[1])), rgb)


@pytest.mark.parametrize(
    ("show", "sign"), [("kitty", "\x1b_G"), ("iterm", "\x1b]1337;"), ("blocks", "▀"), ("none", "")]
)
def test_a_picture_is_shown_as_it_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], show: str, sign: str
) -> None:
    console = TerminalConsole(tmp_path, show=show)  # type: ignore[arg-type]
    capsys.readouterr()
    console.show(np.zeros((12, 16, 3), np.uint8))
    out, err = capsys.readouterr()
    assert out == ""
    assert (sign in err) if sign else err == ""
    assert console.facts()["pictures"] == show
