"""The JSON object in what a model said."""

from __future__ import annotations

import pytest

from iwreplay.ports import AssistantAct, HumanAct
from recorder.assistants.hosted import read_decision
from recorder.humans.hosted import read_turn
from recorder.models.objects import MalformedError, find_object

SAID = AssistantAct(decision="interrupt", text="Take the red mug.")


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "interrupt", "text": "Take the red mug."}',
        '```json\n{"decision": "interrupt", "text": "Take the red mug."}\n```',
        '```\n{"Decision": " Interrupt ", "TEXT": " Take the red mug. "}\n```\nThat is what I say.',
        'I see {a mug} and {"another": 1}. So: {"decision": "interrupt", "text": "Take the red mug."} Good?',
        '{"decision": "interrupt", "text": "Take the red mug.", "reasoning": {"decision": "none of yours"}}',
        'Draft {"decision": "interrupt", "text": "Take the red mug."} and again '
        '{"text": "Take the red mug.", "decision": "interrupt"}',
        '\ufeff{"decision": "interrupt", "text": "Take the red mug.", "memory": null}',
    ],
)
def test_what_is_around_a_decision_does_not_matter(text: str) -> None:
    assert read_decision(text, memory=False) == SAID


def test_a_line_break_in_a_text_is_taken_as_it_is() -> None:
    assert read_decision('{"decision": "done", "text": "So.\nThat is all."}', memory=False).text == "So.\nThat is all."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("I would be silent.", "no JSON object with 'decision'.*'I would be silent.'"),
        ('{"decision": "interrupt", "text": "Take', "no JSON object"),
        ('{"decision": "speak"}', 'one of silent, interrupt, done, not "speak"'),
        ('{"decision": ["silent"]}', "one of silent"),
        ('{"decision": "interrupt", "text": null}', "text is empty"),
        ('{"decision": "interrupt", "text": 7}', "text is a text or null, not 7"),
        ('{"decision": "silent", "text": "Hm."}', "to say it, interrupt"),
        ('{"decision": "silent"} {"decision": "done"}', "2 different JSON objects"),
        ('[{"decision": 1}' * 3, "no JSON|different|one of"),
        ("{" * 100_000, "no JSON object"),
        ("x" * 200_001, "200001 characters"),
    ],
)
def test_what_is_no_decision_is_told(text: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        read_decision(text, memory=False)


def test_a_notebook_is_read_in_the_memory_arm_only() -> None:
    text = '{"decision": "silent", "text": "", "memory": "Key: left drawer."}'
    assert read_decision(text, memory=True) == AssistantAct(decision="silent", memory="Key: left drawer.")
    assert read_decision(text, memory=False) == AssistantAct(decision="silent")


@pytest.mark.parametrize(
    "text",
    [
        '{"commands": ["[Walk] table", "[Grab] red mug"], "reply": "On my way."}',
        '{"commands": "[Walk] table\\n[Grab] red mug\\n", "reply": "On my way."}',
        "[Walk] table\n[Grab] red mug\nsay: On my way.",
    ],
)
def test_a_turn_is_read_as_json_or_as_the_action_language_writes_it(text: str) -> None:
    assert read_turn(text) == HumanAct(commands=("[Walk] table", "[Grab] red mug"), reply="On my way.")


@pytest.mark.parametrize("text", ['{"commands": []}', '{"commands": ["[NoOp]"], "reply": ""}', "[NoOp]"])
def test_nothing_to_do_is_a_turn(text: str) -> None:
    assert read_turn(text) == HumanAct()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"commands": 3}', "list of texts"),
        ('{"commands": ["[Walk] table", 3]}', "list of texts"),
        ('{"commands": ["[NoOp]", "[Walk] table"]}', "stands alone"),
        ('{"commands": ["[Walk]\\ntable"]}', "line break"),
        ('{"commands": [' + ", ".join(['"[Wait]"'] * 33) + "]}", "33 commands"),
        ('{"commands": [], "reply": ["Hello"]}', "reply is a text"),
        ('{"reply": "Which mug?"}', "no JSON object with 'commands'"),
        ("[NoOp]\n[Walk] table", "stands alone"),
    ],
)
def test_what_is_no_turn_is_told(text: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        read_turn(text)


def test_the_outermost_object_is_meant() -> None:
    assert find_object('{"x": {"decision": 1}, "decision": 2}', having="decision")["decision"] == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('```json\n{"decision": "silent"}\n```\nOr rather: {"decision": "done"}', "2 different JSON objects"),
        ('{"decision": "silent", "decision": "done"}', "no JSON object"),
        ('{"decision": "interrupt", "text": "' + "x" * 20_001 + '"}', "20001 characters"),
        ('{"decision": "interrupt", "text": "\\ud800"}', "lone surrogate"),
        ('{"decision": "\\ud800"}', "one of silent"),
    ],
)
def test_what_would_have_to_be_guessed_or_can_not_be_stored_is_no_decision(text: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        read_decision(text, memory=False)
