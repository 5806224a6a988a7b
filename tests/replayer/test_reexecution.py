"""Re-execution against logs of the tiny world: exact for its own log, and every change found at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from iwreplay.errors import LogError
from iwreplay.events import (
    AssistantDecision,
    EpisodeOpened,
    Event,
    FrameCaptured,
    HumanTurn,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
)
from iwreplay.log import MemoryLog
from iwreplay.loop import AnswerError
from iwreplay.ports import AssistantAct, AssistantView, HumanAct, HumanView
from iwreplay.taskpack.model import HumanRole, OracleStep, ScriptAction, ScriptedWorldEvent, Trigger
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman
from replayer import Reexecution, reexecute
from tests.loop.fakes import TASK, FakeEngine, FakeFrames, FakeSimulator, changed, play

TASK_2 = changed(
    TASK,
    oracle=(
        OracleStep(say="Take the blue mug from the table."),
        OracleStep(say="Take the bowl."),
        OracleStep(),
        OracleStep(say="Turn left, then go forward two steps."),
    ),
    script=(
        ScriptedWorldEvent(
            id="call",
            when=Trigger(turn=3),
            do=(ScriptAction(do="ring", thing="phone_1"), ScriptAction(do="say", speaker="human", text="Oh, a call.")),
        ),
    ),
)


class Log:
    """Events as a log, whatever was done to them."""

    def __init__(self, events: list[Event], root_hash: str | None = None) -> None:
        self._events, self.root_hash = events, root_hash

    def __iter__(self) -> Iterator[tuple[int, Event]]:
        return iter(enumerate(self._events))


def again(
    log: MemoryLog | Log,
    *,
    simulator: Callable[[], FakeSimulator] = FakeSimulator,
    renderer: str = "fake/1",
    fingerprint: dict[str, str] | None = None,
    fail_fast: bool = False,
) -> Reexecution:
    return reexecute(
        log,
        simulator=simulator,
        frames=lambda scene, config: FakeFrames(config, renderer=renderer),
        engine=FakeEngine,
        fingerprint={"python": "test"} if fingerprint is None else fingerprint,
        fail_fast=fail_fast,
    )


@pytest.fixture(scope="module")
def recorded() -> MemoryLog:
    return play(TASK_2)[0]


def edited(log: MemoryLog, kind: type[Event], n: int, **fields: object) -> tuple[Log, int]:
    """The log with fields of the n-th event of a kind changed, and its seq."""
    events = list(log.events())
    seq = [i for i, e in enumerate(events) if type(e) is kind][n]
    events[seq] = msgspec.structs.replace(events[seq], **fields)
    return Log(events), seq


def test_a_log_reexecutes_exactly(recorded: MemoryLog) -> None:
    found = again(recorded)
    assert found.exact
    assert (found.verdict, found.exit_code, found.first, found.environment) == ("exact", 0, None, ())
    assert found.root == recorded.root_hash
    assert found.events_compared == len(recorded)
    assert {s.grade for s in found.steps} == {"exact"}
    assert [s.command for s in found.steps if s.kind == "command_issued"] == [
        "[Walk] table", "[Grab] blue mug on table", "[Grab] bowl", "[TurnLeft]", "[Forward] 1",
    ]  # fmt: skip


def test_a_tampered_attribute_is_found_where_it_is(recorded: MemoryLog) -> None:
    log, seq = edited(recorded, StateDelta, 1, new=False)
    found = again(log)
    assert (found.verdict, found.exit_code) == ("outcome-equal", 1)
    first = found.first
    assert first is not None
    assert (first.seq, first.kind, first.object, first.field, first.expected, first.got) == (
        seq, "state_delta", "mug_1", "held", "false", "true",
    )  # fmt: skip
    assert first.turn == 1
    assert first.decision is not None
    assert (first.decision.turn, first.decision.text) == (1, "Take the blue mug from the table.")
    assert "Take the blue mug" in str(first)
    bad = [s for s in found.steps if s.grade != "exact"]
    assert bad[0].command == "[Grab] blue mug on table"


def test_a_tampered_pose_is_within_tolerance_or_not(recorded: MemoryLog) -> None:
    poses = next(e for e in recorded.events() if isinstance(e, PosesSampled))
    last = sum(isinstance(e, PosesSampled) for e in recorded.events()) - 1
    x = [e for e in recorded.events() if isinstance(e, PosesSampled)][last].values[0]
    near, seq = edited(recorded, PosesSampled, last, values=(x + 0.004, *poses.values[1:]))
    found = again(near)
    step = next(s for s in found.steps if s.grade != "exact")
    assert (step.command, step.grade) == ("[Forward] 1", "within-tolerance")
    first = found.first
    assert first is not None
    assert (first.seq, first.object, first.field) == (seq, "mug_1", "pose.x")
    far, _ = edited(recorded, PosesSampled, last, values=(x + 0.04, *poses.values[1:]))
    assert next(s.grade for s in again(far).steps if s.grade != "exact") == "outcome-equal"


def test_a_tampered_frame_hash_leaves_the_state_equal(recorded: MemoryLog) -> None:
    log, seq = edited(recorded, FrameCaptured, 2, pixels_sha256="0" * 64)
    found = again(log)
    assert (found.verdict, found.difference_count) == ("state-equal", 1)
    assert found.first is not None
    assert (found.first.seq, found.first.object, found.first.field) == (seq, "f000002", "pixels_sha256")
    assert found.first.decision is None  # a frame of the warmup


def test_a_tampered_outcome_diverges(recorded: MemoryLog) -> None:
    log, seq = edited(recorded, PrimitiveOutcome, 2, code="NOT_VISIBLE")
    found = again(log)
    assert found.verdict == "diverged"
    assert found.first is not None
    assert (found.first.seq, found.first.field, found.first.expected, found.first.got) == (
        seq, "code", '"NOT_VISIBLE"', '"UNKNOWN_TARGET"',
    )  # fmt: skip


def test_a_changed_physical_constant_is_found_at_the_first_sample(recorded: MemoryLog) -> None:
    found = again(recorded, simulator=lambda: FakeSimulator(drift_m=1.2e-5))
    first = found.first
    assert first is not None
    samples = [i for i, e in enumerate(recorded.events()) if isinstance(e, PosesSampled)]
    assert (first.seq, first.kind, first.object, first.field) == (samples[1], "poses_sampled", "mug_1", "pose.x")
    assert found.environment == ()  # it does not say that it is another engine, and is found out
    grades = [s.grade for s in found.steps]
    assert "within-tolerance" in grades
    assert found.difference_count > len(samples)


def test_a_renamed_object_is_found() -> None:
    log = play(TASK_2)[0]
    events = list(log.events())
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    things = list(opened.scene.things)
    things[1] = msgspec.structs.replace(things[1], id="cup_1")
    renamed = msgspec.structs.replace(opened, scene=msgspec.structs.replace(opened.scene, things=tuple(things)))
    found = again(Log([renamed, *events[1:]]))
    assert found.first is not None
    assert (found.first.seq, found.first.kind, found.first.field) == (0, "episode_opened", "scene_hash")
    assert any(d.object == "cup_1" or "cup_1" in d.got for d in found.differences)
    assert found.verdict == "diverged"


def test_another_engine_version_is_listed_and_compared_all_the_same(recorded: MemoryLog) -> None:
    found = again(recorded, simulator=lambda: FakeSimulator(version="2"), fingerprint={"python": "other"})
    assert [(e.name, e.recorded, e.here) for e in found.environment] == [
        ("simulator", "fake 1 (deterministic=yes, snapshot=exact)", "fake 2 (deterministic=yes, snapshot=exact)"),
        ("python", "test", "other"),
    ]
    assert (found.verdict, found.exit_code, found.exact) == ("state-equal", 1, False)
    assert [s.grade for s in found.steps].count("state-equal") == 1
    assert found.first is not None
    assert (found.first.seq, found.first.field) == (0, "simulator.version")
    assert found.root != found.recorded_root


def test_another_renderer_changes_pixels_only(recorded: MemoryLog) -> None:
    found = again(recorded, renderer="fake/2")
    assert found.verdict == "state-equal"
    assert [e.name for e in found.environment] == ["renderer"]


def test_fail_fast_keeps_the_first_difference_and_stops(recorded: MemoryLog) -> None:
    slow = again(recorded, simulator=lambda: FakeSimulator(drift_m=1.2e-5))
    fast = again(recorded, simulator=lambda: FakeSimulator(drift_m=1.2e-5), fail_fast=True)
    assert fast.stopped
    assert not slow.stopped
    assert fast.differences == slow.differences[:1]
    assert len(fast.steps) < len(slow.steps)
    assert fast.exit_code == 1


def test_a_missing_step_and_an_extra_step_are_found(recorded: MemoryLog) -> None:
    events = list(recorded.events())
    issued = [i for i, e in enumerate(events) if type(e).__name__ == "CommandIssued"]
    # the log lacks the last command: the re-execution has a step too many
    cut = (
        events[: issued[-1]]
        + events[next(i for i in range(issued[-1], len(events)) if type(events[i]).__name__ == "Observation") :]
    )
    extra = again(Log(cut))
    assert extra.verdict == "diverged"
    assert any(
        d.field == "(event)" and d.expected == "nothing" and d.kind == "command_issued" for d in extra.differences
    )
    # the Human of the log says one command less than the log executed
    fewer, _ = edited(recorded, HumanTurn, 3, commands=("[TurnLeft]",))
    missing = again(fewer)
    assert any(d.field == "(event)" and d.got == "nothing" and d.kind == "command_issued" for d in missing.differences)
    assert missing.verdict == "diverged"


def test_events_in_another_order_are_found(recorded: MemoryLog) -> None:
    events = list(recorded.events())
    i = next(i for i, e in enumerate(events) if isinstance(e, PosesSampled) and e.turn == 1)
    events[i], events[i + 1] = events[i + 1], events[i]
    found = again(Log(events))
    assert found.first is not None
    assert (found.first.seq, found.first.field) == (i, "(order)")
    assert found.verdict == "state-equal"


@pytest.mark.parametrize("length", [1, 7, 30, 45, 60])
def test_a_cut_log_is_compared_as_far_as_it_goes(recorded: MemoryLog, length: int) -> None:
    found = again(Log(list(recorded.events())[:length]))
    assert (found.verdict, found.log_ended, found.events_compared) == ("exact", False, length)
    assert found.recorded_root is None


def test_an_interrupted_episode_reexecutes_exactly() -> None:
    for at in range(2, 9):
        calls = iter(range(100))

        def checkpoint(calls: Iterator[int] = calls, at: int = at) -> None:
            if next(calls) == at:
                raise KeyboardInterrupt

        log, result = play(TASK_2, checkpoint=checkpoint)
        assert result.reason == "interrupted"
        assert again(log).exact, f"interrupted at checkpoint {at}"


def test_an_interrupt_inside_a_participant_reexecutes_exactly() -> None:
    class Slow(OracleAssistant):
        def decide(self, view: AssistantView) -> AssistantAct:
            if view.turn == 3:
                raise KeyboardInterrupt
            return super().decide(view)

    log, result = play(TASK_2, assistant=Slow(TASK_2.oracle))
    assert result.reason == "interrupted"
    assert again(log).exact


def test_faults_of_participants_reexecute_exactly() -> None:
    class Failing(OracleAssistant):
        def decide(self, view: AssistantView) -> AssistantAct:
            if view.turn == 2:
                raise AnswerError("TIMEOUT", "no answer in 60 s")
            return super().decide(view)

    class Clumsy(LiteralHuman):
        def act(self, view: HumanView) -> HumanAct:
            if view.turn == 2:
                raise ValueError("odd")
            return super().act(view)

    class Mute(LiteralHuman):
        def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
            if not outcomes[-1].ok:
                raise ValueError("mute")
            return None

    for log, result in (
        play(TASK_2, assistant=Failing(TASK_2.oracle)),
        play(TASK_2, human=Clumsy()),
        play(TASK_2, human=Mute()),
    ):
        assert result.reason == "fault"
        assert again(log).exact


def test_intents_reexecute_exactly() -> None:
    role = HumanRole(role="You tidy.", restriction="prevention", intent=("[TurnLeft]", "[Grab] bowl", "[TurnRight]"))
    log, _ = play(changed(TASK_2, human=role), assistant=OracleAssistant((OracleStep(),) * 6))
    assert again(log).exact


def test_reports_are_not_taken_for_scripted_words(recorded: MemoryLog) -> None:
    decisions = [e for e in recorded.events() if isinstance(e, AssistantDecision)]
    assert len(decisions) == 5
    assert again(recorded).exact


def test_a_log_without_opening_is_refused() -> None:
    with pytest.raises(LogError, match="begins with EpisodeOpened"):
        again(Log(list(play()[0].events())[1:]))
    with pytest.raises(LogError, match="no event"):
        again(Log([]))


def test_a_change_of_any_event_is_found_at_that_event() -> None:
    log = play()[0]
    events = list(log.events())
    for seq, event in enumerate(events):
        later = msgspec.structs.replace(event, sim_time_s=event.sim_time_s + 0.001)
        first = again(Log([*events[:seq], later, *events[seq + 1 :]]), fail_fast=True).first
        assert first is not None
        assert (first.seq, first.field) == (seq, "sim_time_s"), type(event).__name__


def test_an_event_that_is_taken_out_is_found() -> None:
    log = play()[0]
    events = list(log.events())
    for seq in range(1, len(events) - 1):
        found = again(Log([*events[:seq], *events[seq + 1 :]]), fail_fast=True)
        assert not found.exact, f"{type(events[seq]).__name__} at {seq}"
        assert found.first is not None


class _CtrlC(FakeSimulator):
    """The user of the replay presses Ctrl-C while physics is stepped."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    def step(self, n: int = 1) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        super().step(n)


@pytest.mark.parametrize("fail_fast", [False, True])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_ctrl_c_in_a_replay_is_no_verdict(recorded: MemoryLog, after: int, fail_fast: bool) -> None:
    with pytest.raises(KeyboardInterrupt):
        again(recorded, simulator=lambda: _CtrlC(after), fail_fast=fail_fast)
