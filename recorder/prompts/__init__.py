"""What hosted models are told: files, whose text and hash are in every log of an episode that they took part in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template

import msgspec

from iwreplay.canonical import sha256_hex

__all__ = ["PROMPT_NAMES", "PROMPT_VERSION", "Prompt", "load_prompt"]

#: raised with any change of a prompt, or of how the parts of a turn are put together
PROMPT_VERSION = "1"
PROMPT_NAMES = ("assistant", "assistant_memory", "human", "repair")


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A text with places for what changes ("$role")."""

    name: str
    text: str

    def fill(self, values: Mapping[str, str]) -> str:
        """The prompt with its places filled. KeyError for a place without a value: a fault of the program."""
        return Template(self.text).substitute(values)

    def filled(self, values: Mapping[str, str]) -> Prompt:
        """The prompt with some of its places filled."""
        return msgspec.structs.replace(self, text=Template(self.text).safe_substitute(values))

    def facts(self) -> dict[str, str]:
        """For a participant's parameters: which version, its text, and the hash of that."""
        return {
            "prompt": f"{self.name}/{PROMPT_VERSION}",
            "prompt_sha256": sha256_hex(self.text.encode()),
            "prompt_text": self.text,
            # what a malformed answer is answered with
            "repair_prompt_sha256": sha256_hex(load_prompt("repair").text.encode()),
        }


@cache
def load_prompt(name: str) -> Prompt:
    """A prompt that comes with the program, by its name."""
    text = (files("recorder.prompts") / f"{name}.md").read_text(encoding="utf-8")
    return Prompt(name=name, text=text)
