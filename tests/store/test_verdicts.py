"""Verdicts of replays: each a record of its own, never overwritten, and readable or saying why not."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import msgspec
import pytest

from iwreplay.errors import StoreError
from iwreplay.store import (
    Episode,
    FirstDivergence,
    ReplayVerdict,
    StepVerdict,
    VerdictClaim,
    kept_verdicts,
    verdicts_stamp,
)

__all__ = ["VERDICT"]

VERDICT = ReplayVerdict(
    root_hash="a" * 64,
    grade="diverged",
    steps=(
        StepVerdict(0, "episode_opened", 0, None, "", "exact"),
        StepVerdict(9, "command_issued", 1, 0, "[Walk] sink", "diverged"),
    ),
    first_divergence=FirstDivergence(
        seq=10,
        sim_time_s=2.0,
        turn=1,
        kind="state_delta",
        object="mug_1",
        field="wet",
        expected="true",
        got="false",
        decision_turn=1,
        decision_text="Go to the sink.",
    ),
    differences=3,
    events=40,
    replayed_root_hash="b" * 64,
    log_ended=True,
    stopped=False,
    environment=(),
    iwreplay="0.1.0",
    simulator="mujoco 4",
    renderer="r/1",
    fingerprint={"python": "3"},
    parameters={"fail_fast": "false"},
)


@pytest.fixture
def episode(tmp_path: Path) -> Episode:
    return Episode(id="e", log=tmp_path / "log.arrows", folder=tmp_path)


def _keep(episode: Episode, verdict: ReplayVerdict = VERDICT, *, wall_ns: int = 7) -> Path:
    with VerdictClaim.of(episode) as claim:
        claim.keep(verdict, wall_ns=wall_ns)
    return claim.folder / "verdict.json"


def test_what_was_kept_is_there_again(episode: Episode) -> None:
    assert list(kept_verdicts(episode)) == []
    _keep(episode)
    (kept,) = kept_verdicts(episode)
    assert (kept.replay, kept.verdict, kept.wall_ns, kept.problem) == (1, VERDICT, 7, None)


def test_a_later_verification_is_a_new_record(episode: Episode) -> None:
    first = _keep(episode)
    bytes_before = first.read_bytes()
    stamp = verdicts_stamp(episode)
    _keep(episode, msgspec.structs.replace(VERDICT, grade="exact"))
    _keep(episode)
    assert [(k.replay, k.verdict and k.verdict.grade) for k in kept_verdicts(episode)] == [
        (1, "diverged"),
        (2, "exact"),
        (3, "diverged"),
    ]
    assert first.read_bytes() == bytes_before
    assert verdicts_stamp(episode) != stamp


def test_what_was_broken_off_leaves_nothing(episode: Episode) -> None:
    with pytest.raises(KeyboardInterrupt), VerdictClaim.of(episode):
        raise KeyboardInterrupt
    assert episode.replays is not None
    assert list(episode.replays.iterdir()) == []
    (episode.replays / "000004").mkdir()  # by a process that was killed
    assert list(kept_verdicts(episode)) == []
    assert _keep(episode).parent.name == "000005"


def test_the_wall_time_is_not_what_is_compared(episode: Episode) -> None:
    early, late = (json.loads(_keep(episode, wall_ns=t).read_bytes()) for t in (1, 2))
    assert (early.pop("wall_ns"), late.pop("wall_ns")) == (1, 2)
    assert early == late


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda raw: b"", "damaged: "),
        (lambda raw: raw[:-40], "damaged: "),
        (lambda raw: raw.replace(b'"diverged"', b'"exact"', 1), "damaged: it is not what was written"),
        (lambda raw: raw.replace(b'"version":1', b'"version":2'), "version 2 is newer than 1"),
        (lambda raw: b'{"version":1}', "damaged: "),
    ],
)
def test_a_damaged_record_says_so_and_hides_no_other(episode: Episode, change: object, problem: str) -> None:
    damaged = _keep(episode)
    _keep(episode)
    assert callable(change)
    damaged.write_bytes(change(damaged.read_bytes()))
    bad, good = kept_verdicts(episode)
    assert (bad.verdict, good.verdict) == (None, VERDICT)
    assert bad.problem is not None
    assert bad.problem.startswith(problem)


def _many(folder: str, n: int) -> list[int]:
    episode = Episode(id="e", log=Path(folder) / "log.arrows", folder=Path(folder))
    return [int(_keep(episode).parent.name) for _ in range(n)]


def test_two_verifications_never_share_a_record(episode: Episode) -> None:
    assert episode.folder is not None
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        a, b = pool.starmap(_many, [(str(episode.folder), 20), (str(episode.folder), 20)])
    assert sorted(a + b) == list(range(1, 41))


def test_a_disk_that_takes_nothing_is_said_before_the_work(episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.mkdir", refused)
    with pytest.raises(StoreError, match=r"can't be kept in .*Read-only file system; with --no-keep"):
        VerdictClaim.of(episode)


def test_outside_a_store_nothing_is_kept(tmp_path: Path) -> None:
    loose = Episode(id="x", log=tmp_path / "x.arrows", folder=None)
    assert (list(kept_verdicts(loose)), verdicts_stamp(loose)) == ([], "")
