"""The scan of everything that is about to be shown to a participant (rule 14).

Pure: no event, no clock. A hit is a hard error before the view is handed over.

What is looked for: internal identifiers of the scene; ids, descriptions and formulas of checks; oracle sentences
and oracle commands that nobody has said or issued yet. Identifiers that are ordinary public words ("kitchen" as the
id of a room) can't be told from speech and are no secret, so they are left out; so are check ids without a digit or
underscore and sentences of fewer than four words ("Well done.").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from iwreplay.loop.answers import AnswerError
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import Formula, Gate, Objective, Point, TaskPack

__all__ = ["Leak", "LeakScanner", "find_leaks", "leak_guard", "leaks_in_words"]

LeakKind = Literal["identifier", "check_id", "check_text", "formula", "oracle_sentence", "oracle_command"]

#: shortest sentence, in words, that is recognised as somebody's words
_MIN_WORDS = 4
#: leaks that an error names, and characters that it shows of where they are
_MOST_NAMED, _SHOWN = 5, 200
_WORD = re.compile(r"[a-z0-9']+")
_STAGE_PATH = re.compile(r"/World\b[\w/]*")
_FORMULA_HEAD = re.compile(
    r"\[\"(?:attr|rel|held|baseline|event|and|or|not|implies|all|exists|class|where|in|set|minus|count|bag|assign|once"
    r"|hist|prev|since|at_last|ever|always|until|gate|never_moved|bind|sum|clock|route_length)\","
)


class Leak(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a participant must not see."""

    kind: LeakKind
    #: what was found: the identifier, or the words
    found: str


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _is_coded(name: str) -> bool:
    """An identifier that nobody would say: it has an underscore, or digits next to letters."""
    return "_" in name or (any(c.isdigit() for c in name) and sum(c.isalpha() for c in name) >= 3)


def _identifiers(scene: CompiledScene) -> set[str]:
    public: set[str] = set()
    for thing in scene.things:
        for phrase in (thing.name, *thing.nouns, *thing.touch_nouns, *thing.adjectives):
            public.update({phrase.casefold(), *phrase.casefold().split()})
    for room in scene.rooms:
        for phrase in room.nouns:
            public.update({phrase.casefold(), *phrase.casefold().split()})
    ids = [t.id for t in scene.things] + [r.id for r in scene.rooms]
    return {i for i in ids if _is_coded(i) and i.casefold() not in public}


def _subformulas(formula: Formula) -> Iterable[str]:
    """Compact JSON of a formula and of each part of it that says something by itself."""
    if len(formula) >= 3:
        yield msgspec.json.encode(formula).decode()
    for part in formula:
        if isinstance(part, list):
            yield from _subformulas(part)


class LeakScanner:
    """The scan, prepared once for a task in its scene."""

    def __init__(self, task: TaskPack, scene: CompiledScene) -> None:
        ids = _identifiers(scene)
        checks: tuple[Objective | Gate | Point, ...] = (*task.objectives, *task.gates, *task.keeps, *task.points)
        coded = {c.id for c in checks if _is_coded(c.id)} | {s.id for s in task.script if _is_coded(s.id)}
        coded -= ids
        self._coded: tuple[tuple[re.Pattern[str], LeakKind], ...] = (
            (_alternatives(ids), "identifier"),
            (_STAGE_PATH, "identifier"),
            (_alternatives(coded), "check_id"),
        )
        sentences = [s for step in task.oracle for s in re.split(r"(?<=[.!?])\s+", step.say)]
        candidates: list[tuple[LeakKind, str]] = [("check_text", c.text) for c in checks]
        candidates += [("oracle_sentence", s) for s in sentences]
        #: (kind, words, as written) of everything that is recognised by its words
        self._secrets = [(kind, w, text) for kind, text in candidates if len((w := _words(text)).split()) >= _MIN_WORDS]
        self._formulas = sorted({_compact(f) for c in checks for f in _subformulas(c.formula)})
        commands = [c for step in task.oracle for c in step.do if len(c.split()) > 1]
        self._commands = {_compact(c): c for c in commands}

    def scan(self, text: str, *, spoken: str = "", replies: str = "", made_up: str = "") -> tuple[Leak, ...]:
        """Leaks in one string; see `find_leaks`."""
        leaks: list[Leak] = []
        for pattern, kind in self._coded:
            hits = [match.group() for match in pattern.finditer(text)]
            own = set(pattern.findall(made_up)) if hits else set()
            leaks += [Leak(kind=kind, found=hit) for hit in hits if hit not in own]
        words = f" {_words(text)} "
        secrets = [(kind, w, original) for kind, w, original in self._secrets if f" {w} " in words]
        if secrets:
            said = f" {_words(spoken)} {_words(replies)} "
            leaks += [Leak(kind=kind, found=original) for kind, w, original in secrets if f" {w} " not in said]
        if "[" in text:
            leaks += self._scan_brackets(_compact(text), _compact(spoken))
        return tuple(leaks)

    def _scan_brackets(self, compact: str, said: str) -> list[Leak]:
        quoted = compact.replace("'", '"')
        found = next((f for f in self._formulas if f in quoted), None)
        if found is None and (head := _FORMULA_HEAD.search(quoted)):
            found = head.group()
        leaks = [] if found is None else [Leak(kind="formula", found=found)]
        commands = [original for wanted, original in self._commands.items() if wanted in compact and wanted not in said]
        return leaks + [Leak(kind="oracle_command", found=original) for original in commands]


def _compact(text: str) -> str:
    return re.sub(r"\s+", "", text.casefold())


def _alternatives(names: set[str]) -> re.Pattern[str]:
    """Whole-word, case-sensitive match of any of the names; never matches when there is none."""
    if not names:
        return re.compile(r"(?!)")
    longest_first = sorted(names, key=lambda n: (-len(n), n))
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])")


def leak_guard(task: TaskPack, scene: CompiledScene) -> Callable[..., None]:
    """What refuses a text that is about to be sent somewhere: guard(text, spoken=...) raises AnswerError("LEAK") that
    names what it holds; `spoken` as of `find_leaks`."""
    scanner = LeakScanner(task, scene)

    def guard(text: str, *, spoken: str) -> None:
        # a name that a model made up by itself may be that of something hidden
        leaks = scanner.scan(text, spoken=spoken, made_up=spoken)
        if leaks:
            raise AnswerError("LEAK", leaks_in_words(leaks, text))

    return guard


def leaks_in_words(leaks: Sequence[Leak], text: str) -> str:
    """What was found, and in what."""
    what = ", ".join(f"{leak.kind} {leak.found!r}" for leak in leaks[:_MOST_NAMED])
    return f"{what} in {text[:_SHOWN]!r}"


def find_leaks(
    text: str, *, task: TaskPack, scene: CompiledScene, spoken: str = "", replies: str = ""
) -> tuple[Leak, ...]:
    """Everything in `text` that must not reach an Assistant.

    `spoken`: what the Assistant has said and the commands that were issued so far, joined by newlines; a sentence or
    command among them is no secret any more. `replies`: what the Human has said; a sentence among it is none either,
    because who was never shown what is hidden can't give it away.
    """
    return LeakScanner(task, scene).scan(text, spoken=spoken, replies=replies)
