"""`show` and `at`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from iwreplay.cli.timeline import timeline
from iwreplay.events import AssistantDecision, HumanTurn, Utterance
from iwreplay.log import LogWriter, read_log
from iwreplay.store import Store
from iwreplay.world.state import WorldState
from tests.cli.conftest import Ran, Run

DONE = "G99-oracle-literal-s0"
SAMPLES = Path(__file__).parents[2] / "episodes" / "samples"


def lines(done: Ran) -> list[Any]:
    """The JSON lines of an answer."""
    return [json.loads(line) for line in done.out.splitlines()]


def test_episodes_are_listed_with_what_became_of_them(run: Run, store: Store) -> None:
    listed = run("show", "--store", store.root, "--json").json()
    assert [(e["episode"], e["status"], e["log_state"]) for e in listed] == [
        (DONE, "ended", "sealed"),
        ("G99-oracle-literal-s1", "unfinished", "open"),
        ("G99-silent-literal-s0", "interrupted", "sealed"),
    ]
    text = run("show", "--store", store.root).out
    assert text.splitlines()[0].split() == [
        "episode",
        "task",
        "status",
        "end_reason",
        "turns",
        "actions",
        "events",
        "log_state",
    ]
    assert "interrupted" in text


def test_timeline_is_readable(run: Run, store: Store) -> None:
    done = run("show", DONE, "--store", store.root)
    assert done.code == 0
    assert 'G99 "Wash a bowl" (guidance)' in done.out
    assert "-- live interaction --" in done.out
    assert 'Assistant interrupt: "Wash the bowl' in done.out
    assert "bowl_3.wet: no -> yes  (primitive:Wash)" in done.out
    assert "refused UNREACHABLE: The bowl is out of reach" in done.out
    assert "ended by done, valid" in done.out
    assert "frame f000000" not in done.out
    assert "frame f000000 (initial), 3 things visible" in run("show", DONE, "--all", "--store", store.root).out


def test_one_turn_only(run: Run, store: Store) -> None:
    events = lines(run("show", DONE, "--turn", 2, "--json", "--store", store.root))
    assert {e["event"]["turn"] for e in events} == {2}
    assert set(events[0]) == {"seq", "event", "left_out"}


def test_json_has_the_timeline_and_leaves_out_what_is_heavy_unless_asked_for(run: Run, store: Store) -> None:
    plain = run("show", DONE, "--json", "--store", store.root)
    events, every = lines(plain), lines(run("show", DONE, "--json", "--all", "--store", store.root))
    with read_log(store.find(DONE).log) as log:
        assert [e["seq"] for e in every] == list(range(len(log)))
    kinds = {e["event"]["kind"] for e in events}
    assert {"episode_opened", "state_delta", "assistant_decision", "phase_changed"} <= kinds
    assert not {"body_posed", "poses_sampled", "frame_captured", "world_snapshot"} & kinds
    assert events[0]["left_out"] == ["task", "scene"]
    assert len(plain.out) < 40_000
    assert (every[0]["left_out"], every[0]["event"]["task"]["id"]) == ([], "G99")
    (body,) = {len(e["event"]["values"]) for e in every if e["event"]["kind"] == "body_posed"}
    assert body == 163
    assert {e["seq"]: e["event"] for e in every}.items() >= {e["seq"]: e["event"] for e in events[1:]}.items()


def test_one_event_in_full_between_its_neighbours(run: Run, store: Store) -> None:
    seq = next(
        e["seq"]
        for e in lines(run("show", DONE, "--json", "--store", store.root))
        if e["event"]["kind"] == "state_delta"
    )
    done = run("show", DONE, "--seq", seq, "--store", store.root)
    shown = done.out.splitlines()
    assert [line.split()[:2] for line in shown[:3]] == [
        [str(seq - 1), shown[0].split()[1]],
        [">", str(seq)],
        [str(seq + 1), shown[2].split()[1]],
    ]
    assert f"event {seq}: state_delta" in shown
    assert {line.split()[0] for line in shown[5:]} == {
        *("sim_time_s", "turn", "phase", "thing", "attr", "old", "new", "cause")
    }
    assert lines(run("show", DONE, "--seq", seq, "--json", "--store", store.root))[0]["seq"] == seq
    opening = run("show", DONE, "--seq", 0, "--store", store.root)
    assert "keys; --all shows them" in opening.out
    assert '"objectives"' not in opening.out
    assert "objectives" in run("show", DONE, "--seq", 0, "--all", "--store", store.root).out
    missing = run("show", DONE, "--seq", 99999, "--store", store.root)
    assert (missing.code, "has events 0 to" in missing.err) == (2, True)
    both = run("show", DONE, "--seq", 3, "--turn", 1, "--store", store.root)
    assert (both.code, "leave --brief and --turn out" in both.err) == (2, True)


def test_silence_is_a_line_for_all_its_turns(run: Run) -> None:
    told = run("show", SAMPLES / "V06-silent.arrows").out
    assert [line.split()[2:] for line in told.splitlines() if "Assistant" in line][1:] == [
        *(["turn", str(n), "Assistant", "silent"] for n in (1, 2, 3, 4)),
        ["turns", "5-20", "Assistant", "silent"],
    ]
    assert "turn 9 Assistant silent" in run("show", SAMPLES / "V06-silent.arrows", "--turn", 9).out


def test_who_speaks_is_written_in_one_way() -> None:
    at = {"sim_time_s": 1.0, "turn": 1, "phase": "closed_loop"}
    said = [
        Utterance(**at, speaker="human", text="It is hot."),  # type: ignore[arg-type]
        Utterance(**at, speaker="caller", text="Hello."),  # type: ignore[arg-type]
        HumanTurn(**at, commands=("[NoOp]",), reply="Yes."),  # type: ignore[arg-type]
    ]
    assert [line.split("turn 1 ")[1] for line in timeline(enumerate(said))] == [
        'Human says: "It is hot."',
        'Caller says: "Hello."',
        'Human says: "Yes."',
    ]


def test_brief_is_one_line_a_turn(run: Run) -> None:
    told = run("show", SAMPLES / "V06-oracle.arrows", "--brief").out.splitlines()
    assert [line[:8].strip() for line in told] == ["warmup", "turn 1", "turn 2", "turn 3", "turn 4", "turn 5"]
    assert "[Grab] right sponge (by itself)" in told[1]
    assert 'Assistant interrupt: "Stop.' in told[2]
    assert "[Walk] used bin; [PutIn] sponge, used bin" in told[2]
    assert 'sponge_2.parent: "held" -> "in:used_bin_1.main" | now true: used_sponge_in_used_bin' in told[2]
    assert told[5].endswith("Assistant done | ended by done")
    silent = run("show", SAMPLES / "V06-silent.arrows", "--brief").out
    assert "turns 5-19   Assistant silent | Human does nothing\n" in silent
    (turn,) = lines(run("show", SAMPLES / "V06-oracle.arrows", "--brief", "--turn", 4, "--json"))
    assert (turn["turn"], turn["now_true"]) == (4, ["clean_sponge_put_away"])


def test_brief_tells_refusals(run: Run, store: Store) -> None:
    told = run("show", DONE, "--brief", "--store", store.root).out
    assert "REFUSED UNREACHABLE: The bowl is out of reach" in told


def test_what_is_intact_is_told_before_the_damage(run: Run, tmp_path: Path) -> None:
    torn = tmp_path / "torn.arrows"
    with read_log(SAMPLES / "V06-silent.arrows") as log, LogWriter.create(torn) as out:
        for seq, event in log:
            out.append(event, wall_ns=0)
            if seq == 790:
                out.commit()
                last = event.turn
        out.commit()
    data = bytearray(torn.read_bytes())
    data[-200] ^= 0xFF
    torn.write_bytes(data)
    briefly = run("show", torn, "--brief")
    assert (briefly.code, "error: log is corrupt" in briefly.err) == (3, True)
    assert [line[:11].strip() for line in briefly.out.splitlines()] == [
        *("warmup", "turn 1", "turn 2", "turn 3", "turn 4", f"turns 5-{last}")
    ]
    told = run("show", torn)
    assert (told.code, told.out.splitlines()[-1].split()[2:]) == (3, ["turns", f"5-{last}", "Assistant", "silent"])


def test_a_log_without_an_end_says_so(run: Run, store: Store) -> None:
    done = run("show", "G99-oracle-literal-s1", "--store", store.root)
    assert (done.code, "has no end" in done.err) == (0, True)


def test_a_damaged_log_is_shown_as_far_as_it_is_intact(run: Run, store: Store) -> None:
    log = store.find("G99-oracle-literal-s1").log
    data = bytearray(log.read_bytes())
    data[-200] ^= 0xFF
    log.write_bytes(data)
    done = run("show", "G99-oracle-literal-s1", "--store", store.root)
    assert done.code == 3
    assert "error: log is corrupt" in done.err


def test_at_is_the_fold(run: Run, store: Store) -> None:
    with read_log(store.find(DONE).log) as log:
        events = list(log)
    state = WorldState(events[0][1].scene)  # type: ignore[attr-defined]
    for _, event in events[:61]:
        state.apply(event)
    answer = run("at", DONE, "--seq", 60, "--json", "--store", store.root).json()
    assert (answer["seq"], answer["sim_time_s"], answer["turn"]) == (60, state.sim_time_s, state.turn)
    assert {t: v["attrs"] for t, v in answer["things"].items()} == state.attrs
    assert answer["things"]["bowl_3"]["pose"] == list(state.poses["bowl_3"])
    assert answer["body"] is None, "only with --thing wearer"
    worn = run("at", DONE, "--seq", 60, "--thing", "wearer", "--json", "--store", store.root).json()
    assert (list(worn["things"]), len(worn["body"])) == (["wearer"], 163)


def test_at_as_text_and_for_one_thing(run: Run, store: Store) -> None:
    done = run("at", DONE, "--seq", 60, "--thing", "bowl_3", "--store", store.root)
    assert done.code == 0
    # an attribute that is false is shown for a thing that was asked for: it may be the very answer
    told = [line.split()[-1] for line in done.out.splitlines()[3:]]
    assert told == ["broken=no", "clean=no", "wet=yes"]
    assert "bowl_3" in done.out


def test_at_refuses_what_is_not_there(run: Run, store: Store) -> None:
    done = run("at", DONE, "--seq", 99999, "--store", store.root)
    assert done.code == 2
    assert "unknown event '99999'" in done.err
    assert "has events 0 to" in done.err
    done = run("at", DONE, "--seq", 5, "--thing", "mug_9", "--store", store.root)
    assert (done.code, "unknown thing 'mug_9'" in done.err) == (2, True)


def test_a_notebook_is_shown_also_where_nothing_is_said() -> None:
    def decided(turn: int, memory: str | None) -> AssistantDecision:
        return AssistantDecision(
            sim_time_s=1.0, turn=turn, phase="closed_loop", decision="silent", text=None, memory=memory
        )

    shown = list(timeline([(1, decided(1, None)), (2, decided(2, None)), (3, decided(3, "the cup is blue"))]))
    assert [" ".join(line.split()) for line in shown] == [
        "1 1.00s turns 1-2 Assistant silent",
        '3 1.00s turn 3 Assistant silent notebook: "the cup is blue"',
    ]
