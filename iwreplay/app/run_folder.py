"""The files of a benchmark run.

DIR/runs/<name>/plan.json        what the run consists of; it never changes
DIR/runs/<name>/limits.json      what its models may take; it is what was said last
DIR/runs/<name>/journal.jsonl    which episode was begun for what, and what became of it
DIR/runs/<name>/spending.jsonl   what its models took, whatever became of the episodes
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.canonical import canonical_bytes
from iwreplay.errors import StoreDamagedError, StoreError, UnknownNameError
from iwreplay.store import write_whole
from iwreplay.store.journal import read_journal
from recorder.benchmark import Charged, Limits, Plan, Progress, RunRecord, progress_of
from recorder.benchmark.plan import PLAN_FORMAT
from recorder.models.metering import Spent

__all__ = ["RunFolder", "run_names"]

_RUNS, _PLAN, _LIMITS, _JOURNAL, _SPENDING = "runs", "plan.json", "limits.json", "journal.jsonl", "spending.jsonl"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def run_names(store: Path) -> tuple[str, ...]:
    """The runs of a store, sorted."""
    folder = store / _RUNS
    return tuple(sorted(p.name for p in folder.iterdir() if (p / _PLAN).exists())) if folder.is_dir() else ()


class RunFolder:
    """The folder of one run, which need not be there yet."""

    def __init__(self, store: Path, name: str) -> None:
        """StoreError for a name that is none."""
        if not _NAME.fullmatch(name):
            raise StoreError(f"{name!r} is no name for a run: letters, digits, dots, - and _, at most 64")
        self.name, self._store = name, store
        self.path = store / _RUNS / name
        self.journal, self.spending = self.path / _JOURNAL, self.path / _SPENDING

    def make(self) -> bool:
        """Whether it was not there before."""
        new = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        return new

    def remove(self) -> None:
        """Takes away a run of which nothing was begun."""
        for name in (_PLAN, _LIMITS, _JOURNAL, _SPENDING):
            (self.path / name).unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()

    @property
    def planned(self) -> bool:
        return (self.path / _PLAN).exists()

    def plan(self) -> Plan:
        """UnknownNameError for a run that there is not, StoreDamagedError."""
        path = self.path / _PLAN
        try:
            raw = path.read_bytes()
            if msgspec.json.decode(raw, type=_PlanFormat).format > PLAN_FORMAT:
                raise StoreDamagedError(f"{path} was written by a newer iwreplay; upgrade to go on with this run")
            return msgspec.json.decode(raw, type=Plan)
        except FileNotFoundError:
            known = run_names(self._store)
            raise UnknownNameError("run", self.name, known=known, hint="Begin one with: iwreplay bench run") from None
        except msgspec.MsgspecError as e:
            raise StoreDamagedError(f"{path}: {e}. The episodes are untouched.") from None

    def limits(self) -> Limits:
        """What was said last; no limit where nothing was said. StoreDamagedError: what can't be read is not taken for
        no limit."""
        path = self.path / _LIMITS
        try:
            return msgspec.json.decode(path.read_bytes(), type=Limits)
        except FileNotFoundError:
            return Limits()
        except msgspec.MsgspecError as e:
            raise StoreDamagedError(f"{path}: {e}. Remove it and give the limits of the run again.") from None

    def keep_plan(self, plan: Plan) -> None:
        self._write(_PLAN, plan)

    def keep_limits(self, limits: Limits) -> None:
        self._write(_LIMITS, limits)

    def progress(self) -> Progress:
        """As its journal has it. StoreDamagedError."""
        return progress_of(_records(self.journal, RunRecord))

    def spent(self) -> Spent:
        """What its models took. StoreDamagedError."""
        spent = Spent()
        for charged in _records(self.spending, Charged):
            spent = spent.plus(charged)
        return spent

    def _write(self, name: str, what: msgspec.Struct) -> None:
        write_whole(self.path / name, msgspec.json.format(canonical_bytes(what), indent=1) + b"\n")


class _PlanFormat(msgspec.Struct):
    """What is read of a plan before the rest."""

    format: int


def _records(path: Path, kind: Any) -> tuple[Any, ...]:
    return read_journal(path, kind) if path.exists() else ()
