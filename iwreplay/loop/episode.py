"""The one episode loop.

Live, its participants are models, scripts or people; in a re-execution they read their lines from a log. There is no
second implementation. Order of an episode: scene initialisation, warmup, closed loop, end (rule 1); the protocol's
statements are audited on the finished log by `iwreplay.loop.protocol`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec

from iwreplay.canonical import struct_hash
from iwreplay.checks import trigger
from iwreplay.errors import IwreplayError, LogError, LogWriteError, SimulatorError, StoreError
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EndReason,
    EpisodeConfig,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    HumanTurn,
    Observation,
    PhaseChanged,
    PrimitiveOutcome,
    Utterance,
)
from iwreplay.log import FORMAT_VERSION, EventSink
from iwreplay.loop.answers import AnswerError, checked_assistant_act, checked_human_act, checked_report
from iwreplay.loop.dialogue import HUMAN
from iwreplay.loop.engine import Engine, EngineFactory, FollowingEngine, Frames, WatchFactory
from iwreplay.loop.leaks import LeakScanner, leaks_in_words
from iwreplay.loop.limits import NOOP, NOOP_IDLE_S
from iwreplay.loop.recording import Recording
from iwreplay.loop.scripting import Script
from iwreplay.loop.views import assistant_view, human_view, shown_text
from iwreplay.ports import Assistant, AssistantAct, AssistantView, Consults, Human, HumanAct, HumanView, Simulator
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import Phase

__all__ = ["EpisodeResult", "EpisodeStopped", "Resumption", "run_episode"]

T = TypeVar("T")

#: longest text of a fault that is kept
_MAX_DETAIL = 2000


class EpisodeStopped(BaseException):
    """Raised by a sink that wants no more events (a fail-fast comparison): leaves the loop without ending the log."""


class EpisodeResult(msgspec.Struct, frozen=True, kw_only=True):
    """How an episode ended."""

    reason: EndReason
    valid: bool
    turns: int
    #: commands issued in live interaction, refused ones included
    actions: int
    detail: str = ""


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a turn in an episode of the same task, from where another one goes on."""

    turn: int
    #: everything before that turn, from the opening on
    events: tuple[Event, ...]
    #: what the simulator's `snapshot` gave at that moment
    simulator: bytes


class _Spoilt(Exception):  # noqa: N818 - never leaves this module
    """The episode can't go on: becomes a Fault event."""

    def __init__(self, source: str, code: str, detail: str) -> None:
        self.source, self.code, self.detail = source, code, detail[:_MAX_DETAIL]
        super().__init__(detail)


def run_episode(
    *,
    task: TaskPack,
    scene: CompiledScene,
    config: EpisodeConfig,
    assistant: Assistant,
    human: Human,
    simulator: Simulator,
    frames: Frames,
    log: EventSink,
    fingerprint: dict[str, str],
    engine: EngineFactory,
    watch: WatchFactory = trigger,
    behaviour_flags: tuple[str, ...] = (),
    parent: tuple[str, int] | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    progress: Callable[[int, int], None] = lambda turn, actions: None,
    resume: Resumption | None = None,
) -> EpisodeResult:
    """Plays one episode from its opening to its end and logs every fact of it.

    `simulator` is not loaded yet. `checkpoint` is called at every point where the episode may be left in good order;
    it raises KeyboardInterrupt to do so. `progress` gets (turn, actions so far) after every action and turn.

    resume: what came before is taken from there, and nobody is asked about it; `simulator` is loaded with the scene,
    and the engine must be able to `follow`. The log is as if the episode had been played from its opening.

    A participant that raises or answers outside the protocol, a failing simulator, a leak and an interruption by the
    user end the episode as invalid, with a Fault in the log; the result says so and nothing is raised. A programmer's
    error is logged the same way and then raised. A log or a request that can't be kept raises at once (LogError,
    StoreError), and so does a task whose scripted events make no sense (TaskError, CheckError), before anything is
    logged.
    """
    episode = _Episode(
        task=task,
        scene=scene,
        config=config,
        assistant=assistant,
        human=human,
        simulator=simulator,
        record=Recording(scene, log=log, frames=frames, snapshot_every=config.snapshot_every),
        script=Script(task, scene, watch=watch),
        checkpoint=checkpoint,
        progress=progress,
    )
    opened = EpisodeOpened(
        sim_time_s=0.0,
        turn=0,
        phase="scene_init",
        format_version=FORMAT_VERSION,
        task=task,
        scene=scene,
        scene_hash=struct_hash(scene),
        config=config,
        assistant=assistant.about(),
        human=human.about(),
        simulator=simulator.about(),
        renderer=frames.renderer_name,
        fingerprint=dict(sorted(fingerprint.items())),
        behaviour_flags=tuple(sorted(behaviour_flags)),
        parent=parent,
    )
    return episode.run(opened, engine=engine, resume=resume)


class _Episode:
    def __init__(
        self,
        *,
        task: TaskPack,
        scene: CompiledScene,
        config: EpisodeConfig,
        assistant: Assistant,
        human: Human,
        simulator: Simulator,
        record: Recording,
        script: Script,
        checkpoint: Callable[[], None],
        progress: Callable[[int, int], None],
    ) -> None:
        self.task, self.scene, self.config = task, scene, config
        self.assistant, self.human, self.simulator = assistant, human, simulator
        self.record, self.script, self.checkpoint, self.progress = record, script, checkpoint, progress
        self.scanner = LeakScanner(task, scene)
        self.phase: Phase = "scene_init"
        self.turn = 0
        #: index of the next command, warmup included
        self.action = 0
        #: commands of live interaction
        self.live_actions = 0
        self.memory: str | None = None
        #: everything that is no secret any more: the Assistant's words and the commands issued
        self.spoken: list[str] = []
        #: what the Human said
        self.replies: list[str] = []
        self.failures: tuple[str, ...] = ()
        self._engine: Engine | None = None

    # -- from opening to end ------------------------------------------------------------------------------------

    def run(self, opened: EpisodeOpened, *, engine: EngineFactory, resume: Resumption | None = None) -> EpisodeResult:
        raised: BaseException | None = None
        try:
            if resume is None:
                self._initialise(opened, engine)
                self._warm_up()
                self._meet()
            else:
                self._go_on(resume, engine)
            result = EpisodeResult(reason=self._interact(), valid=True, turns=self.turn, actions=self.live_actions)
        except (LogError, StoreError):
            raise
        except _Spoilt as fault:
            result = self._spoilt("fault", fault)
        except KeyboardInterrupt:
            result = self._spoilt("interrupted", _Spoilt("user", "INTERRUPTED", "stopped by the user"))
        except SimulatorError as error:
            result = self._spoilt("fault", _Spoilt("simulator", type(error).__name__, str(error)))
        except IwreplayError as error:
            result = self._spoilt("fault", _Spoilt("recorder", type(error).__name__, str(error)))
        except Exception as error:  # noqa: BLE001 - a programmer's error: logged, then raised below
            result = self._spoilt("fault", _Spoilt("recorder", type(error).__name__, str(error)))
            raised = error
        self._end(result)
        if raised is not None:
            raise raised
        return result

    def _spoilt(self, reason: Literal["fault", "interrupted"], fault: _Spoilt) -> EpisodeResult:
        self._emit(Fault, source=fault.source, code=fault.code, detail=fault.detail)
        detail = f"{fault.source}: {fault.code}: {fault.detail}"
        return EpisodeResult(reason=reason, valid=False, turns=self.turn, actions=self.live_actions, detail=detail)

    def _end(self, result: EpisodeResult) -> None:
        self._enter("end")
        self.record.emit(self.record.state.snapshot("final"))
        self._emit(
            EpisodeEnded,
            reason=result.reason,
            valid=result.valid,
            turns=result.turns,
            actions=result.actions,
            detail=result.detail,
        )
        self.record.commit()

    def _emit(self, kind: type[Event], **fields: object) -> None:
        """Logs a fact of the loop itself, stamped with the present instant."""
        event = kind(sim_time_s=self.record.state.sim_time_s, turn=self.turn, phase=self.phase, **fields)
        self.record.emit(event)

    def _enter(self, phase: Phase) -> None:
        previous, self.phase = self.phase, phase
        if self._engine is not None:
            self._engine.phase = phase
        self._emit(PhaseChanged, previous=None if phase == "scene_init" else previous)

    # -- before live interaction --------------------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """The engine, once the scene is initialised."""
        assert self._engine is not None, "the scene is initialised first"
        return self._engine

    def _initialise(self, opened: EpisodeOpened, engine: EngineFactory) -> None:
        self.record.listeners.append(self.script.feed)
        self.record.emit(opened)
        self._enter("scene_init")
        self.simulator.load(self.scene)
        self._engine = self._built(engine)
        self.engine.turn, self.engine.phase = self.turn, self.phase
        self.engine.begin()
        if not self.record.has_snapshot("initial"):
            self.record.emit(self.record.state.snapshot("initial"))
        if not self.record.frames:
            self.record.emit(self.record.capture("initial", None))
        self.record.commit()

    def _built(self, engine: EngineFactory) -> Engine:
        return engine(
            scene=self.scene,
            sim=self.simulator,
            state=self.record.state,
            emit=self.record.emit,
            capture=self.record.capture,
            config=self.config,
            sighted=self.task.human.restriction != "accessibility",
        )

    def _go_on(self, resume: Resumption, engine: EngineFactory) -> None:
        """Takes in what came before a turn, as if it had happened here."""
        self.simulator.restore(resume.simulator)
        built = self._built(engine)
        assert isinstance(built, FollowingEngine), f"{type(built).__name__} can't follow what came before"
        self.record.listeners.append(self.script.feed)
        self.record.listeners.append(lambda _seq, event, _state: built.follow(event))
        self.record.listeners.append(lambda _seq, event, state: self.script.follow(event, state))
        for event in resume.events:
            self.record.replay(event)
            if isinstance(event, CommandIssued):
                self.action = event.action + 1
                self.live_actions += event.source != "warmup"
                self.spoken.append(event.text)
            elif isinstance(event, HumanTurn):
                self.failures = ()
                if event.reply is not None:
                    self.replies.append(event.reply)
            elif isinstance(event, PrimitiveOutcome):
                self.failures += () if event.ok else (event.sentence,)
            elif isinstance(event, AssistantDecision):
                self.memory = event.memory
                self.spoken += [] if event.text is None else [event.text]
        # from here on the engine tells itself of what it emits, and the script of what it does
        del self.record.listeners[1:]
        self._engine = built
        self.phase, self.turn = "closed_loop", resume.turn - 1
        self.engine.phase = self.phase

    def _warm_up(self) -> None:
        """Predefined commands only; nobody is asked anything (rule 2)."""
        self._enter("warmup")
        self.script.phase_began(self.engine, self.record.state)
        self._fire_scripts()
        for command in self.task.warmup:
            self.checkpoint()
            outcome = self._execute(command, source="warmup")
            if not outcome.ok:
                raise _Spoilt("recorder", "WARMUP", f"the warmup command {command!r} failed: {outcome.sentence}")
        self.record.commit()

    def _fire_scripts(self) -> None:
        self.script.fire_due(self.record.state, self.engine, self.record.emit)

    # -- live interaction ---------------------------------------------------------------------------------------

    def _meet(self) -> None:
        """The Assistant comes in."""
        self._enter("closed_loop")
        self.record.emit(self.record.state.snapshot("baseline"))
        self.script.phase_began(self.engine, self.record.state)
        self.record.commit()

    def _interact(self) -> EndReason:
        for turn in range(self.turn + 1, self.config.max_turns + 1):
            self.turn = self.engine.turn = turn
            self._fire_scripts()
            self.checkpoint()
            act = self._assistant_turn()
            if act.decision == "done":
                return "done"
            self.checkpoint()
            self._human_turn(act.text)
            self.record.commit()
            self.progress(self.turn, self.live_actions)
            if self.live_actions >= self.config.max_actions:
                return "action_limit"
        return "turn_limit"

    def _assistant_turn(self) -> AssistantAct:
        view = assistant_view(
            self.turn,
            request=self.task.request,
            dialogue=self.record.dialogue,
            frames=self.record.frames,
            memory=self.memory,
        )
        self._observed("assistant", view, {})
        self._guard(view)
        act = self._asked("assistant", self.assistant, lambda: checked_assistant_act(self.assistant.decide(view)))
        self._emit(AssistantDecision, decision=act.decision, text=act.text, memory=act.memory)
        self.record.commit()
        self.memory = act.memory
        if act.text is not None:
            self.spoken.append(act.text)
        if act.decision == "interrupt":
            self.script.cancel_intent()
        return act

    def _human_turn(self, instruction: str | None) -> None:
        intent = self.script.next_intent() if instruction is None else None
        view = human_view(
            self.turn,
            task=self.task,
            instruction=instruction,
            dialogue=self.record.dialogue,
            frames=self.record.frames,
            proprioception=self.engine.perception.proprioception,
            failures=self.failures,
            intent=intent,
            names=self._names,
        )
        self._observed("human", view, view.proprioception)
        self._guard(view)
        act = self._asked("human", self.human, lambda: checked_human_act(self.human.act(view), intent=intent))
        self._emit(HumanTurn, commands=act.commands or (NOOP,), reply=act.reply)
        if act.reply is not None:
            self.replies.append(act.reply)
        self.record.commit()
        if act.from_intent:
            self.script.intent.pop(0)
        self._carry_out(act)

    def _carry_out(self, act: HumanAct) -> None:
        """The commands in order, up to the first that fails and within the limit; then what the Human says of it."""
        self.failures = ()
        if not act.commands:
            self.engine.idle(NOOP_IDLE_S)
            self._fire_scripts()
            return
        outcomes: list[PrimitiveOutcome] = []
        for command in act.commands:
            if self.live_actions >= self.config.max_actions:
                break
            self.checkpoint()
            outcomes.append(self._execute(command, source="intent" if act.from_intent else "human"))
            if not outcomes[-1].ok:
                break
        self.failures = tuple(o.sentence for o in outcomes if not o.ok)
        report = _answer("human", lambda: checked_report(self.human.report(tuple(outcomes))))
        if report is not None:
            self._emit(Utterance, speaker=HUMAN, text=report)

    def _execute(self, command: str, *, source: Literal["human", "warmup", "intent"]) -> PrimitiveOutcome:
        action, self.action = self.action, self.action + 1
        if source != "warmup":
            self.live_actions += 1
        self._emit(CommandIssued, action=action, text=command, source=source)
        outcome = self.engine.execute(command, action=action)
        self.spoken.append(command)
        self._fire_scripts()
        self.progress(self.turn, self.live_actions)
        return outcome

    def _asked(self, role: str, who: Assistant | Human, ask: Callable[[], T]) -> T:
        """Asks a participant, and logs what it asked of models, also when it gave no answer."""
        try:
            answer = _answer(role, ask)
        except (_Spoilt, KeyboardInterrupt):
            self._log_calls(who)
            raise
        self._log_calls(who)
        return answer

    def _log_calls(self, who: Assistant | Human) -> None:
        if isinstance(who, Consults):
            now = self.record.state.sim_time_s
            for call in who.take_calls():
                self.record.emit(msgspec.structs.replace(call, sim_time_s=now, turn=self.turn, phase=self.phase))

    # -- the information boundary -------------------------------------------------------------------------------

    def _observed(
        self, role: Literal["assistant", "human"], view: AssistantView | HumanView, body: dict[str, str]
    ) -> None:
        self._emit(
            Observation,
            role=role,
            frames=tuple(f.frame_id for f in view.frames),
            available=len(self.record.frames),
            proprioception=body,
        )

    def _guard(self, view: AssistantView | HumanView) -> None:
        """A hard error before anything leaks."""
        found = self._leaks_in(shown_text(view))
        if found:
            raise _Spoilt("recorder", "LEAK", f"turn {view.turn}: {found}")

    def _names(self) -> tuple[str, ...]:
        """What the Human can name now. They are worked out and scanned when somebody asks for them."""
        names = self.engine.names()
        found = self._leaks_in(names)
        if found:
            raise AnswerError("LEAK", found)
        return names

    def _leaks_in(self, texts: tuple[str, ...]) -> str:
        """What leaks in the first of these texts that holds something, or ""."""
        spoken, replies = "\n".join(self.spoken), "\n".join(self.replies)
        found = ((text, self.scanner.scan(text, spoken=spoken, replies=replies)) for text in texts)
        return next((leaks_in_words(leaks, text) for text, leaks in found if leaks), "")


def _answer(role: str, ask: Callable[[], T]) -> T:
    """What a participant answers. Whatever it raises is a fault of that participant: it is somebody else's code."""
    try:
        return ask()
    except (LogWriteError, StoreError):
        # the disk, not the participant
        raise
    except AnswerError as fault:
        raise _Spoilt(f"participant:{role}", fault.code, fault.detail) from fault
    except Exception as error:
        raise _Spoilt(f"participant:{role}", "RAISED", f"{type(error).__name__}: {error}") from error
