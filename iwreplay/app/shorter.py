"""Whether a task has a shorter oracle: its own commands, some of them left out or in another order, in the simulator.

Tried are, in this order: each command left out, from the last to the first; each turn left out; two neighbouring
commands left out; a command and its counterpart left out (Grab and PutOn of one thing, Open and Close, SwitchOn and
SwitchOff ...); and two neighbouring turns or commands exchanged where that makes a Walk superfluous. A trial begins at
the turn that differs, in the state that the recorded oracle had there, and ends at the first refusal or broken gate.
What passes is itself made shorter in the same ways, until nothing shorter of it passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

from iwreplay.actions import ActionEngine
from iwreplay.actions.grammar import parse_command
from iwreplay.actions.refusal import RefusedError
from iwreplay.checks import CheckRun
from iwreplay.events import EpisodeConfig, Event, Participant, PrimitiveOutcome
from iwreplay.loop import EpisodeStopped, Frames, Resumption, run_episode
from iwreplay.ports import HumanAct, HumanView, Simulator
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import OracleStep, TaskPack
from iwreplay.world.state import WorldState
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman

__all__ = ["MOST_COMMANDS", "Found", "Marks", "Search", "find_shorter"]

Search = Literal["bounded", "full"]

#: a bounded search stops once its trials have carried out so many commands without a find; what is left out is said
MOST_COMMANDS = 100

Steps = tuple[OracleStep, ...]

#: canonical primitive -> those that undo it for the same thing
_COUNTERPARTS = {
    "grab": ("put_on", "put_inside", "drop", "discard", "wear"),
    "put_on": ("grab",),
    "put_inside": ("grab",),
    "open": ("close",),
    "close": ("open",),
    "switch_on": ("switch_off",),
    "switch_off": ("switch_on",),
    "sit": ("standup",),
    "answer_phone": ("hang_up",),
    "plug": ("plug",),
    "lock": ("lock",),
    "wear": ("wear",),
}


class Marks:
    """The simulator at the beginning of every turn of an episode, kept while it is recorded: give `engine` to the
    recorder."""

    def __init__(self) -> None:
        self.snapshots: dict[int, bytes] = {}

    def engine(self, **parts: object) -> ActionEngine:
        """An engine that keeps a snapshot whenever a turn begins."""
        return _MarkingEngine(self.snapshots, **parts)


class _MarkingEngine(ActionEngine):
    def __init__(self, snapshots: dict[int, bytes], **parts: object) -> None:
        self._snapshots, self._turn = snapshots, 0
        super().__init__(**parts)  # type: ignore[arg-type]

    @property
    def turn(self) -> int:
        return self._turn

    @turn.setter
    def turn(self, turn: int) -> None:
        if turn > 0:
            self._snapshots[turn] = self._sim.snapshot()
        self._turn = turn


class Found(NamedTuple):
    """What a search found."""

    #: the shortest oracle that was found to pass; None when it is the task's own
    steps: Steps | None
    #: how it differs, in words
    change: str
    tried: int
    #: trials for which a bounded search had no time
    left_out: int


class _Played(NamedTuple):
    """An oracle that passes, with its episode."""

    steps: Steps
    events: tuple[Event, ...]
    #: turn -> the simulator at its beginning
    snapshots: dict[int, bytes]


class _Variant(NamedTuple):
    steps: Steps
    change: str


class _Told:
    """A Human that does what the steps say, whatever the words."""

    def __init__(self, steps: Steps) -> None:
        self._steps, self._literal = steps, LiteralHuman()

    def about(self) -> Participant:
        return Participant(name="told", version="1")

    def act(self, view: HumanView) -> HumanAct:
        if view.instruction is None:
            return self._literal.act(view)
        return HumanAct(commands=self._steps[view.turn - 1].do)

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        return self._literal.report(outcomes)


class _Sink:
    """Events of a trial and the verdict on them; a refusal or a broken gate ends it."""

    def __init__(self, task: TaskPack, scene: CompiledScene, *, known: int) -> None:
        self.events: list[Event] = []
        self.commands = 0
        self.checks = CheckRun(task, scene)
        self._known, self._state = known, WorldState(scene)

    def append(self, event: Event) -> int:
        seq = len(self.events)
        self.events.append(event)
        self._state.apply(event)
        self.checks.feed(seq, event, self._state)
        if isinstance(event, PrimitiveOutcome) and seq >= self._known:
            self.commands += 1
            if not event.ok or not all(g.held for g in self.checks.evaluation().gates):
                raise EpisodeStopped
        return seq

    def commit(self) -> None:
        """Nothing is kept."""


def find_shorter(
    task: TaskPack,
    scene: CompiledScene,
    *,
    oracle: tuple[Event, ...],
    marks: Marks,
    config: EpisodeConfig,
    simulator: Simulator,
    frames: Frames,
    search: Search = "bounded",
    knows_enough: Callable[[tuple[Event, ...]], bool] = lambda events: True,
) -> Found:
    """Looks for fewer commands, or as many in fewer turns, that pass, and then for fewer still.

    oracle: its recorded episode, with the `marks` that were kept of it. simulator: loaded with the scene. knows_enough:
    whether the Assistant of an episode was shown what it needs.
    """
    best = _Played(task.oracle, oracle, marks.snapshots)
    known, changes, tried = {_key(best.steps)}, [], 0
    while True:
        commands = left_out = 0
        shorter = None
        for variant in _variants(best.steps, known):
            if search == "bounded" and commands >= MOST_COMMANDS:
                left_out += 1
                continue
            first = _first_difference(best.steps, variant.steps)
            resume = Resumption(
                turn=first, events=best.events[: _begins(best.events, first)], simulator=best.snapshots[first]
            )
            tried += 1
            sink, own = _Sink(task, scene, known=len(resume.events)), Marks()
            passed = _passes(
                task, scene, variant.steps, resume, sink, config=config, simulator=simulator, frames=frames, marks=own
            )
            commands += sink.commands
            if passed and knows_enough(tuple(sink.events)):
                before = {turn: snapshot for turn, snapshot in best.snapshots.items() if turn <= first}
                shorter = _Played(variant.steps, tuple(sink.events), own.snapshots | before)
                changes.append(variant.change)
                break
        if shorter is None:
            return Found(best.steps if changes else None, ", then ".join(changes), tried, left_out)
        best = shorter


def _begins(events: tuple[Event, ...], turn: int) -> int:
    """Index of the first event of a turn; of the end when there is none."""
    return next((i for i, e in enumerate(events) if e.turn >= turn or e.phase == "end"), len(events))


def _first_difference(before: Steps, after: Steps) -> int:
    """The turn, from 1, at which two sequences part."""
    same = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    return same + 1


def _passes(
    task: TaskPack,
    scene: CompiledScene,
    steps: Steps,
    resume: Resumption,
    sink: _Sink,
    *,
    config: EpisodeConfig,
    simulator: Simulator,
    frames: Frames,
    marks: Marks,
) -> bool:
    try:
        result = run_episode(
            task=task,
            scene=scene,
            config=config,
            assistant=OracleAssistant(steps),
            human=_Told(steps),
            simulator=simulator,
            frames=frames,
            log=sink,
            fingerprint={},
            engine=marks.engine,
            resume=resume,
        )
    except EpisodeStopped:
        return False
    return result.valid and sink.checks.evaluation().passed


# ---------------------------------------------------------------------------------------- what is tried


def _variants(oracle: Steps, known: set[tuple[object, ...]]) -> Iterator[_Variant]:
    """Every shorter sequence that is tried, in a fixed order; none that is `known`, and then it is."""
    for variant in _all_variants(oracle):
        key = _key(variant.steps)
        if variant.steps and key not in known:
            known.add(key)
            yield variant


def _key(steps: Steps) -> tuple[object, ...]:
    return tuple((bool(s.say.strip()), s.do) for s in steps)


def _all_variants(oracle: Steps) -> Iterator[_Variant]:
    at = [(i, j) for i, step in enumerate(oracle) for j in range(len(step.do))]
    for spot in reversed(at):
        yield _without(oracle, (spot,))
    for i, step in reversed(list(enumerate(oracle))):
        yield _Variant((*oracle[:i], *oracle[i + 1 :]), f"without turn {i + 1} ({_shown(step)})")
    for a, b in pairwise(at):
        yield _without(oracle, (a, b))
    for k, a in enumerate(at):
        for b in at[k + 2 :]:
            if _undoes(oracle[a[0]].do[a[1]], oracle[b[0]].do[b[1]]):
                yield _without(oracle, (a, b))
                break
    yield from _exchanged(oracle, at)


def _shown(step: OracleStep) -> str:
    return " ".join(step.do) or step.say.strip() or "silent"


def _without(oracle: Steps, spots: tuple[tuple[int, int], ...]) -> _Variant:
    """Without some commands; a turn that had others and has none any more goes too."""
    steps: list[OracleStep] = []
    for i, step in enumerate(oracle):
        do = tuple(c for j, c in enumerate(step.do) if (i, j) not in spots)
        if do or not step.do:
            steps.append(step if do == step.do else msgspec.structs.replace(step, do=do))
    gone = ", ".join(f"{oracle[i].do[j]} (turn {i + 1})" for i, j in spots)
    return _Variant(tuple(steps), f"without {gone}")


def _undoes(first: str, second: str) -> bool:
    """Whether the second command takes back what the first one did to the same thing."""
    a, b = _parsed(first), _parsed(second)
    if a is None or b is None or b[0] not in _COUNTERPARTS.get(a[0], ()):
        return False
    # "left bread" is put down as "bread"
    return not a[1] or not b[1] or a[1].split()[-1] == b[1].split()[-1]


def _parsed(command: str) -> tuple[str, str] | None:
    """(canonical primitive, its first argument)"""
    try:
        verb = parse_command(command).primitive.canonical
    except RefusedError:
        return None
    return verb, command.partition("]")[2].partition(",")[0].strip().lower()


def _exchanged(oracle: Steps, at: list[tuple[int, int]]) -> Iterator[_Variant]:
    """Neighbours exchanged, without the Walks that this makes superfluous."""
    for i in range(len(oracle) - 1):
        swapped = (*oracle[:i], oracle[i + 1], oracle[i], *oracle[i + 2 :])
        tidied = _tidied(swapped)
        if _length(tidied) < _length(oracle):
            yield _Variant(tidied, f"with turns {i + 1} and {i + 2} exchanged, and no Walk to where one is already")
    for (i, j), (k, m) in pairwise(at):
        if i == k:
            do = list(oracle[i].do)
            do[j], do[m] = do[m], do[j]
            swapped = (*oracle[:i], msgspec.structs.replace(oracle[i], do=tuple(do)), *oracle[i + 1 :])
            tidied = _tidied(swapped)
            if _length(tidied) < _length(oracle):
                change = f"with {do[m]} and {do[j]} exchanged (turn {i + 1}), and no Walk to where one is already"
                yield _Variant(tidied, change)


def _length(steps: Steps) -> int:
    return sum(len(s.do) for s in steps)


def _tidied(steps: Steps) -> Steps:
    """Without a Walk that another one follows at once, or that goes to where the last one went."""
    flat = [(i, c, _parsed(c)) for i, s in enumerate(steps) for c in s.do]
    kept: list[list[str]] = [[] for _ in steps]
    here = ""
    for n, (i, command, parsed) in enumerate(flat):
        if parsed is not None and parsed[0] == "navigate_to":
            follows = flat[n + 1][2] if n + 1 < len(flat) else None
            if parsed[1] == here or (follows is not None and follows[0] == "navigate_to"):
                continue
            here = parsed[1]
        elif parsed is not None and parsed[0] in ("forward", "standup"):
            here = ""
        kept[i].append(command)
    return tuple(msgspec.structs.replace(s, do=tuple(do)) for s, do in zip(steps, kept, strict=True) if do or not s.do)
