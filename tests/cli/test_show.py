"""`show` and `at`."""

from __future__ import annotations

from iwreplay.log import read_log
from iwreplay.store import Store
from iwreplay.world.state import WorldState
from tests.cli.conftest import Run

DONE = "G99-oracle-literal-s0"


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
    events = run("show", DONE, "--turn", 2, "--json", "--store", store.root).json()
    assert {e["event"]["turn"] for e in events} == {2}
    assert {"seq", "event"} <= set(events[0])


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
    assert len(answer["body"]) == 163


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
