"""A user's scorer on a real log: guarded while it runs, its answer checked, and the same the second time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from iwreplay.app import scorer_running
from iwreplay.app.scorer_file import load_scorer
from iwreplay.app.scorer_guard import guarded
from iwreplay.app.scorer_running import ScorerRunError, score_with
from iwreplay.errors import WorkerError
from iwreplay.log import read_log
from scorers import Score, Unscorable, scorer_named
from tests.scorers.own import HEAD, SAMPLES, written

Ask = Callable[..., Score | Unscorable]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """What a body of a scorer file says about sample episodes; the last answer."""

    def asked(body: str, *samples: str) -> Score | Unscorable:
        scorer = load_scorer(written(tmp_path, body, head="" if "VERSION" in body else HEAD))
        found: Score | Unscorable | None = None
        for sample in samples or ("V06-oracle",):
            path = SAMPLES / f"{sample}.arrows"
            with read_log(path) as log:
                found = score_with(scorer, log, path=path)
        assert found is not None
        return found

    return asked


def _function(*lines: str, above: str = "") -> str:
    return above + "def score(events, task):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(("gave", "value"), [("True", 1.0), ("False", 0.0), ("3", 3.0), ("0.25", 0.25)])
def test_a_number_or_a_truth_value_is_a_score(ask: Ask, gave: str, value: float) -> None:
    assert ask(_function(f"return {gave}")) == Score(metric="mine", value=value, evidence=())


def test_it_sees_events_world_task_and_checks(ask: Ask) -> None:
    above = (
        "from iwreplay.checks import evaluate_task\nfrom iwreplay.world.state import fold\n"
        "from scorers import SCORERS, Score\n"
    )
    found = ask(
        _function(
            "assert [seq for seq, _ in events] == list(range(len(events)))",
            "last = [world for _, _, world in fold(events)][-1]",
            "mcr = evaluate_task(events).mcr",
            "ours = next(s for s in SCORERS if s.name == 'mcr')(events)",
            "details = {'task': task.id, 'end': last.sim_time_s, 'same': ours.value == mcr}",
            "return Score(metric='mine', value=mcr, evidence=(9, 3, 3), details=details)",
            above=above,
        )
    )
    with read_log(SAMPLES / "V06-oracle.arrows") as log:
        end = log.at_seq(len(log) - 1).sim_time_s
        mcr = scorer_named("mcr")(log)
    assert isinstance(mcr, Score)
    details = {"task": "V06", "end": end, "same": True}
    assert found == Score(metric="mine", value=mcr.value, evidence=(3, 9), details=details)


def test_what_one_defines_in_a_module_works_behind_the_guard(ask: Ask) -> None:
    above = (
        "from __future__ import annotations\nimport enum, msgspec, re\nfrom collections import namedtuple\n"
        "from dataclasses import dataclass\nfrom functools import cache\nfrom typing import ClassVar\n"
        "Pair = namedtuple('Pair', 'a b')\n@dataclass(frozen=True)\nclass Data:\n    a: int\n    b: ClassVar[int] = 2\n"
        "class Kind(enum.Enum):\n    A = 1\nclass Plain(msgspec.Struct):\n    x: int\n@cache\n"
        "def twice(x):\n    return 2 * x\nVERSION = 1\n"
    )
    found = ask(
        _function(
            "Inner = namedtuple('Inner', 'a')",
            "return Pair(1, 2).b + len({Data(1), Data(1)}) + Plain(x=1).x + twice(3) + Inner(1).a + Kind.A.value",
            above=above,
        )
    )
    assert found == Score(metric="mine", value=12.0, evidence=())


@pytest.mark.parametrize("sample", ["A04-interrupted", "D09-fault"])
def test_a_log_that_no_metric_can_rest_on_is_unscorable_and_never_0(ask: Ask, sample: str) -> None:
    found = ask(_function("raise ValueError('it is not asked')"), sample)
    with read_log(SAMPLES / f"{sample}.arrows") as log:
        ours = scorer_named("mcr")(log)
    assert isinstance(found, Unscorable)
    assert isinstance(ours, Unscorable)
    assert (found.reason, found.missing) == (ours.reason, ours.missing)
    assert found.missing


def test_its_own_reasons_are_kept(ask: Ask) -> None:
    above = "from scorers import Unscorable\n"
    asked = _function("return Unscorable(metric='mine', reason='no words', missing=['words'])", above=above)
    assert ask(asked) == Unscorable(metric="mine", reason="no words", missing=("words",))
    undefined = _function("return Unscorable(metric='mine', reason='not passed', undefined=True)", above=above)
    assert ask(undefined) == Unscorable(metric="mine", reason="not passed", undefined=True)


WRONG = [
    ("return None", "score gave None (NoneType); give Score, Unscorable, a number or a truth value"),
    ("return 'good'", "score gave 'good' (str)"),
    ("yield 1", "(generator)"),
    ("return float('nan')", "score gave nan (float), which is no score"),
    ("return -float('inf')", "score gave -inf (float), which is no score"),
    ("return 10 ** 400", "(int), which is no score"),
    ("return Score(metric='mine', value='1', evidence=())", "a score whose value is '1' (str)"),
    ("return Score(metric='mine', value=float('nan'), evidence=())", "score gave nan (float)"),
    ("return Score(metric='pass', value=1, evidence=())", "a score of the metric 'pass' (str); its metric is 'mine'"),
    ("return Score(metric='mine', value=1, evidence=(926,))", "the evidence 926; the log has events 0 to 925"),
    ("return Score(metric='mine', value=1, evidence=(-1,))", "the evidence -1; the log has events 0 to 925"),
    (
        "return Score(metric='mine', value=1, evidence=(1.0,))",
        "the evidence (1.0,) (tuple); give the numbers of events",
    ),
    ("return Score(metric='mine', value=1, evidence=7)", "the evidence 7 (int)"),
    ("return Score(metric='mine', value=1, evidence=(), details=[1])", "the details [1] (list); give a dict"),
    ("return Score(metric='mine', value=1, evidence=(), details={'a': task.__class__})", "details that are no JSON"),
    ("return Score(metric='mine', value=1, evidence=(), details={'a': [float('inf')]})", "details with inf"),
    ("return Unscorable(metric='mine', reason='', missing=('x',))", "Unscorable with the reason '' (str)"),
    ("return Unscorable(metric='mine', reason='why')", "missing () (tuple); give the reason in words, and name what"),
    ("return Unscorable(metric='mine', reason='why', missing='x')", "missing 'x' (str)"),
    ("return [][1]", "mine.py:4: 'return [][1]': IndexError: list index out of range"),
    ("raise SystemExit(3)", "mine.py:4: 'raise SystemExit(3)': SystemExit: 3"),
    ("return score(events, task)", "RecursionError"),
]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=[line for line, _ in WRONG])
def test_what_is_no_score_is_an_error_with_its_value(ask: Ask, line: str, said: str) -> None:
    with pytest.raises(ScorerRunError) as refused:
        ask(_function(line, above="from scorers import Score, Unscorable\n"))
    assert said in str(refused.value)
    assert "mine.py" in str(refused.value)
    assert refused.value.exit_code == 1


def test_a_module_that_raises_is_told_with_its_line(ask: Ask, tmp_path: Path) -> None:
    written(tmp_path, "X = 1 / 0\n", name="beside")
    with pytest.raises(ScorerRunError, match=r"beside\.py:2: 'X = 1 / 0': ZeroDivisionError"):
        ask("import beside\n" + _function("return 1"))
    with pytest.raises(ScorerRunError, match="once it is run, score is 3"):
        ask(_function("return 1") + "score = 3\n")


#: a way to modules that no reading of the text sees
_HIDDEN = "import collections, operator\nM = operator.attrgetter('_sys.modules')(collections)\n"
TRIED = [
    ("M['os'].listdir('.')", "tried os.listdir '.'"),
    ("M['os'].open('x', 0)", "tried open 'x'"),
    ("M['os'].system('true')", "tried os.system b'true'"),
    ("M['io'].open('x')", "tried open 'x'"),
    ("M['builtins'].open('x')", "tried open 'x'"),
    ("M['builtins'].__import__('this')", "tried import 'this'"),
    ("M['os'].putenv('a', 'b')", "tried os.putenv b'a'"),
]


@pytest.mark.parametrize(("line", "said"), TRIED, ids=[line for line, _ in TRIED])
def test_what_the_text_hides_is_refused_while_it_runs(ask: Ask, line: str, said: str) -> None:
    with pytest.raises(ScorerRunError) as refused:
        ask(_function(line, "return 1", above=_HIDDEN))
    assert said in str(refused.value)
    assert f"mine.py:5: {line!r}" in str(refused.value) or f"mine.py:5: {line!r}".replace('"', "'") in str(
        refused.value
    )


@pytest.mark.parametrize("name", ["open", "eval", "__import__", "print"])
def test_builtins_that_are_fetched_by_name_refuse(ask: Ask, name: str) -> None:
    lines = (f"b = getattr(score, '__glo' + 'bals__')['__built' + 'ins__']['{name}']", "b('os')", "return 1")
    with pytest.raises(ScorerRunError, match=f"tried {'import os' if name == '__import__' else name}"):
        ask(_function(*lines))


def test_a_scorer_that_swallows_the_refusal_is_refused_all_the_same(ask: Ask) -> None:
    lines = ("try:", "    M['os'].listdir('.')", "except BaseException:", "    pass", "return 1")
    with pytest.raises(ScorerRunError, match=r"tried os\.listdir"):
        ask(_function(*lines, above=_HIDDEN))


def test_the_guard_is_for_the_scorer_only(ask: Ask, tmp_path: Path) -> None:
    ask(_function("return 1"))
    assert (tmp_path / "mine.py").read_text()
    seen: list[str] = []
    with guarded() as tried:
        other = threading.Thread(target=lambda: seen.append((tmp_path / "mine.py").read_text()))
        with pytest.raises(Exception, match="tried"):
            (tmp_path / "mine.py").read_text()
        assert tried()[0].startswith("open ")
    other.start()
    other.join()
    assert seen


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("class A:\n    n = 0\n", "a = A; a.n += 1; return a.n"),
        ("class A:\n    n = []\n", "a = A(); a.n.append(1); return len(a.n)"),
        ("from functools import partial\nP = partial(list.append, [])\n", "p = P; p(1); return len(p.args[0])"),
    ],
)
def test_what_is_kept_from_one_episode_to_the_next_is_found(ask: Ask, above: str, line: str) -> None:
    assert ask(_function(line, above=above)).value == 1.0  # type: ignore[union-attr]
    with pytest.raises(ScorerRunError, match=r"gives 2\.0, and 1\.0 when the same log is scored once more"):
        ask(_function(line, above=above + "# again\n"), "V06-oracle", "V06-silent")


def test_the_order_of_a_set_is_found(ask: Ask) -> None:
    """Twenty-six letters have another order in a process with another hash seed."""
    with pytest.raises(ScorerRunError, match="or depend on the order of a set"):
        ask(_function("return list(set('abcdefghijklmnopqrstuvwxyz')).index('a')"))
    words = "details={'order': list(set('abcdefghijklmnopqrstuvwxyz'))}"
    with pytest.raises(ScorerRunError, match="gives the details"):
        ask(
            _function(
                f"return Score(metric='mine', value=1, evidence=(), {words})", above="from scorers import Score\n"
            )
        )
    assert ask(_function("return len(set('abc'))")) == Score(metric="mine", value=3.0, evidence=())


def test_a_clock_that_is_read_through_a_back_door_is_found(ask: Ask) -> None:
    with pytest.raises(ScorerRunError, match="when the same log is scored once more in another process"):
        ask(_function("return M['time'].perf_counter()", above=_HIDDEN))


def test_a_scorer_that_changes_its_events_changes_nobody_elses(ask: Ask) -> None:
    with read_log(SAMPLES / "V06-oracle.arrows") as log:
        before = scorer_named("mcr")(log)
        lines = ("for thing in events[0][1].scene.things:", "    thing.attrs.clear()", "return 1")
        ask(_function(*lines))
        assert scorer_named("mcr")(log) == before
        assert any(t.attrs for t in log.opened().scene.things)


@pytest.mark.skipif(os.name != "posix", reason="a process is killed as POSIX does")
def test_a_second_process_that_dies_is_told_and_replaced(ask: Ask) -> None:
    ask(_function("return 1"))
    workers = scorer_running._Twin.workers
    assert workers is not None
    for pid in list(workers._pool._processes):
        os.kill(pid, signal.SIGKILL)

    def until_it_is_noticed() -> None:
        for _ in range(100):
            ask(_function("return 1"))

    with pytest.raises(WorkerError, match="a second time was killed, or ran out of memory"):
        until_it_is_noticed()
    assert ask(_function("return 1")) == Score(metric="mine", value=1.0, evidence=())
