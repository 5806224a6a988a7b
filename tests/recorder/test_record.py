"""Recording to disk: a sealed log, whatever happens."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from iwreplay.errors import LogWriteError, TaskError
from iwreplay.events import EpisodeEnded, EpisodeOpened, Participant, PrimitiveOutcome
from iwreplay.log import check, read_log
from iwreplay.loop import configured, protocol_violations
from iwreplay.ports import Assistant, AssistantAct, AssistantView, Human, HumanAct, HumanView
from iwreplay.taskpack.model import ScriptedWorldEvent, TaskPack, Trigger
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman
from recorder.interrupts import Interrupts
from recorder.record import Recorded, RecordingInterrupted, record_episode
from replayer import reexecute
from tests.loop.fakes import SCENE, TASK, FakeEngine, FakeFrames, FakeSimulator, changed


def record(
    path: Path, *, task: TaskPack = TASK, assistant: Assistant | None = None, human: Human | None = None
) -> Recorded:
    return record_episode(
        task,
        scene=SCENE,
        assistant=assistant or OracleAssistant(TASK.oracle),
        human=human or LiteralHuman(),
        simulator=FakeSimulator,
        frames=lambda scene, config: FakeFrames(config),
        path=path,
        config=configured(TASK, frame_width=8, frame_height=6),
        engine=FakeEngine,
        fingerprint={"python": "test"},
    )


class Pressing(OracleAssistant):
    """Presses Ctrl-C in its second turn, and is asked nothing more."""

    def decide(self, view: AssistantView) -> AssistantAct:
        if view.turn == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return super().decide(view)


def test_a_recording_is_sealed_and_reexecutes(tmp_path: Path) -> None:
    done = record(tmp_path / "a.iwlog")
    assert (done.result.reason, done.result.valid) == ("done", True)
    with read_log(done.path) as log:
        assert log.state == "sealed"
        assert log.root_hash == done.root_hash
        assert len(log) == done.events
        assert protocol_violations(log.events()) == ()
        again = reexecute(
            log,
            simulator=FakeSimulator,
            frames=lambda scene, config: FakeFrames(config),
            engine=FakeEngine,
            fingerprint={"python": "test"},
        )
        assert again.exact
        assert again.recorded_root == done.root_hash


def test_the_same_recording_has_the_same_root_hash(tmp_path: Path) -> None:
    assert record(tmp_path / "a.iwlog").root_hash == record(tmp_path / "b.iwlog").root_hash


def test_an_existing_log_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.iwlog").write_bytes(b"mine")
    with pytest.raises(LogWriteError):
        record(tmp_path / "a.iwlog")
    assert (tmp_path / "a.iwlog").read_bytes() == b"mine"


def test_ctrl_c_while_a_participant_thinks_leaves_a_sealed_log(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RecordingInterrupted) as caught:
        record(tmp_path / "a.iwlog", assistant=Pressing(TASK.oracle))
    assert signal.getsignal(signal.SIGINT) is before
    done = caught.value.recorded
    assert (done.result.reason, done.result.valid, done.result.turns) == ("interrupted", False, 2)
    with read_log(done.path) as log:
        assert log.state == "sealed"
        last = log.at_seq(len(log) - 1)
        assert isinstance(last, EpisodeEnded)
        assert last.reason == "interrupted"
        assert protocol_violations(log.events()) == ()


def test_ctrl_c_during_an_action_waits_for_its_end(tmp_path: Path) -> None:
    class Engine(FakeEngine):
        def execute(self, command: str, *, action: int) -> PrimitiveOutcome:
            if action == 1:
                os.kill(os.getpid(), signal.SIGINT)
            return super().execute(command, action=action)

    with pytest.raises(RecordingInterrupted) as caught:
        record_episode(
            TASK,
            scene=SCENE,
            assistant=OracleAssistant(TASK.oracle),
            human=LiteralHuman(),
            simulator=FakeSimulator,
            frames=lambda scene, config: FakeFrames(config),
            path=tmp_path / "a.iwlog",
            engine=Engine,
        )
    assert caught.value.recorded.result.actions == 1
    with read_log(tmp_path / "a.iwlog") as log:
        assert log.state == "sealed"
        assert protocol_violations(log.events()) == ()


def test_a_second_ctrl_c_breaks_off_and_leaves_the_log_open(tmp_path: Path) -> None:
    class Stubborn(OracleAssistant):
        def decide(self, view: AssistantView) -> AssistantAct:
            if view.turn == 2:
                for _ in range(2):
                    try:
                        os.kill(os.getpid(), signal.SIGINT)
                    except KeyboardInterrupt:
                        continue
            return super().decide(view)

    with pytest.raises(KeyboardInterrupt, match="broken off"):
        record(tmp_path / "a.iwlog", assistant=Stubborn(TASK.oracle))
    with read_log(tmp_path / "a.iwlog") as log:
        assert log.state == "open"
        assert isinstance(log.at_seq(0), EpisodeOpened)


def test_interrupts_are_left_alone_outside_the_main_thread() -> None:
    seen: list[bool] = []

    def work() -> None:
        with Interrupts() as interrupts:
            interrupts.checkpoint()
            seen.append(interrupts.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


def test_a_bug_is_raised_with_the_log_sealed(tmp_path: Path) -> None:
    class Breaking:
        def about(self) -> Participant:
            return Participant(name="breaking", version="1")

        def act(self, view: HumanView) -> HumanAct:
            return HumanAct(commands=("[Touch] mug",))

        def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
            return None

    with pytest.raises(ZeroDivisionError):
        record(tmp_path / "a.iwlog", human=Breaking())
    with read_log(tmp_path / "a.iwlog") as log:
        assert log.state == "sealed"
    assert check(tmp_path / "a.iwlog").complete


def test_a_task_that_makes_no_sense_leaves_nothing_behind(tmp_path: Path) -> None:
    scripted = ScriptedWorldEvent(id="a", when=Trigger(after="nobody"), do=())
    with pytest.raises(TaskError):
        record(tmp_path / "a.iwlog", task=changed(TASK, script=(scripted,)))
    assert not (tmp_path / "a.iwlog").exists()
