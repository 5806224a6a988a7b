"""Building only the events that can change a verdict changes no verdict."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.synthetic import episode
from iwreplay.checks import CheckRun, EventRuns, run_selected
from iwreplay.errors import LogCorruptError, LogError
from iwreplay.events import EVENT_TYPES, AnyEvent, BodyPosed, EpisodeOpened, FrameCaptured, PosesSampled
from iwreplay.log import LogWriter, read_log
from iwreplay.taskpack.model import Gate, Objective, Point, TaskPack
from iwreplay.world.state import fold
from scorers import SCORERS, Unscorable, score_all
from tests.checks.worlds import TOY

#: attributes, events (present and one step late), relations and baselines, looking back and ahead, time and way
FORMULAS: tuple[Any, ...] = (
    ["attr", "bowl_1", "clean", True],
    ["once", ["attr", "bowl_3", "wet", True]],
    ["hist", ["not", ["attr", "bowl_4", "wet", True]]],
    ["once", ["event", {"kind": "contact", "obj": "bowl_5"}]],
    ["once", ["prev", ["event", {"kind": "wash", "obj": "bowl_6"}]]],
    ["once", ["prev", ["prev", ["event", {"verb": "wash", "ok": True}]]]],
    ["event", {"kind": "phase_changed", "phase": "end"}],
    ["prev", ["prev", ["event", {"kind": "phase_changed", "phase": "end"}]]],
    ["since", ["attr", "bowl_7", "wet", True], ["event", {"verb": "wash"}]],
    ["ever", ["event", {"kind": "assistant_decision", "decision": "done"}]],
    ["always", ["not", ["attr", "bowl_2", "clean", True]]],
    ["at_last", ["event", {"kind": "wash"}], ["attr", "bowl_12", "wet", True]],
    ["until", ["not", ["attr", "bowl_8", "wet", True]], ["event", {"kind": "wash", "obj": "bowl_8"}]],
    ["baseline", "bowl_9"],
    ["rel", "ontop", "bowl_10", "counter_1"],
    ["once", ["rel", "near", "wearer", "bowl_11"]],
    ["clock", "<=", 30.0],
    ["route_length", "<=", 1.0],
)


def _log(tmp: Path, events: list[AnyEvent], *, batch: int | None = None, name: str = "log") -> Path:
    path = tmp / f"{name}.arrows"
    with LogWriter.create(path) as log:
        for i, event in enumerate(events):
            log.append(event)
            if batch is not None and i % batch == 0:
                log.commit()
        if batch is None:
            log.seal()
    return path


def _task(task: TaskPack, formulas: list[Any]) -> TaskPack:
    return msgspec.structs.replace(
        task,
        objectives=tuple(Objective(id=f"o{i}", text="", formula=f) for i, f in enumerate(formulas)),
        gates=tuple(
            Gate(id=f"g{i}", text="", formula=f) for i, f in enumerate(formulas) if f[0] in ("attr", "not", "clock")
        ),
        keeps=(),
        points=tuple(Point(id=f"P{i}", capability="C1", text="", formula=f) for i, f in enumerate(formulas)),
    )


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda f: str(f)[:60])
def test_each_formula_alone_is_evaluated_as_over_every_event(formula: Any, tmp_path: Path) -> None:
    _same([formula], episode(300, seed=3), tmp_path)


@given(
    formulas=st.lists(st.sampled_from(FORMULAS), min_size=1, max_size=6),
    made=st.builds(
        episode,
        st.integers(40, 200),
        seed=st.integers(0, 99),
        end=st.sampled_from(["done", "turn_limit", "fault", None]),
    ),
    batch=st.sampled_from([None, 1, 7, 64]),
)
@settings(deadline=None, max_examples=25)
def test_any_formulas_over_any_log(formulas: list[Any], made: list[AnyEvent], batch: int | None) -> None:
    with TemporaryDirectory() as folder:
        _same(formulas, made, Path(folder), batch=batch)


def _same(formulas: list[Any], events: list[AnyEvent], tmp: Path, *, batch: int | None = None) -> None:
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    task = _task(opened.task, formulas)
    whole = CheckRun(task, opened.scene, relations=TOY)
    for seq, event, state in fold(enumerate(events)):
        whole.feed(seq, event, state)
    with read_log(_log(tmp, events, batch=batch)) as log:
        some = run_selected(log, task=task, relations=TOY)
        assert some is not None
        assert some.result() == whole.result()
        assert some.evaluation() == whole.evaluation()
        assert score_all(log, task, relations=TOY) == score_all(events, task, relations=TOY)


def test_kinds_that_nothing_reads_are_not_built(tmp_path: Path) -> None:
    events = episode(300)
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    kinds = CheckRun(opened.task, opened.scene).kinds
    assert not kinds & {FrameCaptured, BodyPosed, PosesSampled}
    with read_log(_log(tmp_path, events)) as log:
        assert isinstance(log, EventRuns)
        got = [pair for chunk in log.chunks() for pair in chunk.select(kinds)]
    assert got == [(i, e) for i, e in enumerate(events) if type(e) in kinds]


def test_all_scorers_together_read_a_log_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that look at calls of models, which no check does."""
    events = episode(300, hosted=True)
    with read_log(_log(tmp_path, events, batch=50)) as log:
        read: list[int] = []
        chunks = log.chunks
        monkeypatch.setattr(log, "chunks", lambda: read.append(1) or chunks())
        scores = score_all(log)
    assert len(read) == 1
    assert scores == score_all(events)
    assert any(s.metric == "token_cost" and not isinstance(s, Unscorable) for s in scores), "it has calls to count"


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_one_kind_is_selected_with_its_arrays(kind: type[AnyEvent], tmp_path: Path) -> None:
    events = episode(200)
    with read_log(_log(tmp_path, events, batch=50)) as log:
        got = [pair for chunk in log.chunks() for pair in chunk.select({kind})]
    assert got == [(i, e) for i, e in enumerate(events) if type(e) is kind]


def test_a_changed_byte_of_an_event_that_nothing_reads_is_found(tmp_path: Path) -> None:
    path = _log(tmp_path, episode(300), batch=50)
    raw = path.read_bytes()
    at = raw.index(b'"frame_captured"', len(raw) // 2) + 60
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    with read_log(path) as log, pytest.raises(LogCorruptError):
        score_all(log)


def test_what_is_missing_in_a_plain_list_is_found_whatever_kind_it_is() -> None:
    numbered = list(enumerate(episode(300)))
    lost = next(i for i, e in numbered if isinstance(e, FrameCaptured) and i > 50)
    del numbered[lost]
    scores = score_all(numbered)
    assert all(isinstance(s, Unscorable) and s.missing == (f"events {lost}..{lost}",) for s in scores)
    assert len(scores) == len(SCORERS)


def test_runs_that_leave_events_out_are_refused(tmp_path: Path) -> None:
    with read_log(_log(tmp_path, episode(300), batch=50)) as log:
        runs = list(log.chunks())

    class Holed:
        def chunks(self) -> Any:
            return [*runs[:2], *runs[3:]]

    with pytest.raises(LogError, match="follows event"):
        run_selected(Holed())
