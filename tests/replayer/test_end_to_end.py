"""The real thing: engine, physics, renderer, log and participants on the proving ground."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from iwreplay.events import (
    CommandIssued,
    EpisodeConfig,
    EpisodeOpened,
    Event,
    Participant,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
    WorldSnapshot,
)
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import LogWriter, read_log
from iwreplay.loop import configured, protocol_violations
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.loader import compile_task
from iwreplay.taskpack.model import (
    HumanRole,
    Objective,
    OracleStep,
    ScriptAction,
    ScriptedWorldEvent,
    TaskPack,
    Trigger,
)
from iwreplay.world.state import fold
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman
from recorder.record import Recorded, record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator
from replayer import Reexecution, reexecute, replay_frames

TASK = TaskPack(
    format=1,
    id="G90",
    family="guidance",
    title="A mug for the tray",
    scene="proving_ground",
    request="Please help me to set things up.",
    human=HumanRole(role="You are in your workshop.", restriction="guidance"),
    warmup=("[Walk] dining table",),
    script=(
        ScriptedWorldEvent(
            id="call",
            when=Trigger(formula=["held", "mug_1"]),
            do=(
                ScriptAction(do="ring", thing="phone_1"),
                ScriptAction(do="say", speaker="colleague", text="Your phone is ringing!"),
            ),
        ),
        ScriptedWorldEvent(
            id="quiet", when=Trigger(after="call", turn=4), do=(ScriptAction(do="stop_ring", thing="phone_1"),)
        ),
    ),
    oracle=(
        OracleStep(say="Pick up the blue mug.", do=("[Grab] blue mug",)),
        OracleStep(say="Take the purple hippo."),
        OracleStep(),
        OracleStep(
            say="Put the mug back on the dining table, then turn around and take one step forward.",
            do=("[PutOn] mug, dining table", "[TurnAround]", "[Forward] 0.5"),
        ),
    ),
    objectives=(Objective(id="mug_down", text="The mug is on the table.", formula=["not", ["held", "mug_1"]]),),
)


def make_frames(scene: CompiledScene, config: EpisodeConfig) -> FrameMaker:
    return FrameMaker(scene, config=config, threads=1)


class OtherVersion(MujocoSimulator):
    """Says that it is another version; computes the same."""

    def about(self) -> Participant:
        return msgspec.structs.replace(super().about(), version="0.0.0")


class OtherGravity(MujocoSimulator):
    """Computes something else; says nothing of it."""

    def load(self, scene: CompiledScene) -> None:
        super().load(scene)
        self._model.opt.gravity[2] = -4.0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record_episode(
        TASK,
        scene=compile_task(TASK),
        assistant=OracleAssistant(TASK.oracle),
        human=LiteralHuman(),
        simulator=MujocoSimulator,
        frames=make_frames,
        path=tmp_path_factory.mktemp("e2e") / "episode.iwlog",
        config=configured(TASK, frame_width=64, frame_height=48, snapshot_every=100),
    )


def again(path: Path, *, simulator: type[MujocoSimulator] = MujocoSimulator, fail_fast: bool = True) -> Reexecution:
    with read_log(path) as log:
        return reexecute(log, simulator=simulator, frames=make_frames, fail_fast=fail_fast)


def rewritten(recorded: Recorded, folder: Path, kind: type[Event], n: int, **fields: object) -> tuple[Path, int]:
    """A sealed log in which one event says something else: only a re-execution can know."""
    path = folder / "tampered.iwlog"
    with read_log(recorded.path) as log:
        events = list(log.events())
    seq = [i for i, e in enumerate(events) if type(e) is kind][n]
    events[seq] = msgspec.structs.replace(events[seq], **fields)
    writer = LogWriter.create(path)
    for event in events:
        writer.append(event)
    writer.seal()
    return path, seq


def test_the_episode_goes_as_it_should(recorded: Recorded) -> None:
    assert (recorded.result.reason, recorded.result.valid) == ("done", True)
    with read_log(recorded.path) as log:
        events = list(log.events())
        assert log.state == "sealed"
    outcomes = [(e.command, e.code) for e in events if isinstance(e, PrimitiveOutcome)]
    assert outcomes == [
        ("[Walk] dining table", "OK"),
        ("[Grab] blue mug", "OK"),
        ("[Grab] purple hippo", "UNKNOWN_TARGET"),
        ("[PutOn] mug, dining table", "OK"),
        ("[TurnAround]", "OK"),
        ("[Forward] 0.5", "OK"),
    ]
    assert [(e.script, e.turn) for e in events if isinstance(e, ScriptedEvent)] == [("call", 1), ("quiet", 4)]
    assert {e.speaker for e in events if isinstance(e, Utterance)} == {"colleague", "human"}


def test_the_log_follows_the_protocol(recorded: Recorded) -> None:
    with read_log(recorded.path) as log:
        assert protocol_violations(log.events()) == ()


def test_it_reexecutes_exactly(recorded: Recorded) -> None:
    found = again(recorded.path, fail_fast=False)
    assert found.first is None, str(found.first)
    assert found.exact
    assert found.root == recorded.root_hash
    assert found.events_compared == recorded.events


def test_its_frames_are_drawn_again_from_the_log_alone(recorded: Recorded) -> None:
    with read_log(recorded.path) as log:
        frames = list(replay_frames(log, frames=make_frames))
        assert len(frames) > 20
        assert all(f.ok for f in frames)
        for _, event, state in fold(log):
            if isinstance(event, WorldSnapshot):
                assert state.snapshot(event.reason) == event


def test_a_tampered_event_is_found_although_the_log_is_sealed(recorded: Recorded, tmp_path: Path) -> None:
    with read_log(recorded.path) as log:
        grabbed = [e for e in log.events() if isinstance(e, StateDelta)]
    n = next(i for i, e in enumerate(grabbed) if (e.thing, e.attr, e.new) == ("mug_1", "held", True))
    path, seq = rewritten(recorded, tmp_path, StateDelta, n, new=False)
    first = again(path).first
    assert first is not None
    assert (first.seq, first.object, first.field, first.expected, first.got) == (seq, "mug_1", "held", "false", "true")
    assert first.decision is not None
    assert first.decision.text == "Pick up the blue mug."


def test_a_changed_command_is_found(recorded: Recorded, tmp_path: Path) -> None:
    path, seq = rewritten(recorded, tmp_path, CommandIssued, 1, text="[Grab] red mug")
    first = again(path).first
    assert first is not None
    assert (first.seq, first.kind, first.field) == (seq, "command_issued", "text")


def test_a_changed_physical_constant_is_found(recorded: Recorded) -> None:
    found = again(recorded.path, simulator=OtherGravity)
    assert found.exit_code == 1
    assert found.environment == ()
    first = found.first
    assert first is not None
    with read_log(recorded.path) as log:
        event = log.at_seq(first.seq)
    assert isinstance(event, PosesSampled)
    assert first.field.startswith("pose.") or first.field in ("things", "step", "joints")
    assert found.steps[-1].grade != "exact"
    assert found.stopped


def test_a_renamed_object_is_found(recorded: Recorded, tmp_path: Path) -> None:
    with read_log(recorded.path) as log:
        opened = log.at_seq(0)
    assert isinstance(opened, EpisodeOpened)
    things = tuple(msgspec.structs.replace(t, id="cup_9") if t.id == "mug_1" else t for t in opened.scene.things)
    task = msgspec.structs.replace(opened.task, script=(), objectives=())
    scene = msgspec.structs.replace(opened.scene, things=things)
    path, _ = rewritten(recorded, tmp_path, EpisodeOpened, 0, scene=scene, task=task)
    first = again(path).first
    assert first is not None
    assert (first.seq, first.field) == (0, "scene_hash")


def test_another_engine_version_is_listed_and_the_rest_still_compared(recorded: Recorded) -> None:
    found = again(recorded.path, simulator=OtherVersion, fail_fast=False)
    assert [e.name for e in found.environment] == ["simulator"]
    assert (found.verdict, found.exit_code) == ("state-equal", 1)
    assert {g.grade for g in found.steps[1:]} == {"exact"}
    assert found.first is not None
    assert (found.first.seq, found.first.field) == (0, "simulator.version")
