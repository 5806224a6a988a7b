"""Pages about tasks: escaped, whole in themselves, with what is to be seen, what failed, and every wrong way."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from iwreplay.app import validation
from iwreplay.app.evidence import prove_evidence
from iwreplay.app.task_frames import evidence_frames, step_frames
from iwreplay.app.task_lines import header_of
from iwreplay.app.task_pages import Row, Verdict, write_index, write_task_page
from iwreplay.frames.maker import FrameMaker
from iwreplay.loop import configured
from iwreplay.taskpack.loader import load_task, validate_task
from recorder.assistants import OracleAssistant

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")


def test_the_index_escapes_and_needs_nothing_else(tmp_path: Path) -> None:
    rows = [
        Row("G05", "guidance", "G05.html", 9, 13, None, (Verdict("loads", True, ""), Verdict("a<b", False, "<i>&"))),
        Row("V06", "prevention", "", 4, 7, 0.5, (Verdict("loads", True, ""),)),
        Row("prevention", "prevention", "", 0, 0, None, (Verdict("lengths differ", True, ""),)),
    ]
    text = write_index(tmp_path, rows).read_text(encoding="utf-8")
    assert '<a href="G05.html">G05</a>' in text
    assert "a&lt;b" in text
    assert "&lt;i&gt;&amp;" in text
    assert "<i>" not in text
    assert "V06.html" not in text
    assert "<h1>2 tasks, 4 checks</h1>" in text
    assert "http" not in text
    assert "<script" not in text


def test_the_comment_above_a_task_is_told() -> None:
    assert header_of("# A mug\n# and a note.\nformat = 1\n# no more\n") == "A mug and a note."
    assert header_of("format = 1\n# no more\n") == ""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the task of docs/tasks.md, with one check that does not hold."""
    folder = tmp_path_factory.mktemp("pages")
    path = folder / "g90.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.S)), encoding="utf-8")
    task = load_task(path)
    scene = validate_task(task)
    maker = FrameMaker(scene, config=configured(task, draw_frames=False), threads=1)
    oracle = validation._play(task, scene, folder, OracleAssistant(task.oracle), name="o", maker=maker)
    alone = validation._without_help(task, scene, folder, maker=maker)
    proofs = prove_evidence(task, scene, oracle.events, maker=maker)

    # every command and the start has its picture, in their order
    steps = step_frames(oracle.events, maker)
    commands = [*task.warmup, *(c for s in task.oracle for c in s.do)]
    assert [s.command for s in steps] == ["", *commands]
    # the note is needed twice over, and shown once, outlined where it is drawn
    (shown,) = evidence_frames(oracle.events, proofs, maker)
    assert {p.before for p in shown.proofs} == {"[Grab] blue mug in turn 2"}
    red = (shown.rgb == np.array([230, 30, 30])).all(axis=2)
    assert 0 < red.sum() < 0.02 * red.size

    told = msgspec.structs.replace(task, request="Is <b> bold?")
    verdicts = (
        Verdict("loads", True, ""),
        Verdict("near miss red_mug", False, "fails nothing"),
        Verdict("no help fails", True, "mcr 0.00, fails note_was_read"),
    )
    written = write_task_page(
        folder,
        told,
        about="What it is about.",
        events=oracle.events,
        alone=alone.events,
        proofs=proofs,
        verdicts=verdicts,
        maker=maker,
    )
    text = written.read_text(encoding="utf-8")
    # a frame a command, one of the note, and the note turned square
    assert text.count("<img ") == len(steps) + 2
    return re.sub(r'src="data:image/jpeg;base64,[^"]*"', "", text)


def test_a_page_tells_what_was_shown_and_done(page: str) -> None:
    assert "What it is about." in page
    assert "Is &lt;b&gt; bold?" in page
    assert "<q>TEA FOR ME:\nTHE BLUE MUG</q>" in page
    assert "needed before [Grab] blue mug in turn 2" in page
    assert "<b>Turn 1</b>: Read the note." in page
    assert "<code>[PutOn] mug, dining table</code>" in page


def test_a_page_tells_what_failed_first(page: str) -> None:
    above = page[: page.index("<h2>")]
    assert "1 of 3 checks do not hold" in above
    assert "near miss red_mug" in above
    assert "no help fails" not in above


def test_a_page_tells_the_wrong_ways(page: str) -> None:
    wrong = page[page.index("<h2>Wrong ways") : page.index("<h2>All checks")]
    # what the Human does alone, and what comes of it
    assert "<code>[Grab] red mug</code>" in wrong
    assert "mcr 0.00, fails note_was_read" in wrong
    # a near miss by what is not the oracle's
    assert "as the oracle in turn 1" in wrong
    assert "<b>Pick up the red mug.</b>" in wrong
    assert '<span class="no">fails nothing</span>' in wrong


def test_a_page_needs_nothing_else(page: str) -> None:
    assert "http" not in page
    assert "<script" not in page
