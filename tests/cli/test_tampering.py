"""A real recorded log that was changed behind a good seal, and engines that are not the recorded one: `iwreplay replay`
finds each where it is, and says what it was and what really follows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from iwreplay.canonical import canonical_bytes, struct_hash
from iwreplay.events import (
    BodyPosed,
    CommandIssued,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    FrameCaptured,
    Happened,
    HumanTurn,
    Observation,
    Participant,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
    WorldSnapshot,
)
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import LogWriter, check, read_log
from iwreplay.loop import configured
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.loader import load_tasks, validate_task
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman
from recorder.record import record_episode
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.cli.conftest import Run

#: the words that the deeds of this episode follow from, by turn
UPSTREAM = {
    2: "Stop. That is the sponge you wiped the table with. Walk to the used bin and put it in the used bin.",
    3: "Pick up the sponge on the counter.",
    4: "Put the sponge in the clean cabinet and close the clean cabinet.",
}


class OtherGravity(MujocoSimulator):
    """A lighter world; says nothing of it."""

    def load(self, scene: CompiledScene) -> None:
        super().load(scene)
        self._model.opt.gravity[2] = -9.0


class OtherFriction(MujocoSimulator):
    """Slippery; says nothing of it."""

    def load(self, scene: CompiledScene) -> None:
        super().load(scene)
        self._model.geom_friction[:, 0] = 0.05


class DeclaredFriction(OtherFriction):
    """Slippery, and says so, as the backend does when one of its constants is changed."""

    def about(self) -> Participant:
        about = super().about()
        return msgspec.structs.replace(about, params={**about.params, "physics": "0123456789abcdef"})


class OtherVersion(MujocoSimulator):
    """Computes the same under another version."""

    def about(self) -> Participant:
        return msgspec.structs.replace(super().about(), version="3.9.9")


def _record(path: Path, simulator: type[MujocoSimulator] = MujocoSimulator) -> Path:
    """The oracle's episode of V06, with small drawn frames."""
    task = next(t for t in load_tasks() if t.id == "V06")
    record_episode(
        task,
        scene=validate_task(task),
        assistant=OracleAssistant(task.oracle),
        human=LiteralHuman(),
        simulator=simulator,
        frames=lambda scene, config: FrameMaker(scene, config=config, threads=1),
        path=path,
        config=configured(task, frame_width=64, frame_height=48),
    )
    return path


def _events(path: Path) -> list[Event]:
    with read_log(path) as log:
        return list(log.events())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _record(tmp_path_factory.mktemp("honest") / "log.arrows")


@pytest.fixture(scope="module")
def events(recorded: Path) -> list[Event]:
    return _events(recorded)


def _forged(events: list[Event], folder: Path, changes: dict[int, Event | None]) -> Path:
    """A log with checksums, digests, links, chain and seal of its own: nothing but its content is wrong. None leaves an
    event out."""
    path = folder / "forged.arrows"
    with LogWriter.create(path) as out:
        for seq, event in enumerate(events):
            new = changes.get(seq, event)
            if new is not None:
                out.append(new)
        out.seal()
    checked = check(path)
    assert (checked.state, checked.complete) == ("sealed", True), "the forgery is well-formed"
    return path


def _where(events: list[Event], wanted: Callable[[Event], bool]) -> int:
    return next(seq for seq, event in enumerate(events) if wanted(event))


def _first(run: Run, path: Path, store: Path) -> dict[str, Any]:
    done = run("replay", path, "--fail-fast", "--json", "--store", store)
    answer = done.json()
    assert done.code == 1, done.err
    assert answer["grade"] != "exact"
    first: dict[str, Any] = answer["first_divergence"]
    assert set(first) >= {"seq", "sim_time_s", "turn", "kind", "object", "field", "expected", "got", "decision"}
    return first


def test_the_honest_log_is_exact(run: Run, recorded: Path, tmp_path: Path) -> None:
    done = run("replay", recorded, "--json", "--store", tmp_path)
    assert (done.code, done.json()["grade"], done.json()["environment"]) == (0, "exact", [])


def test_a_log_without_an_end_is_compared_as_far_as_it_goes_and_says_so(
    run: Run, events: list[Event], tmp_path: Path
) -> None:
    """A killed recording: what is there is exact, and nobody may take that for the whole episode."""
    path, length = tmp_path / "cut.arrows", len(events) // 3
    with LogWriter.create(path) as out:
        for event in events[:length]:
            out.append(event)
    done = run("replay", path, "--json", "--store", tmp_path)
    answer = done.json()
    assert (done.code, answer["grade"], answer["log_ended"], answer["events"]) == (0, "exact", False, length)
    said = run("replay", path, "--store", tmp_path).out
    assert f"its log has no end; compared as far as it goes ({length} events)" in said


# -- one event says something else


def _held(event: Event) -> bool:
    """The used sponge leaves the hand in turn 2."""
    return isinstance(event, StateDelta) and (event.thing, event.attr, event.turn) == ("sponge_2", "held", 2)


def _moved(events: list[Event]) -> tuple[int, int]:
    """(seq, index) of a sample of the clean sponge's pose in turn 4."""
    for seq, event in enumerate(events):
        if isinstance(event, PosesSampled) and event.turn == 4 and "sponge_1" in event.things:
            return seq, event.things.index("sponge_1")
    raise AssertionError


class Forgery(msgspec.Struct, frozen=True):
    """One event of the log says something else."""

    kind: type[Event]
    #: of the events of that kind, the first of which this holds
    which: Callable[[Any], bool]
    field: str
    says: Any
    #: what the report must name
    object: str = ""


FORGERIES = (
    Forgery(StateDelta, _held, "new", True, "sponge_2"),
    Forgery(PrimitiveOutcome, lambda e: e.turn == 3, "distance_m", 0.25, "sponge_1"),
    Forgery(PrimitiveOutcome, lambda e: e.turn == 4, "duration_s", 9.5, "sponge_1"),
    Forgery(CommandIssued, lambda e: e.turn == 4, "text", "[Walk] used bin"),
    Forgery(Happened, lambda e: e.what == "wipe", "tool", "sponge_1", "dining_table_1"),
    Forgery(FrameCaptured, lambda e: e.turn == 3, "pixels_sha256", "0" * 64),
    Forgery(Observation, lambda e: e.turn == 3, "available", 7),
    Forgery(EpisodeEnded, lambda e: True, "actions", 3),
)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda f: f"{f.kind.__name__}-{f.field}")
def test_a_forged_event_is_found_where_it_is(run: Run, events: list[Event], tmp_path: Path, forgery: Forgery) -> None:
    seq = _where(events, lambda e: isinstance(e, forgery.kind) and forgery.which(e))
    honest = events[seq]
    changed = msgspec.structs.replace(honest, **{forgery.field: forgery.says})
    first = _first(run, _forged(events, tmp_path, {seq: changed}), tmp_path)
    named = forgery.object or getattr(honest, "frame_id", "")
    field = "held" if forgery.kind is StateDelta else forgery.field
    assert (first["seq"], first["object"], first["field"]) == (seq, named, field)
    assert first["kind"] == honest.__struct_config__.tag
    assert (first["sim_time_s"], first["turn"]) == (honest.sim_time_s, honest.turn)
    assert first["expected"] == canonical_bytes(forgery.says).decode()
    assert first["got"] == canonical_bytes(getattr(honest, forgery.field)).decode()
    assert first["decision"] == _upstream(honest)


def _upstream(event: Event) -> dict[str, Any] | None:
    """The last words before an event. What is shown in a turn comes before the words of that turn."""
    turn = min(event.turn - isinstance(event, Observation), max(UPSTREAM))
    return {"turn": turn, "decision": "interrupt", "text": UPSTREAM[turn]} if event.turn else None


def test_a_forged_pose_is_named_by_thing_and_component(run: Run, events: list[Event], tmp_path: Path) -> None:
    seq, n = _moved(events)
    honest = events[seq]
    assert isinstance(honest, PosesSampled)
    values = list(honest.values)
    values[7 * n + 2] += 0.001
    path = _forged(events, tmp_path, {seq: msgspec.structs.replace(honest, values=tuple(values))})
    first = _first(run, path, tmp_path)
    assert (first["seq"], first["object"], first["field"]) == (seq, "sponge_1", "pose.z")
    assert float(first["expected"]) - float(first["got"]) == pytest.approx(0.001)
    assert first["decision"]["text"] == UPSTREAM[4]


def test_a_forged_body_is_named(run: Run, events: list[Event], tmp_path: Path) -> None:
    seq = _where(events, lambda e: isinstance(e, BodyPosed) and e.turn == 3)
    honest = events[seq]
    assert isinstance(honest, BodyPosed)
    values = (honest.values[0] + 0.01, *honest.values[1:])
    first = _first(run, _forged(events, tmp_path, {seq: msgspec.structs.replace(honest, values=values)}), tmp_path)
    assert (first["seq"], first["kind"], first["object"]) == (seq, "body_posed", "wearer")
    assert first["field"] != "values", "a body value is named, not the whole array"


def test_deeds_that_do_not_follow_from_the_turn_are_found(run: Run, events: list[Event], tmp_path: Path) -> None:
    """A Human's answer is an input and can't be refuted; that it was carried out differently can."""
    seq = _where(events, lambda e: isinstance(e, HumanTurn) and e.turn == 3)
    honest = events[seq]
    assert isinstance(honest, HumanTurn)
    forged = msgspec.structs.replace(honest, commands=("[TurnAround]",))
    first = _first(run, _forged(events, tmp_path, {seq: forged}), tmp_path)
    issued = _where(events, lambda e: isinstance(e, CommandIssued) and e.turn == 3)
    assert (first["seq"], first["kind"], first["field"]) == (issued, "command_issued", "text")
    assert (first["expected"], first["got"]) == ('"[Grab] sponge on counter"', '"[TurnAround]"')
    assert first["decision"]["text"] == UPSTREAM[3]


def test_an_event_that_was_left_out_is_found(run: Run, events: list[Event], tmp_path: Path) -> None:
    seq = _where(events, _held)
    first = _first(run, _forged(events, tmp_path, {seq: None}), tmp_path)
    assert first["kind"] == "state_delta"
    assert (first["turn"], first["decision"]["text"]) == (2, UPSTREAM[2])
    assert abs(first["seq"] - seq) <= 1


def test_a_forged_snapshot_is_found(run: Run, events: list[Event], tmp_path: Path) -> None:
    seq = _where(events, lambda e: isinstance(e, WorldSnapshot) and e.reason == "baseline")
    honest = events[seq]
    assert isinstance(honest, WorldSnapshot)
    attrs = {**honest.attrs, "sponge_1": {**honest.attrs["sponge_1"], "used": True}}
    first = _first(run, _forged(events, tmp_path, {seq: msgspec.structs.replace(honest, attrs=attrs)}), tmp_path)
    assert (first["seq"], first["object"], first["field"]) == (seq, "sponge_1", "used")
    assert (first["expected"], first["got"]) == ("true", "false")


# -- another world under the same log


def _same(a: Event, b: Event) -> bool:
    return type(a) is type(b) and canonical_bytes(a) == canonical_bytes(b)


@pytest.mark.parametrize("simulator", [OtherGravity, OtherFriction])
def test_a_changed_constant_is_found_at_the_first_event_that_it_changes(
    run: Run, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, simulator: type[MujocoSimulator]
) -> None:
    """The place is known independently: by recording the episode anew in the other world."""
    events = _events(recorded)
    other = _events(_record(tmp_path / "other.arrows", simulator))
    at = next(n for n, (a, b) in enumerate(zip(events, other, strict=False)) if not _same(a, b))
    monkeypatch.setattr("iwreplay.app.replaying.MujocoSimulator", simulator)
    first = _first(run, recorded, tmp_path)
    assert type(events[at]) is type(other[at]), "there the same kind of event says something else"
    assert (first["seq"], first["sim_time_s"]) == (at, events[at].sim_time_s)
    assert first["object"]
    assert first["expected"] != first["got"]
    text = run("replay", recorded, "--fail-fast", "--store", tmp_path)
    assert text.code == 1
    assert f"event {at} at {events[at].sim_time_s:.3f} s" in text.out
    assert "environment" not in text.out, "a constant changed in secret is in no fingerprint"


def _renamed(opened: EpisodeOpened, **fields: Any) -> EpisodeOpened:
    """The used sponge is described otherwise in the scene, and the scene's hash agrees with that."""
    things = tuple(msgspec.structs.replace(t, **fields) if t.id == "sponge_2" else t for t in opened.scene.things)
    scene = msgspec.structs.replace(opened.scene, things=things)
    return msgspec.structs.replace(opened, scene=scene, scene_hash=struct_hash(scene))


def test_a_renamed_object_is_found_by_its_id(run: Run, events: list[Event], tmp_path: Path) -> None:
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    first = _first(run, _forged(events, tmp_path, {0: _renamed(opened, id="towel_9")}), tmp_path)
    at = _where(events, lambda e: b"sponge_2" in canonical_bytes(e) and not isinstance(e, EpisodeOpened))
    assert first["seq"] == at
    assert {first["object"], *first["expected"].split('"'), *first["got"].split('"')} & {"sponge_2", "towel_9"}


def test_a_renamed_object_is_found_by_its_public_name(run: Run, events: list[Event], tmp_path: Path) -> None:
    """Nothing is called sponge any more on that side: the first command about it turns out differently."""
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    forged = _renamed(opened, name="towel", nouns=("towel",), touch_nouns=("towel",))
    first = _first(run, _forged(events, tmp_path, {0: forged}), tmp_path)
    command = _where(events, lambda e: isinstance(e, CommandIssued) and e.text == "[Grab] right sponge")
    outcome = _where(events, lambda e: isinstance(e, PrimitiveOutcome) and e.command == "[Grab] right sponge")
    assert command < first["seq"] <= outcome
    assert first["turn"] == 0
    assert first["decision"] is None


# -- another engine


def test_another_engine_version_is_named_and_the_rest_is_still_compared(
    run: Run, events: list[Event], recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iwreplay.app.replaying.MujocoSimulator", OtherVersion)
    done = run("replay", recorded, "--json", "--store", tmp_path)
    answer = done.json()
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    was = opened.simulator.version
    assert (done.code, answer["grade"], answer["differences"]) == (1, "state-equal", 1)
    first = answer["first_divergence"]
    assert (first["seq"], first["field"], first["expected"], first["got"]) == (
        0, "simulator.version", f'"{was}"', '"3.9.9"',
    )  # fmt: skip
    (environment,) = answer["environment"]
    assert environment["name"] == "simulator"
    assert (was in environment["recorded"], "3.9.9" in environment["here"]) == (True, True)
    assert answer["grades"] == {"exact": answer["steps"] - 1, "state-equal": 1}
    assert answer["first_in_world"] is None
    text = run("replay", recorded, "--store", tmp_path).out
    assert "first of 1 difference: event 0 " in text
    assert "the world is the same, event by event" in text


def test_a_changed_constant_is_named_with_the_first_event_that_it_changed(
    run: Run, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iwreplay.app.replaying.MujocoSimulator", DeclaredFriction)
    done = run("replay", recorded, "--json", "--store", tmp_path)
    first, world = done.json()["first_divergence"], done.json()["first_in_world"]
    assert (done.code, first["seq"], first["field"]) == (1, 0, "simulator.params.physics")
    assert first["got"] == '"0123456789abcdef"'
    assert (world["seq"] > 0, world["kind"] == "episode_opened") == (True, False)
    text = run("replay", recorded, "--store", tmp_path).out
    assert f"first in the world: event {world['seq']} at " in text


def test_a_log_of_another_environment_says_what_differs(run: Run, events: list[Event], tmp_path: Path) -> None:
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    elsewhere = {**opened.fingerprint, "package:mujoco-core": "3.1.0", "machine": "riscv64", "library": "x"}
    path = _forged(events, tmp_path, {0: msgspec.structs.replace(opened, fingerprint=elsewhere)})
    answer = run("replay", path, "--json", "--store", tmp_path).json()
    names = {e["name"]: (e["recorded"], e["here"]) for e in answer["environment"]}
    assert names == {
        "package:mujoco-core": ("3.1.0", opened.fingerprint["package:mujoco-core"]),
        "machine": ("riscv64", opened.fingerprint["machine"]),
        "library": ("x", "absent"),
    }
    assert answer["first_divergence"]["seq"] == 0
    assert answer["first_divergence"]["field"].startswith("fingerprint")
    done = run("replay", path, "--fail-fast", "--store", tmp_path)
    assert done.code == 1
    assert "environment: package:mujoco-core was 3.1.0, is " in done.out
