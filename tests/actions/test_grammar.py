"""Commands and turns by the grammar."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwreplay.actions.grammar import MAX_COMMANDS, parse_command, parse_turn
from iwreplay.actions.refusal import RefusedError
from iwreplay.actions.table import PRIMITIVES
from iwreplay.errors import ParticipantError


def _code(text: str) -> str:
    with pytest.raises(RefusedError) as no:
        parse_command(text)
    return no.value.refusal.code


def test_the_verb_is_case_insensitive_and_the_entity_is_words() -> None:
    command = parse_command("  [wALK]  the Blue   bowl on the counter ")
    assert (command.verb, command.primitive.canonical) == ("Walk", "navigate_to")
    assert command.entities == {"target": ("the", "blue", "bowl", "on", "the", "counter")}


def test_positions_decide_what_is_a_number() -> None:
    command = parse_command("[Face] shelf 3, 12.5")
    assert command.entities == {"target": ("shelf", "3")}
    assert command.numbers == {"angle error": 12.5}
    assert parse_command("[Forward] -0.5").numbers == {"distance": -0.5}
    assert parse_command("[Cook] schnitzel, 30").numbers == {"duration": 30.0}


@pytest.mark.parametrize("row", PRIMITIVES, ids=lambda r: r.canonical)
def test_every_verb_parses_with_its_fewest_and_most_arguments(row) -> None:  # type: ignore[no-untyped-def]
    for verb in row.verbs:
        for count in {row.least(), 0 if verb in row.without_number else len(row.args)}:
            args = ["30" if a.is_number else "a mug" for a in row.args[:count]]
            args = ["0.5" if a.kind in ("distance", "shift") else text for a, text in zip(row.args, args, strict=False)]
            command = parse_command(f"[{verb}] {', '.join(args)}")
            assert command.primitive is row
        too_many = ", ".join(["1"] * (len(row.args) + 1))
        assert _code(f"[{verb}] {too_many}") == "ARITY"
        if row.least():
            assert _code(f"[{verb}]") == "ARITY"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Walk table", "PARSE"),
        ("", "PARSE"),
        ("[Walk", "PARSE"),
        ("[Walk 2] table", "PARSE"),
        ("[Walk] table, ", "ARITY"),
        ("[PutOn] mug,", "PARSE"),
        ("[Walk] table!", "PARSE"),
        ("[Walk] a b c d e f g h i", "PARSE"),
        ("[Walk] " + "x" * 500, "PARSE"),
        ("[NoOp]", "PARSE"),
        ("[Dance] table", "UNKNOWN_VERB"),
        ("[Eat] apple", "UNKNOWN_VERB"),
        ("[Walk]", "ARITY"),
        ("[StandUp] chair", "ARITY"),
        ("[Grab] mug, table", "ARITY"),
        ("[TurnAround] 90", "BAD_NUMBER"),
        ("[TurnLeft] ninety", "BAD_NUMBER"),
        ("[TurnLeft] 0", "BAD_NUMBER"),
        ("[TurnLeft] -30", "BAD_NUMBER"),
        ("[TurnLeft] 400", "BAD_NUMBER"),
        ("[TurnLeft] nan", "BAD_NUMBER"),
        ("[TurnLeft] inf", "BAD_NUMBER"),
        ("[TurnLeft] 1e2", "BAD_NUMBER"),
        ("[TurnLeft] 9999999999999999", "BAD_NUMBER"),
        ("[Forward] 0", "BAD_NUMBER"),
        ("[Forward] 0.01", "BAD_NUMBER"),
        ("[Forward] 11", "BAD_NUMBER"),
        ("[Wait] 0", "BAD_NUMBER"),
        ("[Wait] 5 minutes", "BAD_NUMBER"),
        ("[Face] table, 200", "BAD_NUMBER"),
        ("[Push] mug, 3", "BAD_NUMBER"),
        ("[Scan] 5", "BAD_NUMBER"),
        ("[Grab] bowl_0", "FORBIDDEN_REF"),
        ("[Grab] #12", "FORBIDDEN_REF"),
        ("[Grab] /World/Kitchen/bowl", "FORBIDDEN_REF"),
        ("[PutOn] mug, counter_1", "FORBIDDEN_REF"),
    ],
)
def test_what_is_refused(text: str, code: str) -> None:
    assert _code(text) == code


def test_a_refusal_knows_the_verb_when_the_verb_is_known() -> None:
    with pytest.raises(RefusedError) as no:
        parse_command("[grab] bowl_0")
    assert (no.value.verb, no.value.primitive) == ("grab", "grab")


@given(st.text(max_size=60))
def test_any_text_parses_or_is_refused(text: str) -> None:
    code, numbers = "", []
    try:
        numbers = list(parse_command(text).numbers.values())
    except RefusedError as no:
        code = no.refusal.code
    assert code in ("", "PARSE", "UNKNOWN_VERB", "ARITY", "BAD_NUMBER", "FORBIDDEN_REF")
    assert all(math.isfinite(n) for n in numbers)


def test_a_turn_is_lines_and_a_reply() -> None:
    turn = parse_turn("[Walk] table\n\n  [Grab] mug \nsay: done,\nwhat next?")
    assert turn.commands == ("[Walk] table", "[Grab] mug")
    assert turn.reply == "done,\nwhat next?"
    assert parse_turn("[noop]\nsay:").commands == ()
    assert parse_turn("[NoOp]").reply is None
    assert parse_turn("  ").commands == ()


@pytest.mark.parametrize(
    "text", ["[NoOp]\n[Walk] table", "\n".join(["[Wait]"] * (MAX_COMMANDS + 1)), "say: " + "x" * 5000]
)
def test_a_turn_outside_the_protocol_is_an_error(text: str) -> None:
    with pytest.raises(ParticipantError):
        parse_turn(text)
