"""Oracle, silent and scripted Assistants."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.ports import AssistantAct, AssistantView
from iwreplay.taskpack.model import OracleStep
from recorder.assistants import LinesError, OracleAssistant, ScriptedAssistant, SilentAssistant, load_lines, parse_lines


def view(turn: int, *, memory: str | None = None) -> AssistantView:
    return AssistantView(turn=turn, request="Help me.", dialogue=(), frames=(), memory=memory)


def test_oracle_says_its_steps_then_is_done() -> None:
    oracle = OracleAssistant((OracleStep(say=" Walk to the sink. "), OracleStep(), OracleStep(say="Stop.")))
    acts = [oracle.decide(view(t)) for t in range(1, 6)]
    assert [(a.decision, a.text) for a in acts] == [
        ("interrupt", "Walk to the sink."), ("silent", None), ("interrupt", "Stop."), ("done", None), ("done", None),
    ]  # fmt: skip
    assert OracleAssistant((), name="near-miss").about().name == "near-miss"


def test_silent_never_says_done() -> None:
    assert {SilentAssistant().decide(view(t)).decision for t in (1, 2, 500)} == {"silent"}


def test_text_lines() -> None:
    acts = parse_lines("# a comment\n\nWalk to the sink.\nsilent\n  Done: Well done. \n")
    assert [(a.decision, a.text) for a in acts] == [
        ("interrupt", "Walk to the sink."), ("silent", None), ("done", "Well done."),
    ]  # fmt: skip


def test_toml_and_json_agree(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        '[[decision]]\ndecision = "interrupt"\ntext = "Stop."\nmemory = "m"\n[[decision]]\ndecision = "done"\n'
    )
    (tmp_path / "a.json").write_text('[{"decision": "interrupt", "text": "Stop.", "memory": "m"}, "done"]')
    assert load_lines(tmp_path / "a.toml") == load_lines(tmp_path / "a.json")
    assert load_lines(tmp_path / "a.toml")[0] == AssistantAct(decision="interrupt", text="Stop.", memory="m")


@pytest.mark.parametrize(
    ("form", "text", "place", "part"),
    [
        ("txt", "done\nWalk.", "line 1", "nothing can follow"),
        ("txt", "# only a comment", "file", "no decision"),
        ("json", "{", "file", "is no JSON"),
        ("json", '{"a": 1}', "file", "a list of decisions"),
        ("json", '[{"decision": "shout"}]', "decision 1", "none of silent"),
        ("json", '["silent", {"decision": "interrupt"}]', "decision 2", "must carry text"),
        ("json", '[{"decision": "silent", "text": "psst"}]', "decision 1", "must not carry text"),
        ("json", '[{"text": "a"}]', "decision 1", "`decision` is missing"),
        ("json", '[{"decision": "done", "txt": "a"}]', "decision 1", "unknown key 'txt'"),
        ("json", '[{"decision": 3}]', "decision 1", "must be text"),
        ("json", "[3]", "decision 1", "a table or a string"),
        ("toml", "= 3", "file", "is no TOML"),
        ("toml", "decisions = 3", "key decisions", "only [[decision]]"),
    ],
)
def test_bad_lines_are_named(form: str, text: str, place: str, part: str) -> None:
    with pytest.raises(LinesError) as caught:
        parse_lines(text, form=form, name="mine")
    assert caught.value.place == place
    assert part in str(caught.value)
    assert str(caught.value).startswith("mine, ")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LinesError, match=r"no\.txt"):
        load_lines(tmp_path / "no.txt")


def test_scripted_keeps_memory_and_ends_with_done() -> None:
    scripted = ScriptedAssistant(parse_lines('[{"decision": "silent", "memory": "cups: 3"}, "silent"]', form="json"))
    assert scripted.decide(view(1)).memory == "cups: 3"
    assert scripted.decide(view(2, memory="cups: 3")).memory == "cups: 3"
    assert scripted.decide(view(3)).decision == "done"
    other = ScriptedAssistant(parse_lines("silent"))
    assert scripted.about().params != other.about().params


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LinesError, match=r"can't be read \(No such file or directory\); name a file of decisions"):
        load_lines(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("[" * 100_000, "json", "is nested too deep"),
        ("decision = " + "[" * 100_000, "toml", "is nested too deep"),
        ("[" + "9" * 5000 + "]", "json", "is no JSON"),
    ],
)
def test_what_a_parser_chokes_on_is_refused_like_any_nonsense(text: str, form: str, said: str) -> None:
    with pytest.raises(LinesError, match=said):
        parse_lines(text, form=form)


@pytest.mark.parametrize(
    "text", ['[{"decision": "silent"}]', '{"decision": "done"}', '[[decision]]\ndecision = "done"']
)
def test_tables_in_a_text_file_are_not_spoken(text: str) -> None:
    with pytest.raises(LinesError, match="name the file"):
        parse_lines(text, form="txt", name="help.txt")
