"""`iwreplay tasks generate` from end to end: litellm over HTTP, the task really run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generation.scripted import ACCEPT, as_json, fenced, pack_text, proposal_of, target_of, task_from
from tests.models.provider import KEY, Provider, provider

ROOT = Path(__file__).resolve().parents[2]
ASKED = (
    "tasks", "generate", "--family", "guidance", "--capability", "C3", "--id", "g90", "--scene", "family_kitchen",
    "--author", "openai/writes", "--reviewer", "openai/reviews", "--out", "out",
)  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    task = task_from(tmp_path_factory.mktemp("task"))
    return [as_json(proposal_of(task)), as_json(target_of(task))]


def _generate(
    there: Provider, cwd: Path, *more: str, args: tuple[str, ...] = ASKED
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "OPENAI_API_BASE": there.url, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "iwreplay", *args, *more],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert KEY not in done.stdout + done.stderr
    return done


def test_a_task_is_generated_run_and_shown(tmp_path: Path, answers: list[str]) -> None:
    touched = fenced(pack_text().replace("The note was read.", "The note was touched."), "toml")
    said: dict[str, list[str | int]] = {
        "writes": ["busy", *answers, "Sorry, here is half of it: format = 1", touched, fenced(pack_text(), "toml")],
        "reviews": [ACCEPT, "I like it!", ACCEPT, "html", ACCEPT],
    }
    with provider(said) as there:
        done = _generate(there, tmp_path, "--json")
        asked = len(there.requests)
        again = _generate(there, tmp_path)
        assert len(there.requests) == asked
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["outcome"], found["task"], found["revisions"], found["calls"]) == ("accepted", "G90", 2, 9)
    assert "revision 2: checking the task" in done.stderr
    assert (tmp_path / found["file"]).read_text().strip() == pack_text().strip()
    page = (tmp_path / "out" / "pages" / "G90.html").read_text()
    assert "The guest" in page
    assert "out/G90.toml: everything holds. Look at out/pages before you use it." in again.stdout
    assert "2 revisions, 9 calls (9 from before) at an unknown price" in again.stdout
    journal = (tmp_path / "out" / "generation.jsonl").read_text()
    assert "the frozen target is broken: objectives: 'note_was_read' says ('The note was touched.',)" in journal
    for file in (tmp_path / "out").rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes(), file


@pytest.mark.slow
def test_what_does_not_converge_says_so_and_leaves_no_task(tmp_path: Path, answers: list[str]) -> None:
    bad = [fenced(pack_text().replace('cls = "note"', f'cls = "nota{n}"'), "toml") for n in range(3)]
    with provider({"writes": [*answers, *bad], "reviews": [ACCEPT] * 3}) as there:
        done = _generate(there, tmp_path, "--revisions", "2")
    assert done.returncode == 1
    assert "G90 was given up: after 2 revisions the pack still has problems: it does not load: " in done.stdout
    assert "nota2" in done.stdout
    assert not (tmp_path / "out" / "G90.toml").exists()


@pytest.mark.slow
def test_a_provider_that_is_away_ends_it_and_it_goes_on_later(tmp_path: Path, answers: list[str]) -> None:
    with provider({"writes": [*answers, "patient"], "reviews": [ACCEPT] * 2}) as there:
        done = _generate(there, tmp_path)
    assert done.returncode == 2
    assert "what was answered is kept in" in done.stderr
    assert "Try again later." in done.stderr
    with provider({"writes": ["no task at all"], "reviews": []}) as there:
        done = _generate(there, tmp_path, "--json")
        assert len(there.requests) == 2
    # the parts that were answered are not asked again; the missing answer to the revision ends it
    assert done.returncode == 2
    assert "model 'openai/writes' can't be used" in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--reviewer", "openai/writes"), "it is the author and the reviewer. They must differ"),
        (("--capability", "C0"), "unknown capability 'C0'"),
        (("--family", "gardening"), "unknown family 'gardening'"),
        (("--id", "G05"), "id 'G05' is taken"),
        (("--author", "nobody/m"), "Models are named as litellm names them"),
    ],
)
def test_wrong_use_is_told_before_anything_is_asked(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    args = list(ASKED)
    args[args.index(change[0]) + 1] = change[1]
    with provider({}) as there:
        done = _generate(there, tmp_path, args=tuple(args))
        assert there.requests == []
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []
