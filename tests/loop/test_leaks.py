"""The scan of what is about to be shown."""

from __future__ import annotations

import pytest

from iwreplay.loop import AnswerError, find_leaks, leak_guard
from iwreplay.taskpack.model import Gate, OracleStep
from tests.loop.fakes import SCENE, TASK, changed

_TASK = changed(
    TASK,
    gates=(Gate(id="knife_first", text="The knife is put down before the phone is taken.",
                formula=["gate", ["event", {"verb": "grab", "obj": "phone_1"}], ["not", ["held", "mug_1"]]]),
           Gate(id="safe", text="Safe.", formula=["true"])),
    oracle=(
        OracleStep(say="Take the blue mug from the table. Well done.", do=("[Grab] blue mug on table", "[StandUp]")),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("Please take mug_1.", "identifier", "mug_1"),
        ("It is on table_1.top!", "identifier", "table_1"),
        ("see /World/Kitchen/mug", "identifier", "/World/Kitchen/mug"),
        ("go to room_1", "identifier", "room_1"),
        ("pass mug_held please", "check_id", "mug_held"),
        ("remember: knife_first", "check_id", "knife_first"),
        ("I think the KNIFE is put down, before the phone is taken.", "check_text",
         "The knife is put down before the phone is taken."),
        ('the goal is ["held", "mug_9"]', "formula", '["held",'),
        ("the goal is ['not', ['held', 'x']]", "formula", '["not",'),
        ("He said: take the blue mug from the table", "oracle_sentence", "Take the blue mug from the table."),
        ("use [Grab]  blue mug on table", "oracle_command", "[Grab] blue mug on table"),
    ],
)  # fmt: skip
def test_leaks_are_found(text: str, kind: str, found: str) -> None:
    leaks = find_leaks(text, task=_TASK, scene=SCENE)
    assert (kind, found) in [(leak.kind, leak.found) for leak in leaks]


def test_formulas_of_the_task_are_found() -> None:
    leaks = find_leaks('["event", {"verb": "grab", "obj": "phone_1"}]', task=_TASK, scene=SCENE)
    assert {leak.kind for leak in leaks} == {"identifier", "formula"}


@pytest.mark.parametrize(
    "text",
    [
        "Please help me with the blue mug on the table in the kitchen.",
        "Well done.",
        "It is safe.",
        "mug_12 is another name",
        "The knife is on the table.",
        "I see [a thing] in brackets.",
        "[StandUp]",
        "",
    ],
)
def test_ordinary_speech_is_no_leak(text: str) -> None:
    assert find_leaks(text, task=_TASK, scene=SCENE) == ()


def test_what_was_spoken_is_no_secret() -> None:
    spoken = "Take the blue mug from the table.\n[Grab] blue mug on table"
    text = 'I did not understand: "take the blue mug from the table" [Grab] blue mug on table'
    assert find_leaks(text, task=_TASK, scene=SCENE, spoken=spoken) == ()
    assert {k.kind for k in find_leaks(text, task=_TASK, scene=SCENE)} == {"oracle_sentence", "oracle_command"}


def test_what_a_human_says_of_its_own_accord_is_no_leak_but_for_names() -> None:
    """It was never shown the checks; it may well say what one of them says."""
    text = TASK.objectives[0].text
    assert len(text.split()) >= 4
    assert find_leaks(text, task=TASK, scene=SCENE)
    assert find_leaks(text, task=TASK, scene=SCENE, replies=f"Look: {text}") == ()
    assert find_leaks("It is mug_1.", task=TASK, scene=SCENE, replies="It is mug_1.")
    assert find_leaks("It is mug_1.", task=TASK, scene=SCENE, spoken="Note: mug_1 is blue.")


def test_a_name_that_a_model_made_up_is_no_leak_to_it() -> None:
    guard = leak_guard(TASK, SCENE)
    guard("Your notebook: mug_1 is blue.", spoken="mug_1 is blue.")
    with pytest.raises(AnswerError, match="identifier 'mug_1'"):
        guard("It is mug_1.", spoken="")
