"""The episode loop in the tiny world."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from iwreplay.errors import SimulatorError
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    FrameCaptured,
    HumanTurn,
    Observation,
    Participant,
    PhaseChanged,
    PrimitiveOutcome,
    Utterance,
    WorldSnapshot,
)
from iwreplay.log import MemoryLog
from iwreplay.loop import AnswerError, audit_episode, dialogue_of, protocol_violations
from iwreplay.ports import AssistantAct, AssistantView, HumanAct, HumanView
from iwreplay.taskpack.model import HumanRole, Limits, OracleStep
from recorder.assistants import OracleAssistant, SilentAssistant
from recorder.humans import LiteralHuman
from tests.loop.fakes import TASK, FakeSimulator, changed, play

T = TypeVar("T", bound=Event)


def of(log: MemoryLog, kind: type[T]) -> list[T]:
    return [e for e in log.events() if isinstance(e, kind)]


class Saying:
    """An Assistant that is a function."""

    def __init__(self, decide: Callable[[AssistantView], object]) -> None:
        self._decide = decide
        self.views: list[AssistantView] = []

    def about(self) -> Participant:
        return Participant(name="saying", version="1")

    def decide(self, view: AssistantView) -> AssistantAct:
        self.views.append(view)
        return self._decide(view)  # type: ignore[return-value]


class Acting:
    """A Human that is a function."""

    def __init__(self, act: Callable[[HumanView], object], *, report: str | None = None) -> None:
        self._act, self._report = act, report
        self.views: list[HumanView] = []

    def about(self) -> Participant:
        return Participant(name="acting", version="1")

    def act(self, view: HumanView) -> HumanAct:
        self.views.append(view)
        return self._act(view)  # type: ignore[return-value]

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        return self._report


def test_oracle_with_literal_human_ends_by_done() -> None:
    log, result = play()
    assert (result.reason, result.valid, result.turns, result.actions) == ("done", True, 4, 3)
    kinds = [type(e) for e in log.events()]
    assert kinds[0] is EpisodeOpened
    assert kinds[-1] is EpisodeEnded
    assert [e.phase for e in of(log, PhaseChanged)] == ["scene_init", "warmup", "closed_loop", "end"]
    assert [e.reason for e in of(log, WorldSnapshot)] == ["initial", "baseline", "final"]
    assert [e.decision for e in of(log, AssistantDecision)] == ["interrupt", "silent", "interrupt", "done"]
    assert [e.commands for e in of(log, HumanTurn)] == [
        ("[Grab] blue mug on table",), ("[NoOp]",), ("[TurnLeft]", "[Forward] 1"),
    ]  # fmt: skip
    assert [(e.action, e.source) for e in of(log, CommandIssued)] == [
        (0, "warmup"),
        (1, "human"),
        (2, "human"),
        (3, "human"),
    ]
    assert protocol_violations(log.events()) == ()


def test_same_inputs_give_the_same_root_hash() -> None:
    assert play()[0].root_hash == play()[0].root_hash


def test_warmup_asks_nobody_and_its_frames_count() -> None:
    assistant = Saying(lambda v: AssistantAct(decision="done"))
    log, _ = play(assistant=assistant)
    assert [f.frame_id for f in assistant.views[0].frames] == [f"f{i:06d}" for i in range(5)]
    assert assistant.views[0].turn == 1
    assert of(log, Observation)[0].available == 5


def test_meeting_every_objective_never_ends_it() -> None:
    log, result = play(assistant=SilentAssistant(), human=Acting(lambda v: HumanAct(commands=("[Grab] mug",))))
    assert result.reason == "turn_limit"
    assert result.turns == 3 * 3 + 8
    assert protocol_violations(log.events()) == ()


def test_action_limit_counts_refused_commands() -> None:
    task = changed(TASK, limits=Limits(turns=50, actions=5))
    human = Acting(lambda v: HumanAct(commands=("[Grab] bowl",)), report="I see no bowl.")
    log, result = play(task, assistant=SilentAssistant(), human=human)
    assert (result.reason, result.valid, result.actions, result.turns) == ("action_limit", True, 5, 5)
    assert [o.refused for o in of(log, PrimitiveOutcome)[1:]] == [True] * 5
    assert [u.text for u in of(log, Utterance)] == ["I see no bowl."] * 5
    assert audit_episode(log)[4].evidence == "5 turns, 0 with a reply; it says what failed 5 times"
    assert human.views[1].failures == ("I don't see any bowl here.",)
    assert protocol_violations(log.events()) == ()


def test_commands_beyond_the_action_limit_are_not_issued() -> None:
    task = changed(TASK, limits=Limits(turns=50, actions=2))
    log, result = play(
        task, assistant=SilentAssistant(), human=Acting(lambda v: HumanAct(commands=("[TurnLeft]",) * 5))
    )
    assert (result.reason, result.actions) == ("action_limit", 2)
    assert protocol_violations(log.events()) == ()


def test_commands_after_a_refused_one_are_dropped() -> None:
    act = HumanAct(commands=("[TurnLeft]", "[Grab] bowl", "[Grab] mug"), reply="Yes.")
    log, _ = play(assistant=OracleAssistant((OracleStep(say="Go on."),)), human=Acting(lambda v: act))
    assert [e.text for e in of(log, CommandIssued)[1:]] == ["[TurnLeft]", "[Grab] bowl"]
    assert of(log, HumanTurn)[0].commands == act.commands
    assert protocol_violations(log.events()) == ()


def test_literal_human_reports_the_refusal_and_the_assistant_hears_it() -> None:
    steps = (OracleStep(say="Take the bowl."), OracleStep())
    log, _ = play(assistant=OracleAssistant(steps))
    lines = [(s.speaker, s.text) for s in dialogue_of(log.events())]
    assert lines == [("assistant", "Take the bowl."), ("human", "I don't see any bowl here.")]


def test_a_turn_without_commands_lets_two_seconds_pass() -> None:
    log, _ = play(changed(TASK, warmup=()), assistant=OracleAssistant((OracleStep(), OracleStep())))
    assert [f.cause for f in of(log, FrameCaptured)] == ["initial", "idle", "idle"]
    assert of(log, EpisodeEnded)[0].sim_time_s == 4.0


def test_human_without_vision_gets_no_frame() -> None:
    human = Acting(lambda v: HumanAct())
    task = changed(TASK, human=HumanRole(role="You are blind.", restriction="accessibility", extra="Be careful."))
    log, _ = play(task, human=human)
    assert human.views[0].frames == ()
    assert human.views[0].restriction.endswith("Be careful.")
    assert human.views[0].proprioception == {"holding": "nothing", "room": "kitchen"}
    assert [o.frames for o in of(log, Observation) if o.role == "human"] == [(), (), ()]
    assert protocol_violations(log.events()) == ()


def test_sighted_human_sees_the_latest_four_frames() -> None:
    human = Acting(lambda v: HumanAct())
    play(human=human)
    assert [f.frame_id for f in human.views[0].frames] == ["f000001", "f000002", "f000003", "f000004"]
    assert human.views[0].instruction == "Take the blue mug from the table."
    assert human.views[1].instruction is None


def test_frames_are_drawn_from_the_state_at_their_capture() -> None:
    seen: list[str] = []

    def look(view: AssistantView) -> AssistantAct:
        import hashlib

        seen.extend(hashlib.sha256(f.pixels().tobytes()).hexdigest() for f in view.frames)
        return AssistantAct(decision="done")

    log, _ = play(assistant=Saying(look))
    assert seen == [f.pixels_sha256 for f in of(log, FrameCaptured)]
    assert len(set(seen)) == 5


def test_at_most_32_frames_by_the_index_rule() -> None:
    task = changed(TASK, warmup=("[TurnLeft]",) * 12)
    assistant = Saying(lambda v: AssistantAct(decision="done"))
    log, _ = play(task, assistant=assistant)
    ids = [f.frame_id for f in assistant.views[0].frames]
    assert len(ids) == 32
    assert ids == sorted(ids)
    older = [f"f{(i * 40 + 11) // 23:06d}" for i in range(24)]
    assert ids[:24] == older
    assert ids[-8:] == [f"f{i:06d}" for i in range(41, 49)]
    assert protocol_violations(log.events()) == ()


def test_memory_comes_back_to_the_assistant_only() -> None:
    assistant = Saying(lambda v: AssistantAct(decision="silent", memory=f"turn {v.turn}"))
    human = Acting(lambda v: HumanAct())
    log, _ = play(changed(TASK, limits=Limits(turns=3, actions=9)), assistant=assistant, human=human)
    assert [v.memory for v in assistant.views] == [None, "turn 1", "turn 2"]
    assert [d.memory for d in of(log, AssistantDecision)] == ["turn 1", "turn 2", "turn 3"]
    assert "turn 1" not in repr(human.views)


def boom(view: object) -> object:
    raise ValueError("boom")


def timeout(view: object) -> object:
    raise AnswerError("TIMEOUT", "no answer in 60 s")


@pytest.mark.parametrize(
    ("answer", "code", "detail"),
    [
        (boom, "RAISED", "ValueError: boom"),
        (timeout, "TIMEOUT", "no answer in 60 s"),
        (lambda v: None, "PROTOCOL", "AssistantAct, not NoneType"),
        (lambda v: AssistantAct(decision="interrupt"), "PROTOCOL", "must carry text"),
        (lambda v: AssistantAct(decision="silent", text="psst"), "PROTOCOL", "must not carry text"),
        (lambda v: AssistantAct(decision="speak", text="a"), "PROTOCOL", "'speak'"),
        (lambda v: AssistantAct(decision="interrupt", text="a\ud800"), "PROTOCOL", "surrogate"),
    ],
)
def test_assistant_fault_ends_the_episode_as_invalid(
    answer: Callable[[object], object], code: str, detail: str
) -> None:
    log, result = play(assistant=Saying(answer))
    assert (result.reason, result.valid) == ("fault", False)
    (fault,) = of(log, Fault)
    assert (fault.source, fault.code) == ("participant:assistant", code)
    assert detail in fault.detail
    assert detail in of(log, EpisodeEnded)[0].detail
    assert of(log, AssistantDecision) == []
    assert protocol_violations(log.events()) == ()


@pytest.mark.parametrize(
    ("answer", "code", "detail"),
    [
        (boom, "RAISED", "ValueError: boom"),
        (lambda v: "walk", "PROTOCOL", "HumanAct, not str"),
        (lambda v: HumanAct(commands=("[NoOp]", "[TurnLeft]")), "PROTOCOL", "stands alone"),
        (lambda v: HumanAct(commands=("[TurnLeft]",) * 33), "PROTOCOL", "33 commands"),
        (lambda v: HumanAct(commands=("[TurnLeft]\n[Grab] mug",)), "PROTOCOL", "line break"),
        (lambda v: HumanAct(commands=("[TurnLeft]",), from_intent=True), "PROTOCOL", "from_intent"),
        (lambda v: HumanAct(commands=["[TurnLeft]"]), "PROTOCOL", "tuple of strings"),  # type: ignore[arg-type]
        (lambda v: HumanAct(reply=3), "PROTOCOL", "text or nothing"),  # type: ignore[arg-type]
    ],
)
def test_human_fault_ends_the_episode_as_invalid(answer: Callable[[object], object], code: str, detail: str) -> None:
    log, result = play(human=Acting(answer))
    (fault,) = of(log, Fault)
    assert (result.reason, fault.source, fault.code) == ("fault", "participant:human", code)
    assert detail in fault.detail
    assert of(log, HumanTurn) == []
    assert protocol_violations(log.events()) == ()


def test_noop_is_one_spelling() -> None:
    log, _ = play(human=Acting(lambda v: HumanAct(commands=("[noop]",))))
    assert {t.commands for t in of(log, HumanTurn)} == {("[NoOp]",)}
    assert of(log, CommandIssued)[1:] == []


def test_simulator_failure_is_a_fault() -> None:
    class Failing(FakeSimulator):
        def step(self, n: int = 1) -> None:
            if n > 30:
                raise SimulatorError("the physics diverged")
            super().step(n)

    log, result = play(simulator=Failing())
    assert result.reason == "fault"
    assert of(log, Fault)[0].source == "simulator"
    assert [e.phase for e in of(log, PhaseChanged)][-1] == "end"


def test_a_bug_is_logged_and_raised() -> None:
    log = MemoryLog()
    with pytest.raises(ZeroDivisionError):
        play(human=Acting(lambda v: HumanAct(commands=("[Touch] mug",))), log=log)
    assert of(log, Fault)[0].code == "ZeroDivisionError"
    assert of(log, EpisodeEnded)[0].valid is False


def test_failing_warmup_is_a_fault() -> None:
    log, result = play(changed(TASK, warmup=("[Grab] bowl",)))
    assert (result.reason, of(log, Fault)[0].code) == ("fault", "WARMUP")
    assert of(log, AssistantDecision) == []


def test_interruption_leaves_a_whole_invalid_log() -> None:
    calls = iter(range(100))

    def checkpoint() -> None:
        if next(calls) == 5:
            raise KeyboardInterrupt

    log, result = play(checkpoint=checkpoint)
    assert (result.reason, result.valid) == ("interrupted", False)
    assert of(log, Fault)[0].source == "user"
    assert of(log, EpisodeEnded)[0].reason == "interrupted"
    assert protocol_violations(log.events()) == ()


def test_every_answer_and_turn_is_a_commit_point() -> None:
    class Counting(MemoryLog):
        def __init__(self) -> None:
            super().__init__()
            self.commits: list[type[Event]] = []

        def commit(self) -> None:
            self.commits.append(type(self.at_seq(len(self) - 1)))

    log = Counting()
    play(log=log)
    assert log.commits.count(AssistantDecision) == 4
    assert log.commits.count(HumanTurn) == 3
    assert log.commits[-1] is EpisodeEnded
    assert len(log.commits) >= 4 + 3 + 3 + 1


def test_periodic_snapshots_come_at_least_so_often() -> None:
    log, _ = play(snapshot_every=10)
    since = 0
    for event in log.events():
        since = 0 if isinstance(event, WorldSnapshot) else since + 1
        assert since < 10
    assert sum(e.reason == "periodic" for e in of(log, WorldSnapshot)) > 3
    assert protocol_violations(log.events()) == ()


def test_a_leak_in_the_request_is_a_hard_error_before_the_assistant_is_asked() -> None:
    assistant = Saying(lambda v: AssistantAct(decision="done"))
    log, result = play(changed(TASK, request="Please help me with mug_1."), assistant=assistant)
    assert (result.reason, of(log, Fault)[0].code) == ("fault", "LEAK")
    assert assistant.views == []


def test_a_leak_in_what_the_human_says_is_a_hard_error() -> None:
    human = Acting(lambda v: HumanAct(reply="I have mug_1 in my hand."))
    log, result = play(human=human)
    assert result.reason == "fault"
    assert "mug_1" in of(log, Fault)[0].detail
    assert [v.statement for v in protocol_violations(log.events())] == [14]


def test_literal_human_repeats_the_assistants_words_without_leaking() -> None:
    steps = (OracleStep(say="Juggle the mug on the table."), OracleStep(say="Thank you for trying that."))
    task = changed(TASK, oracle=steps)
    log, result = play(task)
    assert result.reason == "done"
    assert of(log, HumanTurn)[0].reply == 'I did not understand: "juggle the mug on the table"'
    assert LiteralHuman().about().name == "literal"
