"""`iwreplay score --scorer FILE` and `--diff`, on real logs in a real store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.rescore_bench import prepare
from iwreplay.app.importing import import_logs
from iwreplay.app.scorer_file import load_scorer
from iwreplay.app.scoring import score_episodes
from iwreplay.catalogue import Catalogue
from iwreplay.store import ScoreBook, Store
from tests.cli.conftest import Run
from tests.scorers.own import SAMPLES, written

#: one value an episode that is its task's letter, with the opening as evidence
LETTER = "from scorers import Score\ndef score(events, task):\n    return Score(metric='mine', value={}, evidence={})\n"
#: three of them whole and valid, one interrupted
NAMES = ("A04-interrupted", "F10-silent", "V06-oracle", "V06-silent")
WHOLE = NAMES[1:]


@pytest.fixture
def samples(tmp_path: Path) -> Store:
    root = tmp_path / "samples"
    import_logs(root, tuple(SAMPLES / f"{n}.arrows" for n in NAMES))
    return Store.open(root)


def letter(folder: Path, value: str = "1", evidence: str = "(0,)", name: str = "mine", version: int = 1) -> Path:
    return written(folder, LETTER.format(value, evidence), name=name, head=f"NAME = 'mine'\nVERSION = {version}\n")


def values(run: Run, store: Store, sql: str = "SELECT episode, value FROM scores WHERE metric = 'mine'") -> Any:
    done = run("query", f"{sql} ORDER BY 1", "--json", "--store", store.root)
    assert done.code == 0, done.err
    return [tuple(row.values()) for row in done.json()]


def test_scores_are_kept_until_the_source_is_another(run: Run, samples: Store, tmp_path: Path) -> None:
    path = letter(tmp_path)
    first = run("score", "--scorer", path, "--store", samples.root)
    assert first.code == 0, first.err
    assert "4 scores computed" in first.err
    assert "A04-interrupted is interrupted: unscorable: the episode is not whole and valid" in first.err
    assert "4 scores, all kept from before" in run("score", "--scorer", path, "--store", samples.root).err
    assert run("score", "--check", "--scorer", path, "--store", samples.root).code == 0
    before = load_scorer(path).hash[:12]
    letter(tmp_path, value="2")
    stale = run("score", "--check", "--scorer", path, "--store", samples.root)
    assert stale.code == 1
    why = f"the scorer changed: {before} is now {load_scorer(path).hash[:12]}"
    assert f"stale: V06-oracle, mine: {why}" in stale.err
    again = run("score", "--scorer", path, "--json", "--store", samples.root).json()
    assert {(s["value"], s["stale_because"]) for s in again if s["status"] == "scored"} == {(2.0, why)}
    written(tmp_path, LETTER.format(2, "(0,)"), head="NAME = 'mine'\nVERSION = 1\nPARAMETERS = {'a': 'b'}\n")
    changed = run("score", "--check", "--scorer", path, "--store", samples.root)
    assert "the parameters changed: none is now a=b" in changed.err
    # going back costs nothing
    letter(tmp_path)
    assert "4 scores, all kept from before" in run("score", "--scorer", path, "--store", samples.root).err


def test_the_catalogue_shows_the_version_that_was_used_last(run: Run, samples: Store, tmp_path: Path) -> None:
    run("score", "--scorer", letter(tmp_path), "--store", samples.root)
    assert values(run, samples) == [("A04-interrupted", None), *((n, 1.0) for n in WHOLE)]
    letter(tmp_path, value="2")
    run("score", "V06-oracle", "--scorer", tmp_path / "mine.py", "--store", samples.root)
    assert values(run, samples) == [("V06-oracle", 2.0)]
    run("score", "--scorer", letter(tmp_path), "--store", samples.root)
    assert values(run, samples) == [("A04-interrupted", None), *((n, 1.0) for n in WHOLE)]
    built_in = values(run, samples, "SELECT DISTINCT metric, 1 FROM scores")
    assert ("mine", 1) in built_in
    assert ("pass", 1) in built_in


def test_details_with_the_names_of_ours_confuse_nobody(run: Run, samples: Store, tmp_path: Path) -> None:
    body = "from scorers import Score\ndef score(events, task):\n    return Score(metric='mine', value=1, evidence=(), "
    path = written(tmp_path, body + "details={'points': [1], 'checks': 'x', 'failed_gates': ['y']})\n")
    done = run("score", "--scorer", path, "--store", samples.root)
    assert done.code == 0, done.err
    assert len(values(run, samples)) == 4


def test_a_note_that_can_not_be_read_is_named(run: Run, samples: Store, tmp_path: Path) -> None:
    run("score", "--scorer", letter(tmp_path), "--store", samples.root)
    note = samples.root / "scorers" / "mine.json"
    for text in ("{", '{"scorer":"mine","scorer_hash":"a","scorer_version":1,"version":2}'):
        note.write_text(text)
        done = run("query", "SELECT 1", "--store", samples.root)
        assert (done.code, str(note) in done.err) == (3, True)
    note.unlink()
    assert values(run, samples) == []


def test_one_episode_fails_and_the_others_go_on(run: Run, samples: Store, tmp_path: Path) -> None:
    path = letter(tmp_path, value="1 / (task.id != 'F10')")
    done = run("score", "--scorer", path, "--json", "--store", samples.root)
    assert done.code == 1
    assert [(s["episode"], s["status"]) for s in done.json()] == [
        ("A04-interrupted", "unscorable"), ("F10-silent", "error"), ("V06-oracle", "scored"), ("V06-silent", "scored"),
    ]  # fmt: skip
    assert "error: F10-silent: " in done.err
    assert f"{path}:5: " in done.err
    assert "ZeroDivisionError: division by zero" in done.err
    assert [v for _, v in values(run, samples)] == [None, 1.0, 1.0]
    again = run("score", "--scorer", path, "--store", samples.root)
    assert (again.code, "3 scores, all kept from before" in again.err) == (1, True)
    every = run("score", "--scorer", letter(tmp_path, value="[][0]"), "--store", samples.root)
    assert every.err.count("IndexError") == 1
    assert "error: F10-silent and 2 more: " in every.err


def test_wrong_use_is_refused(run: Run, samples: Store, tmp_path: Path) -> None:
    for said, *args in (
        ("unknown scorer 'mine'.", "--scorer", "mine"),
        ("A scorer of your own is named by its file: mine.py", "--scorer", "mine"),
        ("can't be read: No such file or directory", "--scorer", tmp_path / "none.py"),
        ("mine is named twice", "--scorer", letter(tmp_path), "--scorer", letter(tmp_path, name="b")),
        ("compares two scorers, without --check", "--diff", "pass", "mcr", "--check"),
        ("unknown kept scorer 'mine@ab'. No score of a scorer mine is kept", "--diff", "mine@ab", "pass"),
        ("unknown kept scorer 'pass@zz'. Nearest: pass@", "--diff", "pass@zz", "pass"),
        ("unknown scorer 'x'", "--diff", "pass", "x"),
        ("imports os, which reaches files", "--scorer", written(tmp_path, "import os\n" + LETTER, name="impure")),
    ):
        done = run("score", *args, "--store", samples.root)
        assert (done.code, said in done.err) == (2, True), done.err
    assert not (samples.root / "scorers").exists()


def test_our_scorers_and_ones_own_in_one_go_and_in_two_processes(run: Run, samples: Store, tmp_path: Path) -> None:
    path = letter(tmp_path, value="len(events)", evidence="(len(events) - 1,)")
    one = score_episodes(samples.root, scorers=("mcr", str(path)), jobs=1, again=True)
    assert [s.metric for s in one] == ["mcr", "mine"] * len(NAMES)
    assert score_episodes(samples.root, scorers=("mcr", str(path)), jobs=2, again=True) == one
    assert all(s.kept for s in score_episodes(samples.root, scorers=("mcr", str(path)), jobs=2))


def test_a_log_outside_any_store_is_scored_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    done = run("score", SAMPLES / "V06-oracle.arrows", "--scorer", letter(tmp_path), "--store", tmp_path / "none")
    assert (done.code, "1 score computed" in done.err) == (0, True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.py"]


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX sends it")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_done(tmp_path: Path, jobs: str) -> None:
    store = prepare(tmp_path, episodes=150, events=300)[0]
    path = letter(tmp_path, value="sum(i % 7 for i in range(200_000))")
    command = [sys.executable, "-m", "iwreplay", "score", "--jobs", jobs, "--scorer", path, "--store", store]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while len(list(store.rglob("scores.json"))) < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    kept = [s for s in score_episodes(store, scorers=(str(path),), compute=False) if s.kept]
    assert 3 <= len(kept) < 150
    assert all(s.value == sum(i % 7 for i in range(200_000)) for s in kept)


def test_a_diff_shows_flips_events_and_numbers(run: Run, samples: Store, tmp_path: Path) -> None:
    old = letter(tmp_path, value="task.id == 'F10'", evidence="(1, 2)", name="old")
    new = letter(tmp_path, value="len(events) // 300", evidence="(2, 3)", name="new", version=2)
    done = run("score", "--diff", old, new, "--json", "--store", samples.root)
    assert done.code == 0, done.err
    found = done.json()
    lengths = {"F10-silent": 365, "V06-oracle": 926, "V06-silent": 856}
    expected = {n: (float(n == "F10-silent"), float(lengths[n] // 300)) for n in WHOLE}
    flips = {f["episode"]: (f["old"], f["new"]) for f in found["flips"]}
    assert flips == {"V06-oracle": (0.0, 3.0), "V06-silent": (0.0, 2.0)}
    for f in found["flips"]:
        assert [e["seq"] for side in ("only_old", "both", "only_new") for e in f[side]] == [1, 2, 3]
        assert all(e["timeline"].startswith(f"{e['seq']} ") for e in f["only_old"])
    assert (found["old"]["version"], found["new"]["version"], found["episodes"], found["neither"]) == (1, 2, 4, 1)
    assert found["same"] == len(WHOLE) - len(flips)
    numbers = {(n["assistant"], n["number"]): (n["old"], n["new"], n["change"]) for n in found["numbers"]}
    means = [sum(v[i] for v in expected.values()) / 3 for i in (0, 1)]
    assert numbers["all", "episodes"] == (means[0], means[1], pytest.approx(means[1] - means[0]))
    prevention = [sum(v[i] for n, v in expected.items() if n[0] == "V") / 2 for i in (0, 1)]
    assert numbers["all", "prevention"] == (*prevention, prevention[1] - prevention[0])
    assert numbers["oracle", "episodes"][:2] == expected["V06-oracle"]
    assert numbers["all", "average"] == (None, None, None)
    text = run("score", "--diff", old, new, "--store", samples.root)
    assert f"{len(flips)} episode" in text.err
    assert "  -      1 " in text.out
    assert "  +      3 " in text.out
    assert "average" not in text.out
    # both are kept, and nothing that is reported has changed
    assert values(run, samples) == []
    assert not (samples.root / "scorers").exists()


def test_a_diff_with_what_is_kept_of_a_version_that_is_gone(run: Run, samples: Store, tmp_path: Path) -> None:
    path = letter(tmp_path)
    old = load_scorer(path).hash
    run("score", "V06-oracle", "F10", "--scorer", path, "--store", samples.root)
    letter(tmp_path, value="0", version=2)
    found = run("score", "--diff", f"mine@{old[:8]}", path, "--json", "--store", samples.root).json()
    assert found["old"] == {
        "named": f"mine@{old[:8]}", "scorer": "mine", "scorer_hash": old, "version": None, "kept_only": True,
    }  # fmt: skip
    assert [(f["episode"], f["old"], f["new"]) for f in found["flips"]] == [
        ("F10-silent", 1.0, 0.0), ("V06-oracle", 1.0, 0.0),
    ]  # fmt: skip
    assert found["flips"][0]["both"][0]["seq"] == 0
    assert [(o["episode"], o["status"]) for o in found["one_sided"]] == [("V06-silent", "missing")]
    fits = run("score", "--diff", "mine@", path, "--store", samples.root)
    assert (fits.code, "fits 2 kept scorers" in fits.err) == (2, True)


def test_only_the_last_versions_are_kept(run: Run, samples: Store, tmp_path: Path) -> None:
    hashes = []
    for version in range(1, 23):
        path = letter(tmp_path, version=version)
        hashes.append(load_scorer(path).hash)
        score_episodes(samples.root, ("V06-oracle",), scorers=(str(path),))
    entries = [e for e in ScoreBook.load(samples.find("V06-oracle")).entries if e.key.scorer == "mine"]
    assert [e.key.scorer_hash for e in entries] == hashes[-20:]
    gone = run("score", "V06-oracle", "--diff", f"mine@{hashes[0][:12]}", path, "--store", samples.root)
    assert (gone.code, "unknown kept scorer" in gone.err) == (2, True)


def test_a_diff_tells_one_sided_episodes_and_no_change(run: Run, samples: Store, tmp_path: Path) -> None:
    above = "from scorers import Unscorable\n"
    body = "def score(events, task):\n    return Unscorable(metric='mine', reason='no vodka', missing=('vodka',))\n"
    none = written(tmp_path, above + body, name="none", head="NAME = 'mine'\nVERSION = 1\n")
    done = run("score", "--diff", letter(tmp_path), none, "--store", samples.root)
    assert done.code == 0
    assert "only one side has a value:" in done.out
    assert "  V06-oracle: 1 -> -; unscorable: no vodka (missing: vodka)" in done.out
    assert (
        "0 episodes of 4 flipped; 0 episodes with the same value, 3 with a value on one side, 1 with none" in done.err
    )
    same = run("score", "--diff", "pass", "pass", "--store", samples.root)
    assert same.code == 0
    assert "nothing changed: 3 episodes with the same value, 1 with none" in same.err
    moved = run(
        "score", "--diff", letter(tmp_path), letter(tmp_path, evidence="(1,)", name="b"), "--store", samples.root
    )
    assert "nothing changed: 3 episodes with the same value (3 by other events), 1 with none" in moved.err


def test_a_diff_of_capabilities_has_their_shares(run: Run, samples: Store) -> None:
    found = run("score", "--diff", "capability", "capability", "--json", "--store", samples.root).json()
    shares = [n for n in found["numbers"] if n["assistant"] == "all" and n["number"].startswith("C")]
    assert shares
    assert all(n["change"] == 0 for n in shares)


def test_a_diff_tells_errors_and_damage(run: Run, samples: Store, tmp_path: Path) -> None:
    done = run("score", "--diff", letter(tmp_path), letter(tmp_path, value="[][0]", name="b"), "--store", samples.root)
    assert (done.code, done.err.count("IndexError")) == (1, 3)
    log = samples.find("V06-oracle").log
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 2] ^= 1
    log.write_bytes(bytes(raw))
    damaged = run("score", "--diff", "pass", "mcr", "--store", samples.root)
    assert (damaged.code, "damaged: V06-oracle" in damaged.err) == (3, True)


def test_a_built_in_name_in_a_note_does_not_hide_ours(run: Run, samples: Store) -> None:
    (samples.root / "scorers").mkdir()
    (samples.root / "scorers" / "pass.json").write_text('{"scorer":"pass","scorer_hash":"a","scorer_version":1}')
    assert len(values(run, samples, "SELECT episode, value FROM scores WHERE metric = 'pass'")) == len(NAMES)
    assert Catalogue(samples, scorers={}).scorers == {}
