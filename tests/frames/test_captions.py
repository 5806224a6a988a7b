"""Captions: three voices on simulated time, shown long enough to be read, nothing lost."""

from __future__ import annotations

import re

import numpy as np

from iwreplay.events import Event, HumanTurn, Utterance
from iwreplay.frames.captions import Caption, captions_of, srt_of
from iwreplay.frames.pages import text_width, wrapped
from iwreplay.frames.sheet import CaptionStrip
from tests.frames.film import WORDS, film


def numbered(events: list[Event]) -> list[tuple[int, Event]]:
    return list(enumerate(events))


CAPTIONS = captions_of(numbered(list(film(frames=9, drawn=False))))


def test_who_says_what_and_what_is_refused() -> None:
    first = {c.voice: c.text for c in CAPTIONS if c.start_s == 0.0}
    assert first["assistant"] == f"Assistant: {WORDS}"
    assert first["human"].startswith("Wearer: ")
    assert first["human"].endswith("\nHuman: Yes.")
    assert first["command"] == "> [Grab] blue mug  refused: The blue mug is too far away."


def test_words_stay_to_be_read_or_until_the_same_voice_speaks_again() -> None:
    (words,) = (c for c in CAPTIONS if c.voice == "assistant")
    assert words.end_s >= 2.0 + 0.05 * len(WORDS)
    commands = [c for c in CAPTIONS if c.voice == "command"]
    assert [c.start_s for c in commands] == [0.0, 1.5, 3.0]
    assert [c.end_s for c in commands[:2]] == [1.5, 3.0]


def test_what_one_voice_says_at_one_instant_is_all_shown() -> None:
    at = {"sim_time_s": 2.0, "turn": 1, "phase": "closed_loop"}
    events: list[Event] = [
        Utterance(speaker="caller", text="Hello?", **at),  # type: ignore[arg-type]
        HumanTurn(commands=(), reply="Just a moment.", **at),  # type: ignore[arg-type]
        Utterance(speaker="caller", text="All right.", **at),  # type: ignore[arg-type]
    ]
    (one,) = captions_of(numbered(events))
    assert one.text == "Caller: Hello?\nHuman: Just a moment.\nCaller: All right."


def test_subtitles_are_whole_and_in_order() -> None:
    srt = srt_of(CAPTIONS, from_s=0.0, until_s=5.0)
    times = re.findall(r"(\d\d:\d\d:\d\d,\d{3}) --> (\d\d:\d\d:\d\d,\d{3})", srt)
    assert times[0][0] == "00:00:00,000"
    assert all(a < b for a, b in times)
    assert [b for _, b in times][:-1] <= [a for a, _ in times][1:]
    assert WORDS in srt
    later = srt_of(CAPTIONS, from_s=1.5, until_s=5.0)
    assert later.startswith("1\n00:00:00,000 --> ")
    assert srt_of((), from_s=0.0, until_s=5.0) == ""


def test_long_words_come_piece_by_piece_and_every_one_is_shown() -> None:
    text = " ".join(f"word{i}" for i in range(120))
    strip = CaptionStrip([Caption("assistant", text, 0.0, 40.0)], width=320, height=240)
    seen = [w for k in range(400) for line in strip.at(k * 0.1)[:3] for w in line.split()]
    assert list(dict.fromkeys(seen)) == text.split()


def test_a_strip_has_even_sides_and_its_words_below_the_picture() -> None:
    strip = CaptionStrip([Caption("human", "Human: Yes.", 0.0, 9.0)], width=321, height=201)
    rgb = np.full((201, 321, 3), 200, np.uint8)
    made = strip.composed(rgb, heading="0.0 s", lines=strip.at(1.0))
    assert made.shape == (strip.height, strip.width, 3)
    assert (strip.width % 2, strip.height % 2) == (0, 0)
    assert (made[:201, :321] == 200).all()
    assert (made[201:] > 180).any(), "letters"
    silent = strip.composed(rgb, heading="0.0 s", lines=strip.at(10.0))
    assert (made != silent).any()


def test_lines_are_no_longer_than_they_may_be() -> None:
    for width in (20, 90, 300):
        lines = wrapped("Pneumonoultramicroscopicsilicovolcanoconiosis is a word", px=16, width=width)
        assert all(text_width(line, px=16) <= width for line in lines)
        assert "".join(lines).replace(" ", "") == "Pneumonoultramicroscopicsilicovolcanoconiosisisaword"
    assert wrapped("x", px=16, width=1) == ("x",)
