"""`iwreplay score` says in words what an episode fails."""

from __future__ import annotations

from pathlib import Path

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
