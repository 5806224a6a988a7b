"""The prompts of a generation: files, whose hashes are in its log."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from string import Template

import msgspec

from iwreplay.canonical import sha256_hex
from iwreplay.vocabulary import CAPABILITIES, Family

__all__ = ["FAMILY_RULES", "PROMPT_NAMES", "Prompts", "load_prompts"]

PROMPT_NAMES: tuple[str, ...] = (
    "again",
    "author",
    "checks",
    "pack",
    "proposal",
    "review_feasible",
    "review_need",
    "reviewer",
    "revise",
    "target",
)

#: what a task of the family is, and what its Human may not do
FAMILY_RULES: dict[Family, str] = {
    "guidance": "the Assistant leads step by step through a procedure by rules, labels and notes of the scene, which "
    "the Human does not read or apply for itself.",
    "planning": "the Assistant orders many steps under constraints and plans anew when something changes; the Human "
    "never orders steps.",
    "accessibility": "the Human does not see at all: it knows touch, posture and what is said. The Assistant says "
    "where things are in words that a blind person can use.",
    "decision": "the Assistant compares, computes and chooses among alternatives by facts of the scene; the Human "
    "neither computes nor chooses.",
    "prevention": "the Human is about to make a mistake by an intent of its own, and goes on until it is interrupted; "
    "the Assistant speaks up unasked, at the right moment, and only then.",
    "finding": "something was seen earlier, has moved or is out of sight, and the Assistant remembers where; the Human "
    "infers no remembered place.",
}


class Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """Texts with places for what changes ("$scene")."""

    texts: dict[str, str]

    def hashes(self) -> dict[str, str]:
        """Name -> SHA-256 of its text."""
        return {name: sha256_hex(text.encode()) for name, text in self.texts.items()}

    def fill(self, name: str, values: Mapping[str, str]) -> str:
        """The prompt with its places filled. KeyError for a place without a value: a fault of the program."""
        return Template(self.texts[name]).substitute(values)

    def system(self, role: str, *, family: Family, capability: str) -> str:
        """What author or reviewer is told before everything else."""
        return self.fill(
            role,
            {
                "family": family,
                "family_rule": FAMILY_RULES[family],
                "capability": capability,
                "capability_name": CAPABILITIES[capability],
            },
        )


def load_prompts() -> Prompts:
    """The prompts that come with the program."""
    folder = files("iwreplay.generation") / "prompts"
    return Prompts(texts={name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in PROMPT_NAMES})
