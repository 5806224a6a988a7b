"""The whole report of made-up outcomes: its numbers against plain counting, its forms, its gaps."""

from __future__ import annotations

import csv
import io
import re
import warnings
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from iwreplay.app.report_files import read_numbers, write_files
from iwreplay.reports import (
    Instance,
    Number,
    Report,
    StaticAnswer,
    TaskFacts,
    csv_files,
    make_report,
    markdown,
    page,
    select,
)
from iwreplay.vocabulary import CAPABILITIES, FAMILIES
from tests.reports.made_up import instance, outcomes, tasks

TASKS = tasks()
OUTCOMES = outcomes()
ANSWERS = [StaticAnswer(assistant="lab/big", task=t.id, correct=n % 3 != 0) for n, t in enumerate(TASKS)]
SECTIONS = (
    "pass", "capability", "cost", "errors", "interventions", "executors", "memory", "pairs", "horizon", "static",
    "configuration",
)  # fmt: skip


@pytest.fixture(scope="module")
def report() -> Report:
    return make_report(select(OUTCOMES, tasks=TASKS), title="made up", answers=ANSWERS, resamples=200)


def number(report: Report, name: str) -> Number:
    (found,) = [n for n in report.numbers() if n.id == name]
    return found


def mine(assistant: str, human: str, family: str | None = None) -> list[Instance]:
    return [
        i for i in OUTCOMES if (i.assistant, i.human) == (assistant, human) and (family is None or i.family == family)
    ]


def test_every_question_has_its_section(report: Report) -> None:
    assert tuple(s.id for s in report.sections) == SECTIONS
    assert [s.id for s in report.sections if s.empty] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_pass_is_the_share_of_twenty(report: Report, family: str) -> None:
    found = number(report, f"pass/{family}/lab/big with literal")
    there = mine("lab/big", "literal", family)
    assert found.value == sum(bool(i.passed) for i in there) / 20
    assert (found.k, found.n) == (sum(bool(i.passed) for i in there), 20)
    assert set(found.episodes) == {i.episode for i in there}
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high


def test_the_average_is_the_mean_of_the_families(report: Report) -> None:
    parts = [number(report, f"pass/{f}/lab/small with lab/hand").value or 0.0 for f in FAMILIES]
    assert number(report, "pass/average/lab/small with lab/hand").value == pytest.approx(sum(parts) / 6)


def test_capability_is_the_share_of_points_without_help(report: Report) -> None:
    for c in CAPABILITIES:
        statuses = [s for i in mine("lab/big", "literal") for cap, s in i.points if cap == c]
        found = number(report, f"capability/{c}/lab/big with literal")
        assert (found.k, found.n) == (statuses.count("clean_pass"), len(statuses))


def test_cost_is_that_of_passed_episodes(report: Report) -> None:
    there = [i for i in mine("lab/big", "literal") if i.passed]
    ratios = [i.values["action_cost"] for i in there]
    assert number(report, "action_cost/all/lab/big with literal").value == pytest.approx(sum(ratios) / len(ratios))
    steps = [i.details["action_cost"] for i in there]
    sums = sum(d["actions"] for d in steps) / sum(d["oracle_actions"] for d in steps)
    assert number(report, "action_cost/ratio_of_sums/lab/big with literal").value == pytest.approx(sums)
    bare = sum(d["without_refused"] for d in steps) / len(steps)
    assert number(report, "action_cost/without_refused/lab/big with literal").value == pytest.approx(bare)


def test_first_errors_are_shares_of_the_labelled(report: Report) -> None:
    labels = [i.first_error for i in mine("lab/big", "literal") if i.first_error]
    shares = [number(report, f"errors/R{n}/lab/big with literal") for n in range(1, 7)]
    assert sum(s.value or 0.0 for s in shares) == pytest.approx(1.0)
    assert [s.k for s in shares] == [labels.count(f"R{n}") for n in range(1, 7)]


def test_what_annotators_found_invalid_is_in_no_share() -> None:
    failed = [i for i in OUTCOMES if not i.passed and i.first_error]
    spoilt = [msgspec.structs.replace(i, first_error="", invalid="human_restriction") for i in failed[:3]]
    rest = [i for i in OUTCOMES if i.episode not in {s.episode for s in spoilt}]
    arm = f"{failed[0].assistant} with {failed[0].human}"
    report = make_report(select([*rest, *spoilt], tasks=TASKS), title="spoilt", resamples=200)
    row = next(r for s in report.sections for t in s.tables if t.id == "errors" for r in t.rows if r[0] == arm)
    assert row[-1] == "3 human_restriction"
    there = [i for i in rest if f"{i.assistant} with {i.human}" == arm and not i.passed]
    assert row[-2] == f"{sum(bool(i.first_error) for i in there)} of {len(there)}"


def test_the_verdicts_on_interventions_are_counted(report: Report) -> None:
    there = mine("lab/big", "literal", "prevention")
    for verdict in ("right", "needless", "late", "missed"):
        n = sum(i.details["interventions"]["verdict"] == verdict for i in there)
        assert number(report, f"interventions/{verdict}/lab/big with literal").k == n


def test_the_memory_arm_is_compared_task_by_task(report: Report) -> None:
    name = "lab/big+memory with literal - lab/big with literal"
    with_it = {i.task: bool(i.passed) for i in mine("lab/big+memory", "literal")}
    without = {i.task: bool(i.passed) for i in mine("lab/big", "literal")}
    gain = sum(with_it[t] - without[t] for t in with_it) / 120
    assert number(report, f"difference/all/{name}").value == pytest.approx(100 * gain)
    assert number(report, f"pairs/only_first/{name}").value == sum(with_it[t] > without[t] for t in with_it)


def test_two_humans_agree_on_the_tasks_with_the_same_outcome(report: Report) -> None:
    one = {i.task: i.passed for i in mine("lab/big", "literal")}
    two = {i.task: i.passed for i in mine("lab/big", "lab/hand")}
    assert number(report, "agreement/lab/big").value == pytest.approx(sum(one[t] == two[t] for t in one) / 120)


def test_static_areas_cover_all_tasks(report: Report) -> None:
    areas = [
        number(report, f"static/{a}/lab/big with literal") for a in ("both", "static_only", "dynamic_only", "neither")
    ]
    assert sum(a.k or 0 for a in areas) == 120
    passed = {i.task for i in mine("lab/big", "literal") if i.passed}
    right = {a.task for a in ANSWERS if a.correct}
    assert areas[1].k == len(right - passed)


def test_published_numbers_say_so_and_rest_on_nothing(report: Report) -> None:
    cells = [c for s in report.sections for t in s.tables for r in t.rows for c in r if isinstance(c, Number)]
    published = [c for c in cells if c.published]
    assert len(published) > 50
    assert all(not c.id and not c.episodes for c in published)
    text = markdown(report)
    assert "| Claude Fable 5.1 (published) | 41.7 | 20.0 | 25.0 | 30.0 | 85.0 | 50.0 | 40.0 |" in text


def test_every_number_can_be_traced(report: Report) -> None:
    cells = [c for s in report.sections for t in s.tables for r in t.rows for c in r if isinstance(c, Number)]
    lost = [c for c in cells if c.value is not None and not c.published and not c.id]
    # answers to static questions rest on no episode
    static = [c for s in report.sections if s.id == "static" for t in s.tables for r in t.rows for c in r]
    assert all(c in static for c in lost)
    known = {i.episode for i in OUTCOMES}
    assert all(n.episodes and set(n.episodes) <= known for n in report.numbers())


def test_the_same_seed_gives_the_same_bytes(report: Report) -> None:
    again = make_report(select(outcomes(), tasks=TASKS), title="made up", answers=ANSWERS, resamples=200)
    assert page(again) == page(report)
    other = make_report(select(OUTCOMES, tasks=TASKS), title="made up", answers=ANSWERS, resamples=200, seed=12)
    assert page(other) != page(report)


def test_the_order_of_episodes_changes_nothing(report: Report) -> None:
    turned = make_report(select(OUTCOMES[::-1], tasks=TASKS), title="made up", answers=ANSWERS, resamples=200)
    assert page(turned) == page(report)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        found = dict(attrs)
        if tag == "section":
            self.ids.append(found["id"] or "")
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        self.outside += [
            v or "" for k, v in attrs if k in ("src", "href", "xlink:href") and (v or "").startswith("http")
        ]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [
            v or "" for k, v in attrs if k in ("src", "href", "xlink:href") and (v or "").startswith("http")
        ]


def test_the_page_is_whole_and_needs_nothing_else(report: Report) -> None:
    tags = _Tags()
    tags.feed(page(report))
    assert tags.open == []
    assert tags.outside == []
    assert tags.links == [f"#{i}" for i in tags.ids]
    assert "<script" not in page(report)


def test_drawings_are_well_formed_and_said_in_words(report: Report) -> None:
    figures = [f for s in report.sections for f in s.figures]
    assert len(figures) >= 8
    for figure in figures:
        ElementTree.fromstring(figure.svg)
        assert len(figure.alt) > len(figure.title)
    ids = re.findall(r' id="([^"]+)"', "".join(f.svg for f in figures))
    assert len(ids) == len(set(ids)) > 0, "two figures of one page share a name"


def test_tables_as_csv_have_every_number_unrounded(report: Report) -> None:
    files = csv_files(report)
    lines = list(csv.DictReader(io.StringIO(files["pass.csv"])))
    line = next(x for x in lines if x["row"] == "lab/big with literal" and x["column"] == "Average")
    assert float(line["value"]) == number(report, "pass/average/lab/big with literal").value
    assert line["number"] == "pass/average/lab/big with literal"
    assert {x["published"] for x in lines} == {"yes", "no", ""}


def test_no_form_has_nan(report: Report) -> None:
    for text in (page(report), markdown(report), *csv_files(report).values()):
        assert not re.search(r"\bnan\b|\binf\b|None", text)


def test_two_episodes_give_an_honest_report() -> None:
    few = [instance(TASKS[0], passed=True, mcr=1.0, values={"pass": 1.0}), instance(TASKS[25])]
    report = make_report(select(few, tasks=TASKS), title="two", resamples=200)
    empty = {s.id for s in report.sections if s.empty}
    assert empty >= {"errors", "executors", "memory", "pairs", "static", "interventions", "capability"}
    found = number(report, "pass/guidance/lab/big with literal")
    assert (found.value, found.k, found.n, found.note) == (0.05, 1, 20, "19 missing")
    # one task says nothing of its spread
    assert number(report, "mcr/guidance/lab/big with literal").low is None
    assert "No failed episode has a label that holds. Of those that failed 1 has no label." in markdown(report)


def test_nothing_at_all_is_a_report_too() -> None:
    gone = msgspec.structs.replace(instance(TASKS[0]), status="damaged")
    report = make_report(select([gone], tasks=TASKS), title="none")
    assert report.warnings == ("No episode counts: below is why each was left out.",)
    assert [s.id for s in report.sections] == ["configuration"]
    assert "it is damaged" in markdown(report)
    _Tags().feed(page(report))


def test_seeds_of_a_task_weigh_as_one() -> None:
    """One of two seeds passed: half a task."""
    both = [instance(TASKS[0], passed=True), instance(TASKS[0], seed=1, episode="x")]
    report = make_report(select(both, tasks=TASKS), title="seeds", resamples=200)
    assert number(report, "pass/guidance/lab/big with literal").value == 0.5 / 20


def cells(report: Report) -> list[Number]:
    return [c for s in report.sections for t in s.tables for r in t.rows for c in r if isinstance(c, Number)]


@pytest.mark.parametrize(
    "chosen",
    [TASKS[:1], TASKS[:4], [TASKS[k] for k in (0, 20, 40, 60, 80, 100)]],
    ids=["one task", "four tasks", "a task of each family"],
)
def test_too_few_tasks_to_draw_from_have_no_interval(chosen: list[TaskFacts]) -> None:
    """A resample of them is always the same."""
    few = [
        instance(
            t,
            assistant=a,
            passed=a == "x",
            first_error="" if a == "x" else "R1",
            values={"pass": 0.0, "action_cost": 1.0 + n},
            details={"action_cost": {"actions": 2, "oracle_actions": 1, "without_refused": 2.0}},
        )
        for n, t in enumerate(chosen)
        for a in ("x", "y")
    ]
    report = make_report(select(few, tasks=TASKS), title="few", resamples=200)
    drawn = [c for c in cells(report) if c.id and not c.id.startswith(("pass/", "capability/", "horizon/"))]
    assert [c.id for c in drawn if c.low is not None] == []
    assert any(c.note.endswith("only") for c in drawn)


def test_several_seeds_of_a_task_are_not_independent() -> None:
    """Wilson's interval would take them for it."""
    seeds = [
        instance(t, seed=n, episode=f"{t.id}-{n}", points=(("C3", "clean_pass" if k % 2 else "fail"),))
        for k, t in enumerate(TASKS[:10])
        for n in (0, 1)
    ]
    twice = make_report(select(seeds, tasks=TASKS), title="twice", resamples=500)
    once = make_report(select(seeds[::2], tasks=TASKS), title="once", resamples=500)
    name = "capability/C3/lab/big with literal"
    two, one = number(twice, name), number(once, name)
    assert (two.k, two.n, two.value) == (10, 20, 0.5)
    assert one.low is not None
    assert two.low is not None
    # the same tasks say as much, however often each was played
    assert abs(two.low - one.low) < 0.08


def test_humans_are_compared_on_a_seed_that_both_have() -> None:
    played = [
        instance(TASKS[0], human="h1", seed=0, episode="a", passed=False),
        instance(TASKS[0], human="h1", seed=1, episode="b", passed=True),
        instance(TASKS[0], human="h2", seed=1, episode="c", passed=True),
    ]
    report = make_report(select(played, tasks=TASKS), title="seeds", resamples=200)
    found = number(report, "agreement/lab/big")
    assert (found.value, set(found.episodes)) == (1.0, {"b", "c"})


def test_arms_of_one_setup_are_compared_with_separate() -> None:
    def played(assistant: str, turns: str, *, passed: bool) -> list[Instance]:
        return [
            instance(
                t, assistant=assistant, passed=passed, setup={"limits": turns}, episode=f"{t.id}{assistant}{turns}"
            )
            for t in TASKS[:6]
        ]

    mixed = [
        *played("m", "5 turns", passed=False),
        *played("m", "9 turns", passed=False),
        *played("m+memory", "9 turns", passed=True),
    ]
    report = make_report(select(mixed, tasks=TASKS, separate=True), title="apart", resamples=200)
    (row,) = [r for s in report.sections for t in s.tables if t.id == "memory" for r in t.rows]
    assert row[0] == "m with literal (setup 2)"
    pairs = [r for s in report.sections for t in s.tables if t.id == "pairs" for r in t.rows]
    assert len(pairs) == 1


NASTY = "a/b$x$|<script>`\\ \n_\u2603" + 60 * "z"


@pytest.mark.parametrize("name", [NASTY, "../../etc", "_hidden", "$\\foo$", 300 * "n"])
def test_any_name_can_be_reported_and_written(name: str, tmp_path: Path) -> None:
    played = [
        instance(t, assistant=name, human=h, passed=n % 2 == 0, episode=f"{t.id}{h}", first_error="R1" if n % 2 else "")
        for n, t in enumerate(TASKS)
        for h in ("h1", "h2")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = make_report(select(played, tasks=TASKS), title="names", resamples=200)
    write_files(tmp_path / "out", report, root_hashes={})
    tables = sorted(p.name for p in (tmp_path / "out" / "tables").iterdir())
    assert len(tables) == len(csv_files(report)) == sum(len(s.tables) for s in report.sections)
    assert read_numbers(tmp_path / "out").numbers == report.numbers()
    _Tags().feed((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "<script>" not in text
    table = text.split("### Pass by family\n\n")[1].split("\n\n")[0].splitlines()
    bars = [re.sub(r"\\\\|\\\|", "", line).count("|") for line in table]
    assert len(set(bars)) == 1, table[:3]


def test_thirty_arms_are_still_drawn() -> None:
    many = [
        instance(t, assistant=f"openai/gpt-{n}-2026-04-01", human=h, passed=n % 2 == 0, episode=f"{t.id}{n}{h}")
        for t in TASKS[::6]
        for n in range(15)
        for h in ("google/gemini-3.1-pro", "literal")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = make_report(select(many, tasks=TASKS), title="many", resamples=200)
    drawn = next(f for s in report.sections for f in s.figures if f.id == "horizon")
    assert "each thin line is one of 30" in drawn.title


def test_labels_that_do_not_agree_are_told() -> None:
    failed = [
        instance(TASKS[0], disputed=True),
        instance(TASKS[1]),
        instance(TASKS[2], invalid="task_defect"),
    ]
    report = make_report(select(failed, tasks=TASKS), title="labels", resamples=200)
    (said,) = [s.empty for s in report.sections if s.id == "errors"]
    assert "1 has labels that do not agree, 1 has no label, 1 was found invalid" in said
