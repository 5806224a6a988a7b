"""Errors name the value and the way out, on stderr, with the documented exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.errors import AmbiguousNameError, UnknownNameError
from iwreplay.store import Store
from tests.cli.conftest import Run

COMMANDS = (
    ("show", "X"),
    ("at", "X", "--seq", "0"),
    ("replay", "X"),
    ("frames", "X"),
    ("score", "X"),
    ("log", "check", "X"),
    ("log", "recover", "X"),
    ("log", "seal", "X"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_not_a_store(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run(*command, "--store", tmp_path / "none")
    assert done.code == 2
    assert done.out == ""
    assert f"{tmp_path / 'none'} is not an episode store" in done.err
    assert "--store" in done.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_unknown_episode(run: Run, store: Store, command: tuple[str, ...]) -> None:
    done = run(*command, "--store", store.root)
    assert done.code == 2
    assert "unknown episode 'X'" in done.err
    assert "Known: G99-oracle-literal-s0, " in done.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_ambiguous_beginning_names_the_candidates(run: Run, store: Store, command: tuple[str, ...]) -> None:
    done = run(*("G99-oracle" if word == "X" else word for word in command), "--store", store.root)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "error: episode 'G99-oracle' fits 2 episodes; give more of it, or the whole name:",
        "  G99-oracle-literal-s0",
        "  G99-oracle-literal-s1",
    ]


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("G99-orakle", "G99-oracle-literal-s0, "), ("g99-silent-literal-s0", "G99-silent-literal-s0, ")],
)
def test_an_unknown_episode_is_answered_with_the_nearest(run: Run, store: Store, wanted: str, near: str) -> None:
    done = run("show", wanted, "--store", store.root)
    assert (done.code, done.out) == (2, "")
    assert f"unknown episode '{wanted}'. Nearest: {near}" in done.err


def test_damaged_store_is_code_3(run: Run, store: Store) -> None:
    (store.root / "iw-store.json").write_text("{")
    done = run("show", "--store", store.root)
    assert (done.code, "marker of the store" in done.err) == (3, True)


@pytest.mark.parametrize("args", [(), ("--help",), ("nope",), ("at", "X"), ("at", "X", "--seq", "-1"), ("run",)])
def test_usage(run: Run, args: tuple[str, ...]) -> None:
    done = run(*args)
    assert done.code == (0 if args == ("--help",) else 2)
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("run", "V06", "--jobs", "0"), "'--jobs' / '-j': Input should be greater than or equal to 1, not '0'"),
        (("run", "V06", "--seed", "9" * 20), "'--seed': Input should be less than or equal to 9223372036854775807"),
        (("at", "X", "--seq", "-1"), "'--seq': Input should be greater than or equal to 0, not '-1'"),
        (("at", "X", "--seq", "x"), "'--seq': Input should be a valid integer"),
        (("run",), "Missing argument 'TASK'; see: iwreplay run --help"),
        (("nope",), "No such command 'nope'; see: iwreplay --help"),
        (("show", "X", "Y"), "unexpected extra argument"),
        (("run", "V06", "--nope"), "No such option: --nope"),
    ],
)
def test_wrong_use_is_one_line_that_names_the_value(run: Run, args: tuple[str, ...], said: str) -> None:
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_a_wrong_choice_is_named_once(run: Run) -> None:
    done = run("scene", "render", "family_kitchen", "--view", "sideways", "--out", "x.png")
    assert (done.code, done.err.count("sideways"), "Value error" in done.err) == (2, 1, False)


def test_few_names_are_all_told_and_of_many_the_nearest() -> None:
    few = UnknownNameError("colour", "rad", known=("red", "blue"))
    assert str(few) == "unknown colour 'rad'. Nearest: red. Known: red, blue."
    many = tuple(f"thing_{n}" for n in range(200))
    assert (
        str(UnknownNameError("thing", "x", known=many)) == "unknown thing 'x'. Known: 200, from thing_0 to thing_199."
    )
    assert "Nearest: thing_17, " in str(UnknownNameError("thing", "thing17", known=many))
    fits = AmbiguousNameError("thing", "thing_1", fits=many[100:])
    lines = str(fits).splitlines()
    assert lines[0] == "thing 'thing_1' fits 100 things; give more of it, or the whole name:"
    assert lines[1:3] + lines[-2:] == ["  thing_100", "  thing_101", "  thing_109", "  and 90 more"]


def test_version(run: Run) -> None:
    assert run("--version").out == "iwreplay 0.1.0\n"
