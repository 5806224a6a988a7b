"""The random Assistant, and the chance that it draws from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from iwreplay.app.recording import Wish, record_task
from iwreplay.events import AssistantDecision
from iwreplay.log import read_log
from iwreplay.taskpack.loader import load_tasks
from recorder.assistants import RandomAssistant
from recorder.chance import SeededRng
from tests.contracts.assistant import AssistantContract, assistant_view
from tests.tasks.playing import SIX


class TestRandom(AssistantContract):
    def make(self) -> RandomAssistant:
        return RandomAssistant(("blue mug", "sink"), rng=SeededRng("G05", 7))


def _said(rng: SeededRng, turns: int = 200) -> list[str]:
    assistant = RandomAssistant(("blue mug", "sink"), rng=rng)
    return [str(assistant.decide(assistant_view(turn)).text) for turn in range(1, turns + 1)]


def test_a_seed_gives_the_same_words_and_another_seed_or_task_gives_others() -> None:
    assert _said(SeededRng("G05", 7)) == _said(SeededRng("G05", 7))
    assert len({tuple(_said(SeededRng(task, seed))) for task in ("G05", "V06") for seed in range(10)}) == 20


def test_everything_is_said_sooner_or_later() -> None:
    said = Counter(_said(SeededRng(1), 2000))
    assert len(said) == 20
    assert min(said.values()) > 50


def test_draws_are_spread_evenly_and_never_change() -> None:
    rng = SeededRng("any", 0)
    counts = Counter(rng.randrange(7) for _ in range(7000))
    assert sorted(counts) == list(range(7))
    assert all(850 < n < 1150 for n in counts.values())
    first = SeededRng("golden", 1)
    assert [first.randrange(1000) for _ in range(6)] == GOLDEN


#: of every version, on every machine
GOLDEN = [612, 958, 512, 228, 388, 612]


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(t, marks=() if t.id in ("A04", "V06") else pytest.mark.slow, id=t.id)
        for t in load_tasks()
        if t.id in SIX
    ],
)
def test_it_plays_a_task_to_its_limit_by_the_seed(task, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    words = []
    for store in ("a", "b"):
        made = record_task(
            task, wish=Wish(store=tmp_path / store, assistant="random", human="literal", seed=5, frames=False)
        )
        assert (made.valid, made.passed, made.episode) == (True, False, f"{task.id}-random-literal-s5"), made.detail
        assert made.end_reason in ("turn_limit", "action_limit")
        with read_log(Path(made.log)) as log:
            words.append([e.text for e in log.events() if isinstance(e, AssistantDecision)])
    assert words[0] == words[1]
