"""The audit of an episode against all 43 statements of the evaluation protocol, each with its evidence. Pure.

A statement holds, is broken, is open (the log alone can't tell, and what could is not at hand), or is shown elsewhere:
it speaks of sets of tasks or of runs, and the audit says where to look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal, Protocol

import msgspec

from iwreplay.checks import lint_start
from iwreplay.errors import IwreplayError
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    FrameCaptured,
    HumanTurn,
    ModelCall,
    Observation,
    Participant,
    PhaseChanged,
    PrimitiveOutcome,
    Utterance,
)
from iwreplay.loop.protocol import CHECKED_STATEMENTS, Content, Violation, protocol_violations
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import CAPABILITIES

__all__ = ["STATEMENTS", "Audited", "EpisodeLog", "Finding", "audit_episode"]

Finding = Literal["holds", "broken", "open", "elsewhere"]

#: number -> the statement in short
STATEMENTS: dict[int, str] = {
    1: "scene initialisation, warmup, closed loop, end, in this order",
    2: "warmup runs predefined actions only, and no model",
    3: "warmup's frames belong to the Assistant's history and budget",
    4: "each turn has one decision: silent, interrupt with text, or done",
    5: "each turn of the Human gives commands and an optional reply",
    6: "an episode ends by done, a limit or a fault, never by success",
    7: "success is read from the state of the world at the end",
    8: "the limits are the task's, and are logged",
    9: "frames are the first-person view of the head camera",
    10: "four frames for each executed action, evenly spaced",
    11: "at most 32 frames reach the Assistant in a turn; up to 32, all",
    12: "of more than 32: the latest 8, and 24 evenly of the older ones",
    13: "the frames shown in each turn are logged",
    14: "the Assistant is shown frames, dialogue and request, nothing hidden",
    15: "the Human is shown no answer, oracle step or check",
    16: "a Human without sight gets no image",
    17: "Finding: the Human infers no remembered place",
    18: "Planning: the Human orders no steps",
    19: "the Human keeps to its family's restriction and to its intent",
    20: "failure sentences hold no hidden identifier",
    21: "the 36 primitives, each verb with one canonical form",
    22: "no angle for TurnAround",
    23: "what is refused has a reason and changes nothing",
    24: "what is held stays held in turning; sitting is recorded and cleared",
    25: "a refused command costs a step and is flagged",
    26: "one of 120 tasks in six families",
    27: "the frozen task has all its parts",
    28: "the oracle passes every task, silence none",
    29: "every objective false, every keep true when live interaction begins",
    30: "causal controls name the checks that they fail",
    31: "capability points of C1 to C9, each with its check",
    32: "how tasks are made and repaired",
    33: "Pass by family, and the mean of the six",
    34: "MCR, the mean share of the objectives",
    35: "capability scores over all points",
    36: "action cost relative to the oracle",
    37: "one first error for each valid failed episode",
    38: "static items over logged frames",
    39: "task horizon",
    40: "agreement between executors",
    41: "the notebook is the memory arm's only difference, and no Human sees it",
    42: "any Assistant with any Human; people's episodes stay apart",
    43: "participants, prompts, seeds, limits and versions are recorded",
}

_ELSEWHERE: dict[int, str] = {
    28: "iwreplay tasks check plays both, and no help, for every task",
    32: "the journal of iwreplay tasks generate",
    33: "iwreplay query --named pass; iwreplay bench show",
    34: "iwreplay score; iwreplay query",
    35: "iwreplay score; iwreplay query --named capability",
    36: "iwreplay query --named effort",
    37: "iwreplay annotate, by people; iwreplay annotate agree",
    38: "items of a set of episodes; not in this version",
    39: "statistics of a set of episodes; not in this version",
    40: "statistics of a set of episodes; not in this version",
    42: "the participants are in the log; which episodes are counted together is up to who counts",
}
#: how the ids of a family's tasks begin
_LETTERS = {"guidance": "G", "planning": "P", "accessibility": "A", "decision": "D", "prevention": "V", "finding": "F"}
_RESTRICTS_THOUGHT = {17: "finding", 18: "planning"}
#: pictures in a kept request, by their hashes
_PICTURE = re.compile(r'"sha256":"([0-9a-f]{64})"')
_OWN_WORDS = "the Human is {name}: it has no plan, no memory of places and no idea of its own"


class EpisodeLog(Protocol):
    """Events that can be gone through several times."""

    def events(self) -> Iterable[Event]: ...


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """One statement, and what the log says about it."""

    number: int
    statement: str
    finding: Finding
    #: what shows it, or what breaks it
    evidence: str
    #: sequence numbers of the events that break it
    broken_at: tuple[int, ...] = ()


def audit_episode(log: EpisodeLog, *, content: Content = lambda sha256, kind: None) -> tuple[Audited, ...]:
    """All 43 statements. `content` gives what was sent to models, where that is at hand."""
    broken: dict[int, list[Violation]] = {}
    for violation in protocol_violations(log.events(), content=content):
        broken.setdefault(violation.statement, []).append(violation)
    facts = _Facts(content)
    for event in log.events():
        facts.see(event)
    found = []
    for number, statement in STATEMENTS.items():
        if number in broken:
            first, *more = broken[number]
            said = first.message + (f" (and {len(more)} more)" if more else "")
            at = tuple(v.seq for v in broken[number])
            found.append(Audited(number=number, statement=statement, finding="broken", evidence=said, broken_at=at))
        else:
            finding, said = _of(number, facts, log)
            found.append(Audited(number=number, statement=statement, finding=finding, evidence=said))
    return tuple(found)


class _Facts:
    """What is counted along a log."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self.opened: EpisodeOpened | None = None
        self.ended: EpisodeEnded | None = None
        self.fault: Fault | None = None
        self.phases: list[str] = []
        self.frames: Counter[str] = Counter()
        self.decisions: Counter[str] = Counter()
        self.commands: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.primitives: Counter[str] = Counter()
        self.observed: Counter[str] = Counter()
        self.most_frames = self.sampled_turns = 0
        self.shown_to_human = 0
        self.human_turns = self.replies = 0
        self.sentences = 0
        self.calls: Counter[str] = Counter()
        self.requests_read = 0
        self.notes = 0
        self.executed_live = 0
        self.reports = 0

    def see(self, event: Event) -> None:
        if isinstance(event, EpisodeOpened):
            self.opened = event
        elif isinstance(event, PhaseChanged):
            self.phases.append(event.phase)
        elif isinstance(event, FrameCaptured):
            self.frames[event.phase] += 1
        elif isinstance(event, Observation):
            self._observed(event)
        elif isinstance(event, AssistantDecision):
            self.decisions[event.decision] += 1
            self.notes += event.memory is not None
        elif isinstance(event, HumanTurn):
            self.human_turns += 1
            self.replies += event.reply is not None
        elif isinstance(event, CommandIssued):
            self.commands[event.source] += 1
        elif isinstance(event, PrimitiveOutcome):
            self._outcome(event)
        elif isinstance(event, Utterance):
            self.reports += event.speaker == "human"
        elif isinstance(event, ModelCall):
            self.calls[event.role] += 1
            self.requests_read += self._is_kept(event)
        elif isinstance(event, Fault):
            self.fault = event
        elif isinstance(event, EpisodeEnded):
            self.ended = event

    def _is_kept(self, event: ModelCall) -> bool:
        """Whether the request and every picture in it is at hand."""
        body = self._content(event.request_sha256, "json")
        return body is not None and all(self._content(s, "png") is not None for s in _PICTURE.findall(body.decode()))

    def _observed(self, event: Observation) -> None:
        self.observed[event.role] += 1
        if event.role == "assistant":
            self.most_frames = max(self.most_frames, len(event.frames))
            self.sampled_turns += event.available > len(event.frames)
        else:
            self.shown_to_human += len(event.frames)

    def _outcome(self, event: PrimitiveOutcome) -> None:
        if event.ok:
            self.primitives[event.primitive] += 1
        else:
            self.refused[event.code] += 1
            self.sentences += bool(event.sentence)


def _of(number: int, f: _Facts, log: EpisodeLog) -> tuple[Finding, str]:
    """What is found about a statement that the log does not break."""
    if number in _ELSEWHERE:
        return "elsewhere", _ELSEWHERE[number]
    if f.opened is None:
        return "open", "the log holds no opening"
    task, human = f.opened.task, f.opened.human
    if number in _RESTRICTS_THOUGHT:
        return _thought(_RESTRICTS_THOUGHT[number], task, human, f)
    if number == 29:
        return _start(log)
    if number in (14, 15) and sum(f.calls.values()) > f.requests_read:
        missing = sum(f.calls.values()) - f.requests_read
        return "open", f"{_counted(missing, 'request')} to models are not kept whole beside this log, and were not read"
    said = _EVIDENCE[number](f, f.opened, task)
    if number in (26, 27, 30, 31) and said.startswith("!"):
        return "broken", said[1:]
    assert number in CHECKED_STATEMENTS or number in (26, 27, 30, 31), f"statement {number} is looked at by nobody"
    return "holds", said


def _thought(family: str, task: TaskPack, human: Participant, f: _Facts) -> tuple[Finding, str]:
    if task.family != family:
        return "holds", f"the task is of {task.family}"
    if human.name == "literal":
        return "holds", _OWN_WORDS.format(name=human.name)
    if f.calls["human"]:
        return "open", "its model was told so (the prompt is in the log); whether it kept to it, its commands show"
    return "open", f"what {human.name} had in mind is in no log; its commands and words are"


def _start(log: EpisodeLog) -> tuple[Finding, str]:
    try:
        findings = lint_start(log.events())
    except IwreplayError as e:
        return "open", str(e)
    if findings:
        return "broken", "; ".join(f"{found.where}: {found.message}" for found in findings)
    return "holds", "asked of the world at that moment; the rest of it: iwreplay tasks check"


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "none"


def _end(f: _Facts, opened: EpisodeOpened, task: TaskPack) -> str:
    if f.ended is None:
        return "the log is not ended"
    why = f" ({f.ended.detail})" if f.ended.detail else ""
    return f"ended by {f.ended.reason} after {_counted(f.ended.turns, 'turn')}{why}"


def _scanned(f: _Facts, role: str) -> str:
    calls = f"; {_counted(f.calls[role], 'request')} to its model read whole" if f.calls[role] else ""
    return f"what it was shown in {_counted(f.observed[role], 'turn')} was scanned{calls}"


def _restriction(f: _Facts, opened: EpisodeOpened, task: TaskPack) -> str:
    own = f", {_counted(f.commands['intent'], 'command')} of its own intent" if f.commands["intent"] else ""
    return f"restricted as of {task.human.restriction}{own}"


def _parts(f: _Facts, opened: EpisodeOpened, task: TaskPack) -> str:
    has = {
        "a request": task.request,
        "things": opened.scene.things,
        "a Human's role": task.human.role,
        "an oracle": task.oracle,
        "objectives": task.objectives,
        "capability points": task.points,
    }
    missing = [name for name, value in has.items() if not value]
    if missing:
        return f"!the task has no {', '.join(missing)}"
    return (
        f"version {task.version}: {_counted(len(task.oracle), 'oracle step')}, "
        f"{_counted(len(task.objectives), 'objective')}, {_counted(len(task.gates), 'gate')}, "
        f"{_counted(len(task.keeps), 'keep')}, {_counted(len(task.script), 'scripted event')}"
    )


def _controls(f: _Facts, opened: EpisodeOpened, task: TaskPack) -> str:
    checks = {c.id for c in task.objectives} | {c.id for c in (*task.gates, *task.keeps)}
    strange = [f"{m.id} names {c}" for m in task.near_misses for c in m.fails if c not in checks]
    if strange or not task.near_misses:
        return f"!{'; '.join(strange) or 'the task has no near miss'}"
    return f"near misses: {', '.join(m.id for m in task.near_misses)}"


def _points(f: _Facts, opened: EpisodeOpened, task: TaskPack) -> str:
    strange = [p.id for p in task.points if p.capability not in CAPABILITIES or not p.formula]
    if strange or not task.points:
        return f"!{', '.join(strange) or 'no point'} of C1 to C9 with a check"
    return _listed(Counter(p.capability for p in task.points))


def _notebook(f: _Facts, opened: EpisodeOpened, task: TaskPack) -> str:
    arm = opened.assistant.params.get("memory", "off")
    return f"memory is {arm}; {_counted(f.notes, 'decision')} with notes"


def _recorded(f: _Facts, opened: EpisodeOpened, task: TaskPack) -> str:
    who = f"{opened.assistant.name} {opened.assistant.version}, {opened.human.name} {opened.human.version}"
    prompts = [p.params["prompt"] for p in (opened.assistant, opened.human) if "prompt" in p.params]
    told = f", prompts {', '.join(prompts)}" if prompts else ""
    return (
        f"{who}{told}, {opened.simulator.name} {opened.simulator.version}, {opened.renderer}, seed "
        f"{opened.config.seed}, {_counted(len(opened.fingerprint), 'version')} of what can change a bit"
    )


def _human_turns(f: _Facts, o: EpisodeOpened, t: TaskPack) -> str:
    # what failed the Human says besides, after its commands
    failed = f"; it says what failed {_counted(f.reports, 'time')}" if f.reports else ""
    return f"{_counted(f.human_turns, 'turn')}, {f.replies} with a reply{failed}"


_EVIDENCE: dict[int, Callable[[_Facts, EpisodeOpened, TaskPack], str]] = {
    1: lambda f, o, t: ", ".join(f.phases),
    2: lambda f, o, t: f"{_counted(f.commands['warmup'], 'predefined command')}",
    3: lambda f, o, t: f"{f.frames['warmup']} of {f.frames.total()} frames are of warmup",
    4: lambda f, o, t: _listed(f.decisions),
    5: _human_turns,
    6: _end,
    7: lambda f, o, t: "the final state is in the log, and nothing in the world changes after it",
    8: lambda f, o, t: f"{o.config.max_turns} turns, {o.config.max_actions} actions",
    9: lambda f, o, t: f"{_counted(f.frames.total(), 'frame')} of {o.config.frame_width} x {o.config.frame_height}",
    10: lambda f, o, t: f"looked at for {_counted(f.primitives.total(), 'executed action')}",
    11: lambda f, o, t: f"at most {f.most_frames} in a turn",
    12: lambda f, o, t: f"{_counted(f.sampled_turns, 'turn')} with more than 32",
    13: lambda f, o, t: f"in {_counted(f.observed['assistant'], 'turn')}",
    14: lambda f, o, t: _scanned(f, "assistant"),
    15: lambda f, o, t: _scanned(f, "human"),
    16: lambda f, o, t: f"{t.human.restriction}: {_counted(f.shown_to_human, 'image')} shown to the Human",
    19: _restriction,
    20: lambda f, o, t: f"{_counted(f.sentences, 'sentence')} scanned",
    21: lambda f, o, t: _listed(f.primitives),
    22: lambda f, o, t: f"{_counted(f.primitives['turn'], 'turn')} executed",
    23: lambda f, o, t: f"{_counted(f.refused.total(), 'refusal')}: {_listed(f.refused)}",
    24: lambda f, o, t: f"{f.primitives['sit']} sit, {f.primitives['standup']} standup, {f.primitives['turn']} turn",
    25: lambda f, o, t: f"{f.commands.total()} commands, {f.refused.total()} of them refused, each with its outcome",
    26: lambda f, o, t: f"{t.id} of {t.family}" if t.id[:1] == _LETTERS[t.family] else f"!{t.id} of {t.family}",
    27: _parts,
    30: _controls,
    31: _points,
    41: _notebook,
    43: _recorded,
}
