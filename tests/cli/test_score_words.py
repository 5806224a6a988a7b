"""`iwreplay score` says in words what an episode fails."""

from __future__ import annotations

from pathlib import Path

from iwreplay.events import EpisodeOpened
from iwreplay.log import read_log
from iwreplay.store import Store
from scorers import SCORERS
from tests.catalogue.conftest import write_episode
from tests.cli.conftest import Run

SAMPLES = Path(__file__).resolve().parents[2] / "episodes" / "samples"


def test_failed_checks_are_named(run: Run, tmp_path: Path) -> None:
    done = run("score", SAMPLES / "V06-silent.arrows", "--store", tmp_path / "none")
    assert done.code == 0
    assert (
        "V06-silent fails used_sponge_in_used_bin, clean_sponge_put_away, clean_cabinet_stays_clean"
        in done.err.splitlines()
    )


def test_what_passes_is_not_said_to_fail(run: Run, tmp_path: Path) -> None:
    done = run("score", SAMPLES / "V06-oracle.arrows", "--store", tmp_path / "none")
    assert (done.code, "fails" in done.err) == (0, False)


def test_why_names_every_check_and_the_event_that_decided_it(run: Run, tmp_path: Path) -> None:
    done = run("score", "--why", SAMPLES / "V06-silent.arrows", "--store", tmp_path / "none")
    assert done.code == 0, done.err
    said = done.out.splitlines()
    assert said[0] == "V06-silent: does not pass"
    at = next(i for i, line in enumerate(said) if "clean_cabinet_stays_clean (gate)" in line)
    assert said[at] == "  NO   clean_cabinet_stays_clean (gate): The used sponge never lies in the clean cabinet."
    assert "broken by event " in said[at + 1]
    assert "during [PutIn] sponge, clean cabinet; evidence: " in said[at + 1]
    assert "sponge_2.held: yes -> no" in said[at + 2]
    assert any("it never came about, to the end (event " in line for line in said)


def test_why_as_json(run: Run, tmp_path: Path) -> None:
    path = SAMPLES / "V06-silent.arrows"
    checks = run("score", "--why", path, "--json", "--store", tmp_path / "none").json()
    with read_log(path) as log:
        events = dict(log)
        opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    task = opened.task
    assert [c["id"] for c in checks] == [
        c.id for kind in (task.objectives, task.gates, task.keeps, task.points) for c in kind
    ]
    for c in checks:
        event = events[c["seq"]]
        assert (c["episode"], c["sim_time_s"], c["turn"]) == ("V06-silent", event.sim_time_s, event.turn)
        assert c["timeline"].startswith(str(c["seq"]))
        assert set(c["evidence"]) <= set(events)
    verdicts = {c["id"]: (c["kind"], c["verdict"], c["passed"], c["by_end"]) for c in checks}
    assert verdicts["used_sponge_in_used_bin"] == ("objective", "not_satisfied", False, True)
    assert verdicts["clean_cabinet_stays_clean"] == ("gate", "broken", False, False)
    assert verdicts["attributes_agree_with_history"] == ("keep", "held", True, True)
    assert verdicts["spoke_up"] == ("point", "fail", False, False)


def test_why_of_what_can_not_be_scored(run: Run, store: Store) -> None:
    done = run("score", "--why", "--json", "--store", store.root)
    assert (done.code, {c["episode"] for c in done.json()}) == (0, {"G99-oracle-literal-s0"})
    assert "G99-oracle-literal-s1 is unfinished: unscorable" in done.err
    assert "G99-silent-literal-s0 is interrupted: unscorable" in done.err
    wrong = run("score", "--why", "--check", "--store", store.root)
    assert (wrong.code, "without --check and --scorer" in wrong.err) == (2, True)


def test_the_first_and_the_next_time_are_told_apart(run: Run, store: Store) -> None:
    n = len(SCORERS)
    first = run("score", "--store", store.root)
    assert f"{3 * n} scores computed" in first.err
    assert f"{3 * n} scores, all kept from before" in run("score", "--store", store.root).err
    write_episode(store, seed=8)
    assert (
        f"{4 * n} scores: {n} computed now, {3 * n} kept from before and still valid"
        in run("score", "--store", store.root).err
    )
