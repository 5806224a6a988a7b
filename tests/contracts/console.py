"""The contract of `recorder.console.Console`: subclass `ConsoleContract` and give it `make`."""

from __future__ import annotations

import numpy as np
import pytest

from recorder.console import Console, no_completion

__all__ = ["ConsoleContract"]


class ConsoleContract:
    """What a person's participants rely on, whatever the console is made of."""

    def make(self, *lines: str) -> Console:
        """A fresh console, whose person types these lines and then leaves."""
        raise AssertionError("a subclass makes the console")

    def test_says_how_it_is_used_and_stays_with_it(self) -> None:
        console = self.make("hello")
        facts = console.facts()
        assert facts
        assert all(isinstance(k, str) and isinstance(v, str) for k, v in facts.items())
        console.ask("> ", complete=no_completion)
        assert console.facts() == facts

    def test_lines_come_as_they_are_typed_and_then_the_person_leaves(self) -> None:
        typed = ("[Walk] table", "", "  say: Grüße  ")
        console = self.make(*typed)
        assert tuple(console.ask("> ", complete=no_completion) for _ in typed) == typed
        with pytest.raises(KeyboardInterrupt):
            console.ask("> ", complete=no_completion)

    def test_pictures_are_kept_under_their_names_and_left_as_they_are(self) -> None:
        console = self.make()
        rgb = np.arange(12 * 16 * 3, dtype=np.uint8).reshape(12, 16, 3)
        before = rgb.copy()
        places = [console.keep(rgb, name=name) for name in ("f000001", "turn-001")]
        assert ["f000001" in places[0], "turn-001" in places[1]] == [True, True]
        console.show(rgb)
        assert np.array_equal(rgb, before)

    def test_any_text_is_told(self) -> None:
        self.make().tell("One line.\n\nAnother, \x1b[31mthat steers\x07, and one\udcff that is no text.")
