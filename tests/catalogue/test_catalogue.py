"""The catalogue follows the logs, step by step or from nothing, and answers read-only."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from iwreplay.app.episodes import look_at
from iwreplay.catalogue import Answer, Catalogue, question
from iwreplay.catalogue.schema import TABLES
from iwreplay.errors import QueryError, UnknownNameError
from iwreplay.log import read_log
from iwreplay.store import BookedScore, Episode, ScoreBook, ScoreKey, Store, VerdictClaim
from tests.catalogue.conftest import write_episode
from tests.store.test_verdicts import VERDICT

SCORERS = {"pass": "h1"}
SAMPLES = Path(__file__).resolve().parents[2] / "episodes" / "samples"


def _score(episode: Episode, value: float, *, scorer_hash: str = "h1") -> None:
    with read_log(episode.log) as log:
        root = log.root_hash
    assert root is not None
    key = ScoreKey(root_hash=root, scorer="pass", scorer_hash=scorer_hash)
    details = {
        "points": [
            {
                "id": "p1",
                "capability": "C4",
                "status": "clean_pass" if value else "fail",
                "help": "",
                "decided_seq": 7,
                "evidence": [6, 7],
            }
        ],
        "checks": [
            {
                "id": "washed",
                "kind": "objective",
                "verdict": "satisfied" if value else "not_satisfied",
                "passed": bool(value),
                "decided_seq": 9,
                "evidence": [9],
            }
        ],
    }
    ScoreBook.load(episode).put(
        BookedScore(key=key, metric="pass", value=value, status="scored", evidence=(5,), details=details)
    )


def _verify(episode: Episode, grade: str = "exact", *, root_hash: str | None = None, version: str = "0.1.0") -> None:
    with read_log(episode.log) as log:
        root = root_hash or log.root_hash
    assert root is not None
    steps = tuple(msgspec.structs.replace(s, grade=g) for s, g in zip(VERDICT.steps, ("exact", grade), strict=True))
    first = None if grade == "exact" else VERDICT.first_divergence
    verdict = msgspec.structs.replace(
        VERDICT, root_hash=root, grade=grade, steps=steps, first_divergence=first, iwreplay=version
    )
    with VerdictClaim.of(episode) as claim:
        claim.keep(verdict, wall_ns=1_700_000_000_000_000_000)


def _everything(catalogue: Catalogue) -> dict[str, tuple[tuple[object, ...], ...]]:
    return {t.name: catalogue.ask(f"SELECT * FROM {t.name} ORDER BY ALL", max_rows=10**6).rows for t in TABLES}


def _one(answer: Answer) -> object:
    ((value,),) = answer.rows
    return value


def test_rows_agree_with_the_log(store: Store) -> None:
    entry = write_episode(store, events=300)
    catalogue = Catalogue(store, scorers={})
    done = catalogue.refresh()
    assert done.added == (entry.id,)
    with read_log(entry.log) as log:
        events = list(log)
        root = log.root_hash
    kinds = [type(e).__name__ for _, e in events]
    assert catalogue.ask(
        "SELECT task, family, assistant, human, status, end_reason, valid, log_state, root_hash, events FROM episodes"
    ).rows == (("G99", "guidance", "oracle", "literal", "ended", "done", True, "sealed", root, len(events)),)
    for table, kind in (
        ("turns", "AssistantDecision"),
        ("actions", "PrimitiveOutcome"),
        ("frames", "FrameCaptured"),
        ("deltas", "StateDelta"),
        ("utterances", "Utterance"),
    ):
        assert _one(catalogue.ask(f"SELECT count(*) FROM {table}")) == kinds.count(kind) > 0
    assert _one(catalogue.ask("SELECT count(*) FROM happenings WHERE what = 'contact'")) == kinds.count("Contact")
    refused = sum(getattr(e, "refused", False) for _, e in events)
    assert refused > 0
    assert catalogue.ask("SELECT turns, actions, refused FROM episodes").rows == (
        (kinds.count("AssistantDecision"), kinds.count("CommandIssued") - 1, refused),
    )
    seqs = catalogue.ask("SELECT seq, command FROM actions ORDER BY seq").rows
    assert [s for s, _ in seqs] == [n for n, e in events if type(e).__name__ == "CommandIssued"]


def test_only_what_changed_is_read_again(store: Store) -> None:
    first, second = write_episode(store), write_episode(store, seed=1)
    catalogue = Catalogue(store, scorers=SCORERS)
    assert catalogue.refresh().added == (first.id, second.id)
    again = catalogue.refresh()
    assert (again.added, again.changed, again.removed, again.rescored, again.unchanged) == ((), (), (), (), 2)
    _score(first, 1.0)
    assert catalogue.refresh().rescored == (first.id,)
    assert catalogue.ask("SELECT episode, metric, value, evidence FROM scores").rows == ((first.id, "pass", 1.0, [5]),)
    assert catalogue.ask("SELECT * FROM points").rows == ((first.id, "p1", "C4", "clean_pass", ""),)
    _score(first, 0.0)
    assert catalogue.refresh().rescored == (first.id,)
    assert catalogue.ask("SELECT status FROM points").rows == (("fail",),)
    third = write_episode(store, assistant="silent")
    assert catalogue.refresh().added == (third.id,)
    assert second.folder is not None
    shutil.rmtree(second.folder)
    assert catalogue.refresh().removed == (second.id,)
    assert catalogue.ask("SELECT episode FROM episodes ORDER BY 1").rows == ((first.id,), (third.id,))


def test_step_by_step_is_the_same_as_from_nothing(store: Store) -> None:
    catalogue = Catalogue(store, scorers=SCORERS)
    catalogue.refresh()
    for n in range(4):
        entry = write_episode(store, seed=n, events=100 + 50 * n, assistant="oracle" if n % 2 else "silent")
        if n:
            _score(entry, float(n % 2))
        catalogue.refresh()
        if n > 1:
            _verify(entry, "diverged" if n % 2 else "exact")
            catalogue.refresh()
    write_episode(store, seed=9, end=None)
    changed = store.find("G99-silent-literal-s2")
    changed.log.unlink()
    other = write_episode(store, seed=77, events=90)
    other.log.rename(changed.log)
    done = catalogue.refresh()
    assert done.changed == (changed.id,)
    grown = _everything(catalogue)
    assert catalogue.refresh(rebuild=True).rebuilt
    assert _everything(catalogue) == grown
    assert len(grown["episodes"]) == 6
    assert len(grown["scores"]) == 2, "the score of the log that changed is not shown"
    assert len(grown["checks"]) == 4
    assert len(grown["replay_steps"]) == 4
    about = catalogue.ask("SELECT episode, about FROM replays ORDER BY ALL").rows
    assert about == (("G99-oracle-literal-s3", "this log"), (changed.id, "another log"))


def test_checks_are_rows(store: Store) -> None:
    entry = write_episode(store)
    _score(entry, 0.0)
    catalogue = Catalogue(store, scorers=SCORERS)
    catalogue.refresh()
    assert catalogue.ask("SELECT * FROM checks ORDER BY check_id").rows == (
        (entry.id, "p1", "point", "C4", "fail", False, 7, [6, 7]),
        (entry.id, "washed", "objective", None, "not_satisfied", False, 9, [9]),
    )
    _score(entry, 1.0)
    catalogue.refresh()
    assert catalogue.ask("SELECT check_id, passed FROM checks ORDER BY 1").rows == (("p1", True), ("washed", True))


def test_which_checks_fail_most(store: Store) -> None:
    for n, value in enumerate((0.0, 0.0, 1.0)):
        _score(write_episode(store, seed=n, assistant="silent"), value)
    _score(write_episode(store, seed=7), 1.0)
    catalogue = Catalogue(store, scorers=SCORERS)
    catalogue.refresh()
    answer = catalogue.ask(question("failing").sql)
    rows = [dict(zip(answer.columns, r, strict=True)) for r in answer.rows]
    assert [(r["check_id"], r["assistant"], r["failed"], r["judged"], r["failed_percent"]) for r in rows] == [
        ("p1", "silent", 2, 3, 66.7),
        ("washed", "silent", 2, 3, 66.7),
    ]
    assert rows[0]["example"] == "G99-silent-literal-s0 event 7"


def test_every_verification_is_a_row_and_the_latest_counts(store: Store) -> None:
    first, second = write_episode(store), write_episode(store, seed=1)
    catalogue = Catalogue(store, scorers=SCORERS)
    catalogue.refresh()
    _verify(first, "diverged")
    assert catalogue.refresh().rescored == (first.id,)
    _verify(first, "exact")
    _verify(second, "state-equal")
    _verify(second, "exact", version="0.2.0")
    _verify(second, "diverged", root_hash="c" * 64)
    assert catalogue.refresh().rescored == (first.id, second.id)
    asked = catalogue.ask(
        "SELECT episode, replay, about, grade, steps, steps_exact, first_seq FROM replays ORDER BY ALL"
    )
    assert asked.rows == (
        (first.id, 1, "this log", "diverged", 2, 1, 10),
        (first.id, 2, "this log", "exact", 2, 2, None),
        (second.id, 1, "this log", "state-equal", 2, 1, 10),
        (second.id, 2, "this log", "exact", 2, 2, None),
        (second.id, 3, "another log", "diverged", 2, 1, 10),
    )
    fidelity = catalogue.ask(question("fidelity").sql)
    rows = [dict(zip(fidelity.columns, r, strict=True)) for r in fidelity.rows]
    assert [(r["iwreplay"], r["episodes"], r["exact"], r["state_equal"], r["exact_step_percent"]) for r in rows] == [
        ("0.1.0", 2, 1, 1, 75.0),
        ("0.2.0", 1, 1, 0, 100.0),
    ]
    told = catalogue.ask(question("divergences").sql).rows
    assert [(r[0], r[1], r[2]) for r in told] == [
        (first.id, 1, "this log"),
        (second.id, 1, "this log"),
        (second.id, 3, "another log"),
    ]
    steps = f"SELECT command, grade FROM replay_steps WHERE episode = '{first.id}' AND replay = 1 ORDER BY step"
    assert catalogue.ask(steps).rows == (("", "exact"), ("[Walk] sink", "diverged"))


def test_a_damaged_verdict_hides_nothing_else(store: Store) -> None:
    entry = write_episode(store)
    _verify(entry)
    _verify(entry)
    assert entry.replays is not None
    (entry.replays / "000001" / "verdict.json").write_bytes(b"{")
    catalogue = Catalogue(store, scorers={})
    catalogue.refresh()
    rows = catalogue.ask("SELECT replay, about, grade, problem IS NULL FROM replays ORDER BY 1").rows
    assert rows == ((1, "unreadable", None, False), (2, "this log", "exact", True))


def test_a_score_of_another_scorer_version_is_not_shown(store: Store) -> None:
    entry = write_episode(store)
    _score(entry, 1.0)
    Catalogue(store, scorers=SCORERS).refresh()
    newer = Catalogue(store, scorers={"pass": "h2"})
    assert newer.refresh().rescored == (entry.id,)
    assert newer.ask("SELECT * FROM scores").rows == ()


def test_unfinished_and_damaged_episodes_are_listed(store: Store) -> None:
    killed = write_episode(store, seed=1, end=None)
    stopped = write_episode(store, seed=2, end="interrupted")
    damaged = write_episode(store, seed=3)
    data = bytearray(damaged.log.read_bytes())
    data[len(data) // 2] ^= 0xFF
    damaged.log.write_bytes(data)
    garbage = write_episode(store, seed=4)
    garbage.log.write_bytes(b"no log at all")
    never = store.new_episode(task="G99", assistant="oracle", human="literal", seed=5)
    whole = write_episode(store, seed=6)
    catalogue = Catalogue(store, scorers={})
    catalogue.refresh()
    rows = {r[0]: r[1:] for r in catalogue.ask("SELECT episode, status, log_state, problem FROM episodes").rows}
    assert rows[killed.id] == ("unfinished", "open", None)
    assert rows[stopped.id] == ("interrupted", "sealed", None)
    assert rows[whole.id] == ("ended", "sealed", None)
    assert rows[damaged.id][:2] == ("damaged", "corrupt")
    assert rows[garbage.id][0] == "damaged"
    assert rows[never.id] == ("unfinished", "open", "no event was committed")
    assert {e.episode: (e.status, e.log_state, e.problem) for e in map(look_at, store.episodes())} == rows, (
        "show and query use the same words"
    )
    listed = {r[0] for r in catalogue.ask(question("unfinished").sql).rows}
    assert listed == set(rows) - {whole.id}


def test_pass_by_family_and_assistant(store: Store) -> None:
    for n, (assistant, value) in enumerate((("oracle", 1.0), ("oracle", 0.0), ("silent", 0.0))):
        _score(write_episode(store, seed=n, assistant=assistant), value)
    write_episode(store, seed=8, end="interrupted")
    catalogue = Catalogue(store, scorers=SCORERS)
    catalogue.refresh()
    answer = catalogue.ask(question("pass").sql)
    assert answer.columns == (
        *("family", "assistant", "human", "episodes", "scored", "passed", "pass_percent"),
        "of_other_tasks",
    )
    assert answer.rows == (
        ("guidance", "oracle", "literal", 2, 2, 1, 50.0, 2),
        ("guidance", "silent", "literal", 1, 1, 0, 0.0, 1),
    )


def test_refusals_and_effort(store: Store) -> None:
    entry = write_episode(store, events=400)
    catalogue = Catalogue(store, scorers=SCORERS)
    catalogue.refresh()
    refusals = catalogue.ask(question("refusals").sql).rows
    assert [(r[0], r[1], r[2], r[4]) for r in refusals] == [("motion", "UNREACHABLE", "Wash", 1)]
    effort = catalogue.ask(question("effort").sql)
    row = dict(zip(effort.columns, effort.rows[0], strict=True))
    assert row["episode"] == entry.id
    assert row["passed"] is None
    assert row["turn_ratio"] == round(row["turns"] / row["oracle_turns"], 2)
    assert row["action_ratio"] == round(row["actions"] / row["oracle_actions"], 2)
    (told,) = catalogue.ask("SELECT turns, guided_turns, actions, guided_actions FROM episodes").rows
    assert (row["turns"], row["actions"]) == (told[1], told[3]) == (told[0] - 1, told[2]), (
        "the closing `done` is no turn"
    )


@pytest.mark.parametrize("sample", ["G05-oracle", "V06-oracle"])
def test_the_oracle_compared_with_itself_is_one(store: Store, sample: str) -> None:
    """V06 has a silent turn in which the Human acts by itself, and every oracle closes with a turn of its own."""
    store.take_in(sample, lambda path: shutil.copyfile(SAMPLES / f"{sample}.arrows", path) and None)
    catalogue = Catalogue(store, scorers=SCORERS)
    catalogue.refresh()
    answer = catalogue.ask(question("effort").sql)
    row = dict(zip(answer.columns, answer.rows[0], strict=True))
    assert (row["turn_ratio"], row["action_ratio"]) == (1.0, 1.0)


def test_unknown_question_lists_the_names() -> None:
    with pytest.raises(UnknownNameError, match="Known: pass, refusals, effort"):
        question("nope")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """A catalogue of one episode, for questions that change nothing."""
    store = Store.open_or_make(tmp_path_factory.mktemp("asked") / "store", made_by="test")
    write_episode(store)
    catalogue = Catalogue(store, scorers={})
    catalogue.refresh()
    return catalogue


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO episodes (episode) VALUES ('x')",
        "UPDATE episodes SET task = 'x'",
        "DELETE FROM episodes",
        "DROP TABLE episodes",
        "CREATE TABLE t (a INTEGER)",
        "CREATE TEMP TABLE t AS SELECT 1",
        "ATTACH 'other.duckdb' AS o",
        "COPY episodes TO 'out.csv'",
        "COPY (SELECT 1) TO 'out.csv'",
        "EXPORT DATABASE 'out'",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CALL pragma_version()",
        "BEGIN",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE episodes",
        "",
        "-- nothing",
        "SELEC 1",
        "SELECT nope FROM episodes",
        "SELECT * FROM nope",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_json('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_parquet('{file}')",
        "EXPLAIN ANALYZE DELETE FROM episodes",
    ],
)
def test_what_is_refused(asked: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with pytest.raises(QueryError) as e:
        asked.ask(sql.format(file=secret, folder=tmp_path))
    assert e.value.exit_code == 2
    assert "\n" not in str(e.value)
    assert os.listdir(tmp_path) == ["secret.csv"]
    assert asked.ask("SELECT episode FROM episodes").rows == (("G99-oracle-literal-s0",),)


def test_answers_are_bounded(store: Store) -> None:
    catalogue = Catalogue(store, scorers={})
    catalogue.refresh()
    answer = catalogue.ask("SELECT * FROM range(100)", max_rows=7)
    assert (len(answer.rows), answer.cut) == (7, True)
    assert not catalogue.ask("SELECT * FROM range(7)", max_rows=7).cut


@pytest.mark.parametrize("damage", ["garbage", "empty", "old", "block"])
def test_an_unusable_file_is_made_again(store: Store, damage: str) -> None:
    entry = write_episode(store)
    catalogue = Catalogue(store, scorers={})
    catalogue.refresh()
    if damage == "garbage":
        catalogue.path.write_bytes(b"x" * 9000)
    elif damage == "empty":
        catalogue.path.write_bytes(b"")
    elif damage == "block":
        data = bytearray(catalogue.path.read_bytes())
        for at in range(4096, len(data), 64):
            data[at] ^= 0xFF
        catalogue.path.write_bytes(data)
    else:
        con = duckdb.connect(str(catalogue.path))
        con.execute("UPDATE iw.about SET schema_version = 0")
        con.close()
    assert catalogue.refresh().rebuilt
    assert catalogue.ask("SELECT episode FROM episodes").rows == ((entry.id,),)


def _ask(root: str) -> int:
    catalogue = Catalogue(Store.open(Path(root)), scorers={})
    catalogue.refresh()
    value = _one(catalogue.ask("SELECT count(*) FROM episodes"))
    assert isinstance(value, int)
    return value


def test_processes_take_turns(store: Store) -> None:
    for n in range(6):
        write_episode(store, seed=n)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_ask, [str(store.root)] * 6) == [6] * 6


def test_a_disk_that_takes_nothing_is_said_in_one_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write_episode(store)
    catalogue = Catalogue(store, scorers={})

    def full(*_: object) -> None:
        raise duckdb.IOException("Could not write file: No space left on device")

    monkeypatch.setattr("iwreplay.catalogue.filling._insert", full)
    with pytest.raises(QueryError, match=r"can't be brought up to date: .*No space left on device") as e:
        catalogue.refresh()
    assert "\n" not in str(e.value)


def test_a_question_takes_one_connection(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write_episode(store)
    Catalogue(store, scorers=SCORERS).refresh()
    opened: list[bool] = []
    real = duckdb.connect

    def counting(path: str, *, read_only: bool, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        opened.append(read_only)
        return real(path, read_only=read_only, config=config)

    monkeypatch.setattr(duckdb, "connect", counting)
    with Catalogue(store, scorers=SCORERS) as catalogue:
        assert catalogue.refresh().unchanged == 1
        assert _one(catalogue.ask("SELECT count(*) FROM episodes")) == 1
        with pytest.raises(QueryError):
            catalogue.ask("SELECT nothing FROM nowhere")
        assert catalogue.ask("SELECT 1").rows == ((1,),)
    assert opened == [True]
    assert catalogue._reader is None


def test_what_is_taken_in_within_a_block_is_seen_in_it(store: Store) -> None:
    with Catalogue(store, scorers=SCORERS) as catalogue:
        catalogue.refresh()
        assert _one(catalogue.ask("SELECT count(*) FROM episodes")) == 0
        write_episode(store)
        assert len(catalogue.refresh().added) == 1
        assert _one(catalogue.ask("SELECT count(*) FROM episodes")) == 1
        assert catalogue.refresh(rebuild=True).rebuilt
        assert _one(catalogue.ask("SELECT count(*) FROM episodes")) == 1
