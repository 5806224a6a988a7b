"""docs/literal-human.md: every row of its tables is what the literal Human does."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from iwreplay.actions.grammar import entity_words, parse_command
from iwreplay.actions.grounding import ground
from iwreplay.actions.naming import public_name
from iwreplay.actions.perception import Perception
from iwreplay.actions.refusal import RefusedError
from iwreplay.actions.table import PRIMITIVES
from iwreplay.app import validation
from iwreplay.events import PrimitiveOutcome
from iwreplay.frames.maker import FrameMaker
from iwreplay.loop import configured
from iwreplay.taskpack.loader import load_task, validate_task
from iwreplay.world.geometry import thing_of
from iwreplay.world.state import WorldState
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman, interpret

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "literal-human.md").read_text(encoding="utf-8")


def _tables() -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(columns, cells) of every row of every table."""
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    columns: tuple[str, ...] = ()
    for line in PAGE.splitlines():
        if not line.startswith("|"):
            columns = ()
            continue
        cells = tuple(c.strip() for c in line.strip("|").split("|"))
        if not columns:
            columns = cells
        elif not set(cells) <= {"---"}:
            found.append((columns, cells))
    return found


ROWS = [dict(zip(columns, cells, strict=True)) for columns, cells in _tables()]
SAID = [r for r in ROWS if "sentence" in r]
NAMED = [r for r in ROWS if "words" in r]


@pytest.mark.parametrize("row", SAID, ids=[r["sentence"] for r in SAID])
def test_a_sentence_gives_its_commands_and_its_answer(row: dict[str, str]) -> None:
    before = [row["said before"]] if row.get("said before") else []
    understood = interpret(row["sentence"], holding=row["in the hand"], earlier=before)
    assert list(understood.commands) == re.findall(r"`([^`]+)`", row["commands"])
    assert (understood.reply or "") == row.get("answer", "")
    if "primitive" in row:
        made = {parse_command(c).primitive for c in understood.commands}
        assert {f"{p.number} {p.canonical}" for p in made} == {row["primitive"]}


def test_all_36_primitives_are_shown_twice_at_least() -> None:
    shown = [r["primitive"] for r in SAID if "primitive" in r]
    assert {p for p in PRIMITIVES if shown.count(f"{p.number} {p.canonical}") < 2} == set()
    assert len(SAID) + len(NAMED) == len(ROWS) > 150


def test_what_it_shows_in_python_is_so() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "literal-human.md", None, 0)
    assert len(examples.examples) >= 3
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """What words name for the Human of the task in docs/tasks.md when the Assistant comes in, or what it answers."""
    folder = tmp_path_factory.mktemp("page")
    path = folder / "g90.toml"
    tasks = (DOCS / "tasks.md").read_text(encoding="utf-8")
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", tasks, re.S)), encoding="utf-8")
    task = load_task(path)
    scene = validate_task(task)
    maker = FrameMaker(scene, config=configured(task, draw_frames=False), threads=1)
    played = validation._play(task, scene, folder, OracleAssistant(()), name="o", maker=maker)
    state = WorldState(scene)
    perception = Perception(state, sighted=True)
    for event in played.events:
        state.apply(event)
        perception.apply(event)
    (walked,) = (e for e in played.events if isinstance(e, PrimitiveOutcome))

    def told(words: str) -> str:
        try:
            found = ground(entity_words(words), state=state, perception=perception)
        except RefusedError as no:
            refused = msgspec.structs.replace(walked, ok=False, refused=True, sentence=no.refusal.sentence)
            return LiteralHuman().report((refused,)) or ""
        return f"the {public_name(thing_of(state, found.id))}"

    return told


@pytest.mark.parametrize("row", NAMED, ids=[r["words"] for r in NAMED])
def test_words_name_what_the_page_says(row: dict[str, str], answer: Callable[[str], str]) -> None:
    assert answer(row["words"]) == row["what they name, or what it answers"]
