"""The audit: which numbered statements of the evaluation protocol a finished log breaks.

A pure function of events, so that any log can be audited, whoever recorded it. Statements 1 to 16, 19 to 25, 41 and 43
leave traces in a single log and are checked here; 17 and 18 restrict what a Human may think, and most of 26 on speak
about sets of tasks and of runs (`iwreplay.loop.audit` says where those are shown). An episode that was spoilt by a
fault may stop anywhere; everything before the fault is still held to the protocol.

What was sent to hosted models is not in the log but kept beside it under its hash: who has it, gives it, and then it is
read too: every text is scanned, and every picture must be the frame that it says it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from iwreplay.body import key_poses
from iwreplay.events import (
    AssistantDecision,
    BodyPosed,
    CommandIssued,
    Contact,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    FrameCaptured,
    Happened,
    HumanTurn,
    ModelCall,
    Observation,
    PhaseChanged,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
    WorldSnapshot,
)
from iwreplay.loop.audit_actions import ActionAudit
from iwreplay.loop.audit_calls import CallAudit, Content
from iwreplay.loop.dialogue import ASSISTANT, line_of
from iwreplay.loop.leaks import LeakScanner
from iwreplay.loop.limits import NOOP, limits_of
from iwreplay.vocabulary import PHASES
from iwreplay.world.state import WorldState

__all__ = ["CHECKED_STATEMENTS", "Content", "Violation", "protocol_violations"]

#: numbers of the statements that the audit can find broken
CHECKED_STATEMENTS: tuple[int, ...] = (*range(1, 17), *range(19, 26), 41, 43)

#: of the seven numbers of a pose; the camera is worked out from the body by the same arithmetic
_CAMERA_TOLERANCE = 1e-9
_MAX_FRAMES, _LATEST, _OLDER = 32, 8, 24


class Violation(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One broken statement."""

    #: sequence number of the event at which it shows
    seq: int
    #: number of the statement
    statement: int
    message: str


def protocol_violations(
    events: Iterable[Event], *, content: Content = lambda sha256, kind: None
) -> tuple[Violation, ...]:
    """Every violation in the events of one log, in log order; empty for a log that follows the protocol. `content`
    gives what was sent to models, where that is at hand."""
    audit = _Audit(content)
    seq = -1
    for seq, event in enumerate(events):
        audit.see(seq, event)
    audit.finish(seq)
    return tuple(sorted(audit.found))


def _shown(ids: list[str]) -> tuple[str, ...]:
    """Rules 11 and 12, written out again here on purpose: an audit must not trust the code that it audits."""
    if len(ids) <= _MAX_FRAMES:
        return tuple(ids)
    older = len(ids) - _LATEST
    picked = [ids[(i * (older - 1) + 11) // 23] for i in range(_OLDER)]
    return (*picked, *ids[-_LATEST:])


class _Audit:
    def __init__(self, content: Content) -> None:
        self.calls = CallAudit(self.report, content)
        self.found: list[Violation] = []
        self.seq = 0
        self.opened: EpisodeOpened | None = None
        self.scanner: LeakScanner | None = None
        self.phases: list[str] = []
        self.frames: list[str] = []
        self.known_frames: set[str] = set()
        self.spoken: list[str] = []
        self.replies: list[str] = []
        self.turn_kinds: dict[str, int] = {}
        self.turn = 0
        self.last_decision: AssistantDecision | None = None
        self.shown_this_turn: Observation | None = None
        #: role -> what it was shown last
        self.shown: dict[str, Observation] = {}
        self.intent: list[str] = []
        self.fault: Fault | None = None
        self.ended: EpisodeEnded | None = None
        self.final_seen = False
        self.warmup_commands: list[str] = []
        self.live_actions = 0
        self.last_time_s = 0.0
        self.actions = ActionAudit(self.report)
        self.state: WorldState | None = None

    def report(self, statement: int, message: str) -> None:
        self.found.append(Violation(seq=self.seq, statement=statement, message=message))

    def see(self, seq: int, event: Event) -> None:
        self.seq = seq
        if self.ended is not None:
            self.report(6, f"{type(event).__name__} after the end of the episode")
        if event.sim_time_s < self.last_time_s:
            self.report(1, f"simulated time goes back from {self.last_time_s} s to {event.sim_time_s} s")
        self.last_time_s = event.sim_time_s
        if isinstance(event, EpisodeOpened):
            self._opened(event)
            return
        if self.opened is None or self.scanner is None:
            if seq == 0:
                self.report(1, f"the log opens with {type(event).__name__}, not with EpisodeOpened")
            return
        if isinstance(event, PhaseChanged):
            self._phase(event)
        elif not self.phases or event.phase != self.phases[-1]:
            self.report(1, f"{type(event).__name__} of phase {event.phase} while the phase is {self.phases[-1:]}")
        if event.phase == "warmup" and isinstance(event, AssistantDecision | HumanTurn | ModelCall | Observation):
            self.report(2, f"{type(event).__name__} during warmup")
        if event.phase == "closed_loop" and event.turn != self.turn:
            self._turn_ends()
            if event.turn != self.turn + 1:
                self.report(4, f"turn {event.turn} follows turn {self.turn}")
            self.turn = event.turn
        if isinstance(event, BodyPosed | WorldSnapshot) and self.state is not None:
            self.state.apply(event)
        self._dispatch(event, self.opened, self.scanner)
        self.actions.see(event)

    def _opened(self, event: EpisodeOpened) -> None:
        if self.opened is not None:
            self.report(1, "a second EpisodeOpened")
            return
        self.opened = event
        self.scanner = LeakScanner(event.task, event.scene)
        self.state = WorldState(event.scene)
        self.intent = list(event.task.human.intent)
        self.calls.opened(event, self.scanner)
        limits = limits_of(event.task)
        if (event.config.max_turns, event.config.max_actions) != (limits.turns, limits.actions):
            self.report(
                8,
                f"limits {event.config.max_turns} turns, {event.config.max_actions} actions are not the task's "
                f"{limits.turns}, {limits.actions}",
            )
        self._scan(event.task.request, "the request", (14,))

    def _phase(self, event: PhaseChanged) -> None:
        self._turn_ends()
        expected = PHASES[: PHASES.index(event.phase)]
        if tuple(self.phases) != expected and not (event.phase == "end" and self.fault is not None):
            self.report(1, f"phase {event.phase} begins after {', '.join(self.phases) or 'nothing'}")
        self.phases.append(event.phase)

    def _dispatch(self, event: Event, opened: EpisodeOpened, scanner: LeakScanner) -> None:
        if isinstance(event, HumanTurn) and event.reply is not None:
            self.replies.append(event.reply)
        line = line_of(event)
        if line is not None and line.speaker != ASSISTANT:
            self._scan(line.text, f"what {line.speaker} says", (14,))
        if isinstance(event, FrameCaptured):
            self._frame(event, opened)
            self.calls.frame(event)
        elif isinstance(event, Observation):
            self._observation(event, opened)
        elif isinstance(event, AssistantDecision):
            self._decision(event)
        elif isinstance(event, HumanTurn):
            self._once("human_turn", 5)
            self.calls.human_turn(event, self.intent)
            if not event.commands:
                self.report(5, f"a Human turn without commands is written as {NOOP}")
        elif isinstance(event, CommandIssued):
            self._command(event, opened)
        elif isinstance(event, ModelCall):
            self.calls.call(event, self.shown.get(event.role), "\n".join([*self.spoken, *self.replies]))
        elif isinstance(event, PrimitiveOutcome):
            if any(leak.kind == "identifier" for leak in scanner.scan(event.sentence)):
                self.report(20, f"failure sentence with a hidden identifier: {event.sentence!r}")
        elif isinstance(event, ScriptedEvent):
            for scripted in opened.task.script:
                if scripted.id == event.script:
                    for action in scripted.do:
                        if action.do == "intend":
                            self.intent = list(action.commands)
        elif isinstance(event, Fault):
            self.fault = event
        elif isinstance(event, WorldSnapshot) and event.reason == "final":
            self.final_seen = True
        elif isinstance(event, EpisodeEnded):
            self._end(event, opened)
        elif self.final_seen and isinstance(
            event, StateDelta | PosesSampled | BodyPosed | Contact | Happened | Utterance
        ):
            self.report(7, f"{type(event).__name__} after the final state")

    def _frame(self, event: FrameCaptured, opened: EpisodeOpened) -> None:
        if event.frame_id in self.known_frames:
            self.report(13, f"frame id {event.frame_id} is used twice")
        self.frames.append(event.frame_id)
        self.known_frames.add(event.frame_id)
        config = opened.config
        if (event.width, event.height) != (
            config.frame_width,
            config.frame_height,
        ) or event.renderer != opened.renderer:
            self.report(9, f"frame {event.frame_id} is not of the size and renderer that the episode was opened with")
        if self.state is not None and math.dist(event.camera, key_poses(self.state.body).camera) > _CAMERA_TOLERANCE:
            self.report(9, f"frame {event.frame_id} is not seen from the head camera")

    def _observation(self, event: Observation, opened: EpisodeOpened) -> None:
        self._once(f"observation:{event.role}", 13)
        self.shown[event.role] = event
        if event.available != len(self.frames):
            self.report(3, f"{event.available} frames are said to be available, {len(self.frames)} were captured")
        unknown = [f for f in event.frames if f not in self.known_frames]
        if unknown:
            self.report(13, f"frames {', '.join(unknown[:4])} were shown but never captured")
        if event.role == "human":
            if opened.task.human.restriction == "accessibility" and event.frames:
                self.report(16, f"a Human without vision was shown {len(event.frames)} frames")
            for key, value in event.proprioception.items():
                self._scan(f"{key}: {value}", "what the Human feels", (15,))
            return
        self.shown_this_turn = event
        if len(event.frames) > _MAX_FRAMES:
            self.report(11, f"{len(event.frames)} frames reach the Assistant; at most {_MAX_FRAMES} may")
        elif event.frames != _shown(self.frames):
            rule = 11 if len(self.frames) <= _MAX_FRAMES else 12
            self.report(
                rule, f"the {len(event.frames)} frames shown are not the ones that the rule picks of {len(self.frames)}"
            )

    def _decision(self, event: AssistantDecision) -> None:
        self._once("decision", 4)
        if self.last_decision is not None and self.last_decision.decision == "done":
            self.report(6, "the Assistant decides again after it said done")
        if event.decision == "interrupt" and not event.text:
            self.report(4, "an interrupt without text")
        if event.decision == "silent" and event.text is not None:
            self.report(4, "a silent turn with text")
        if self.shown_this_turn is None or self.shown_this_turn.turn != event.turn:
            self.report(13, "a decision without the ids of the frames shown")
        self.last_decision = event
        self.calls.decision(event)
        if event.text:
            self.spoken.append(event.text)
        if event.decision == "interrupt":
            self.intent = []

    def _command(self, event: CommandIssued, opened: EpisodeOpened) -> None:
        self.spoken.append(event.text)
        if event.phase == "warmup":
            done = len(self.warmup_commands)
            if event.source != "warmup" or opened.task.warmup[done : done + 1] != (event.text,):
                self.report(2, f"{event.text!r} is not the next predefined command of the warmup")
            self.warmup_commands.append(event.text)
            return
        self.live_actions += 1
        if event.source == "warmup":
            self.report(2, f"the warmup command {event.text!r} outside warmup")
        elif event.source == "intent":
            if self.intent[:1] != [event.text]:
                self.report(19, f"{event.text!r} is not the next command of the Human's own intent, or was interrupted")
            self.intent = self.intent[1:]

    def _once(self, what: str, statement: int) -> None:
        self.turn_kinds[what] = self.turn_kinds.get(what, 0) + 1
        if self.turn_kinds[what] > 1:
            self.report(statement, f"{what} more than once in turn {self.turn}")

    def _turn_ends(self) -> None:
        if self.turn > 0 and self.fault is None and self.phases[-1:] == ["closed_loop"]:
            if not self.turn_kinds.get("decision"):
                self.report(4, f"turn {self.turn} has no decision of the Assistant")
            elif self.last_decision is not None and self.last_decision.decision == "done":
                if self.turn_kinds.get("human_turn"):
                    self.report(6, "the Human acts after the Assistant said done")
            elif not self.turn_kinds.get("human_turn"):
                self.report(5, f"turn {self.turn} has no turn of the Human")
        self.turn_kinds = {}

    def _scan(self, text: str, where: str, statements: tuple[int, ...]) -> None:
        assert self.scanner is not None
        for leak in self.scanner.scan(text, spoken="\n".join(self.spoken), replies="\n".join(self.replies)):
            for statement in statements:
                self.report(statement, f"{leak.kind} {leak.found!r} in {where}")

    def _end(self, event: EpisodeEnded, opened: EpisodeOpened) -> None:
        self.ended = event
        if event.valid != (self.fault is None):
            self.report(
                6, f"valid is {event.valid} although a fault was {'not ' if self.fault is None else ''}recorded"
            )
        said_done = self.last_decision is not None and self.last_decision.decision == "done"
        truth = {
            "done": said_done,
            "turn_limit": self.turn >= opened.config.max_turns and not said_done,
            "action_limit": self.live_actions >= opened.config.max_actions and not said_done,
            "fault": self.fault is not None,
            "interrupted": self.fault is not None and self.fault.source == "user",
        }
        if not truth[event.reason]:
            self.report(6, f"the episode ends by {event.reason}, which did not happen")
        if event.turns != self.turn or event.actions != self.live_actions:
            self.report(
                25,
                f"{event.turns} turns, {event.actions} actions are stated; {self.turn}, {self.live_actions} are logged",
            )
        if event.turns > opened.config.max_turns or event.actions > opened.config.max_actions:
            self.report(8, f"{event.turns} turns, {event.actions} actions are beyond the limits")
        if not self.final_seen:
            self.report(7, "the state at the end is not in the log")
        if event.valid and tuple(self.warmup_commands) != opened.task.warmup:
            self.report(2, f"{len(self.warmup_commands)} of {len(opened.task.warmup)} warmup commands were carried out")

    def finish(self, last_seq: int) -> None:
        self.seq = max(last_seq, 0)
        if self.opened is None:
            self.report(1, "the log holds no EpisodeOpened")
        elif self.ended is None:
            self.report(6, "the log stops without an end of the episode")
