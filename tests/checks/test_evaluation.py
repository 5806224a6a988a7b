"""Pass, MCR, gates, keeps, credit and the status of capability points."""

from __future__ import annotations

from typing import Any

import pytest

from iwreplay.checks import CheckRun, Evaluation, evaluate_task
from iwreplay.errors import LogError
from iwreplay.events import Event, Fault
from iwreplay.taskpack.model import Gate, Objective, Point, TaskPack
from iwreplay.world.state import WorldState
from tests.checks.worlds import TOY, Story, task

CLEAN: Any = ["attr", "mug_1", "clean", True]
ON_SHELF: Any = ["rel", "ontop", "mug_1", "shelf_1"]


def evaluate(events: list[Event], **kwargs: Any) -> Evaluation:
    return evaluate_task(events, relations=TOY, **kwargs)


def pack(**changes: Any) -> TaskPack:
    base: dict[str, Any] = {
        "objectives": (
            Objective(id="clean", text="", formula=CLEAN),
            Objective(id="shelf", text="", formula=ON_SHELF, credit_if=CLEAN),
        ),
        "gates": (Gate(id="shut", text="", formula=["not", ["attr", "oven_1", "open", True]]),),
        "keeps": (Gate(id="other", text="", formula=["baseline", "mug_2"]),),
    }
    return task(**{**base, **changes})


def good(pack: TaskPack) -> Story:
    s = Story(pack)
    s.warmup()
    s.live()
    s.say("wash the mug and put it on the shelf")
    s.do("wash", obj="mug_1")
    s.set("mug_1", "clean", True)
    s.do("put_on", obj="mug_1", dest="shelf_1", distance_m=3.0)
    s.move("mug_1", 5.0, 0.0, 0.8)
    return s


def test_a_good_episode_passes() -> None:
    s = good(pack())
    s.end()
    e = evaluate(s.events)
    assert (e.passed, e.mcr, e.lacks, e.route_length_m) == (True, 1.0, (), 3.0)
    assert [o.id for o in e.objectives] == ["clean", "shelf"]
    assert (e.task, e.family, e.relations_version, e.live_seq) == ("T01", "guidance", "toy", 3)


def test_credit_is_withheld_while_its_condition_fails() -> None:
    s = good(pack())
    s.set("mug_1", "clean", False)
    s.end()
    e = evaluate(s.events)
    assert not e.passed
    assert e.mcr == 0.0
    assert (e.objectives[1].value, e.objectives[1].credit, e.objectives[1].satisfied) == (True, False, False)


def test_a_gate_that_failed_for_one_step_vetoes_pass_and_leaves_mcr() -> None:
    s = good(pack())
    bad = s.set("oven_1", "open", True)
    s.set("oven_1", "open", False)
    s.end()
    e = evaluate(s.events)
    assert (e.passed, e.mcr) == (False, 1.0)
    assert (e.gates[0].held, e.gates[0].evidence) == (False, (bad,))


def test_a_gate_is_about_live_interaction() -> None:
    s = Story(pack())
    s.warmup()
    s.set("oven_1", "open", True)
    s.set("oven_1", "open", False)
    s.live()
    s.end()
    assert evaluate(s.events).gates[0].held


def test_a_keep_counts_at_the_end_only() -> None:
    s = good(pack())
    s.move("mug_2", 3.0, 3.0, 0.8)
    s.move("mug_2", 0.2, 0.1, 0.8)
    s.end()
    assert evaluate(s.events).passed
    s = good(pack())
    s.move("mug_2", 3.0, 3.0, 0.8)
    s.end()
    e = evaluate(s.events)
    assert (e.passed, e.mcr, e.keeps[0].held) == (False, 1.0, False)


def test_what_a_log_lacks_is_named_and_never_passes() -> None:
    s = good(pack())
    assert evaluate(s.events).lacks == ("episode_ended",)
    assert not evaluate(s.events).passed
    s.end(reason="fault", valid=False, detail="simulator fell over")
    assert evaluate(s.events).lacks == ("a valid end: simulator fell over",)
    s = Story(pack())
    s.warmup()
    s.end()
    assert evaluate(s.events).lacks == ("baseline snapshot",)
    s = good(pack())
    fault = s.add(Fault, source="simulator", code="X", detail="")
    s.end()
    assert evaluate(s.events).lacks == (f"an end without fault: event {fault}",)


def test_a_log_without_its_opening_is_an_error() -> None:
    with pytest.raises(LogError, match="empty log"):
        evaluate([])
    with pytest.raises(LogError, match="begins with EpisodeOpened"):
        evaluate(good(pack()).events[1:])
    s = good(pack())
    pairs = [(i, e) for i, e in enumerate(s.events) if i != 4]
    with pytest.raises(LogError, match="event 5 follows event 3"):
        evaluate_task(pairs, relations=TOY)


def test_another_version_of_the_task_can_judge_an_old_log() -> None:
    s = good(pack())
    s.end()
    stricter = pack(version=2, keeps=(Gate(id="note", text="", formula=["held", "note_1"]),))
    e = evaluate(s.events, task=stricter)
    assert (e.task_version, e.passed) == (2, False)


def test_the_run_can_be_asked_at_any_time() -> None:
    s = good(pack())
    s.end()
    run = CheckRun(s.events[0].task, s.state.scene, relations=TOY)  # type: ignore[attr-defined]
    state = WorldState(s.state.scene)
    seen = []
    for seq, event in enumerate(s.events):
        state.apply(event)
        run.feed(seq, event, state)
        seen.append(run.result()["clean"].value)
    assert seen == sorted(seen)
    assert seen[0] is False
    assert seen[-1] is True


# -- capability points ---------------------------------------------------------------------------------------------

POINT = Point(id="p", capability="C1", text="", formula=ON_SHELF, reached=["once", ["event", {"verb": "grab"}]])


def status(s: Story) -> tuple[str, str]:
    s.end()
    point = evaluate(s.events).points[0]
    return point.status, point.help


def start(point: Point = POINT) -> Story:
    s = Story(task(points=(point,)))
    s.warmup()
    s.do("grab", obj="mug_1", code="HAND_FULL", source="warmup")
    s.live()
    return s


def place(s: Story) -> None:
    s.do("grab", obj="mug_1")
    s.do("put_on", obj="mug_1", dest="shelf_1")
    s.move("mug_1", 5.0, 0.0, 0.8)


def test_clean_pass() -> None:
    s = start()
    s.say("put it on the shelf")
    place(s)
    assert status(s) == ("clean_pass", "")


def test_not_reached_and_fail() -> None:
    assert status(start()) == ("not_reached", "")
    s = start()
    s.say("take it")
    s.do("grab", obj="mug_1")
    assert status(s) == ("fail", "")


def test_a_failed_command_on_the_point_makes_it_assisted() -> None:
    s = start()
    s.say("take it")
    s.do("grab", obj="mug_1", code="CLOSED")
    s.say("open the fridge first")
    place(s)
    assert status(s) == ("assisted_pass", "retry")


def test_a_failure_that_the_human_mended_alone_is_its_repair() -> None:
    s = start()
    s.say("take it")
    s.do("grab", obj="mug_1", code="CLOSED")
    s.say(None)
    place(s)
    assert status(s) == ("assisted_pass", "human_repair")


def test_only_words_after_the_latest_failure_make_it_a_retry() -> None:
    s = start()
    s.say("take it")
    s.do("grab", obj="mug_1", code="CLOSED")
    s.say("open the fridge first")
    s.do("grab", obj="mug_1", code="HAND_FULL")
    s.say(None)
    place(s)
    assert status(s) == ("assisted_pass", "human_repair")


def test_what_the_human_did_before_any_guidance_is_its_repair() -> None:
    s = start()
    s.say(None)
    place(s)
    assert status(s) == ("assisted_pass", "human_repair")


def test_failures_that_do_not_concern_the_point_are_ignored() -> None:
    s = start()
    s.say("take it")
    s.do("grab", obj="mug_2", code="CLOSED")  # another thing
    s.do("put_on", obj="mug_2", dest="shelf_1", code="NO_SPACE")  # the shelf is named, but is no movable thing
    s.do("grab", obj="mug_1", code="CLOSED", source="intent")  # the script's error, not an attempt
    place(s)
    s.do("grab", obj="mug_1", code="CLOSED")  # after it was reached
    assert status(s) == ("clean_pass", "")


def test_a_command_that_named_nothing_is_about_what_the_next_one_is() -> None:
    s = start()
    s.say("take the mug")
    s.do("grab", code="AMBIGUOUS")
    s.do("navigate_to", obj="table_1")
    s.say("the blue one")
    place(s)
    assert status(s) == ("assisted_pass", "retry")
    s = start()
    s.say("take the mug")
    s.do("grab", code="AMBIGUOUS")
    s.do("grab", obj="mug_2")
    place(s)
    assert status(s) == ("clean_pass", "")


def test_a_point_that_was_always_true_is_clean() -> None:
    s = start(Point(id="p", capability="C7", text="", formula=["never_moved", "mug_2"]))
    s.do("grab", obj="mug_2", code="HAND_FULL")
    assert status(s) == ("clean_pass", "")
