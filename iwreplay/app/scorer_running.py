"""A user's scorer on a log: guarded, its answer checked, and asked a second time elsewhere.

The second time is in a process of its own, which has another hash seed, reads the log anew and runs the file anew. What
an episode left behind in the scorer for the next one, and the order of a set, show as another answer there.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.util import Finalize
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import msgspec

from iwreplay.app.pool import Workers
from iwreplay.app.scorer_file import MAIN, ScorerFile
from iwreplay.app.scorer_guard import RefusedError, guarded, guarded_builtins
from iwreplay.errors import IwreplayError, WorkerError
from iwreplay.events import EpisodeOpened, Event
from iwreplay.log import LogReader, read_log
from scorers import Score, Unscorable
from scorers.examine import examine

__all__ = ["ScorerRunError", "score_with"]

_Found = Score | Unscorable
_Function = Callable[[Any, Any], object]
#: scorers of which the module lives on in this process, by hash: running it once is all that it costs
_LIVE: dict[str, _Function] = {}
_MOST_LIVE = 16
#: what the names of their modules begin with in this process
_MODULE = "iwreplay user scorer: "
_SHOWN = 120
_OPENED = msgspec.json.Decoder(EpisodeOpened)


class ScorerRunError(IwreplayError):
    """A user's scorer that raised, was refused, or gave what is no score. Names file, line and value."""

    exit_code = 1


def score_with(scorer: ScorerFile, log: LogReader, *, path: Path) -> Score | Unscorable:
    """What a user's scorer says about an open log, whose file is `path`. One that no metric can rest on is unscorable
    for the built-in scorers' reasons, and the scorer is not asked. ScorerRunError when it fails, WorkerError when the
    process of the second time dies."""
    examined = examine(log, task=None)
    if isinstance(examined, tuple):
        reason, missing = examined
        return Unscorable(metric=scorer.name, reason=reason, missing=missing)
    if scorer.hash not in _LIVE:
        while len(_LIVE) >= _MOST_LIVE:
            del _LIVE[next(iter(_LIVE))]
        _LIVE[scorer.hash] = _run_file(scorer)
    first = _ask(_LIVE[scorer.hash], scorer, log)
    second = _Twin.ask(scorer, path)
    if first != second:
        raise ScorerRunError(
            f"{scorer.path} gives {_apart(first, second)} when the same log is scored once more in another process; "
            "does it keep something from one episode to the next, or depend on the order of a set?"
        )
    return first


class _Twin:
    """The process in which everything is scored a second time; it lasts as long as this one."""

    workers: Workers | None = None

    @classmethod
    def ask(cls, scorer: ScorerFile, path: Path) -> _Found:
        if cls.workers is None:
            cls.workers = Workers(1)
            # a worker process that ends waits for those that it started: it tells them to go before that, and before
            # the queue closes through which it tells them (at 10)
            Finalize(None, cls.stop, exitpriority=100)
        try:
            (future,) = cls.workers.submit(_afresh, (scorer, path))
            return future.result()
        except BrokenProcessPool as e:
            cls.workers = None
            raise WorkerError(
                f"the process that scores with {scorer.path} a second time was killed, or ran out of memory; "
                "what was finished is kept"
            ) from e

    @classmethod
    def stop(cls) -> None:
        if cls.workers is not None:
            cls.workers.stop()
            cls.workers = None


def _afresh(asked: tuple[ScorerFile, Path]) -> _Found:
    """Runs in the twin."""
    scorer, path = asked
    with read_log(path) as log:
        return _ask(_run_file(scorer), scorer, log)


def _run_file(scorer: ScorerFile) -> _Function:
    """Runs the scorer's file, and those beside it as it imports them; gives its function."""
    modules: dict[str, ModuleType] = {}
    with warnings.catch_warnings():
        # told when the file was read
        warnings.simplefilter("ignore")
        code = {m: compile(s.text, s.path, "exec", dont_inherit=True) for m, s in scorer.sources.items()}

    def module(name: str) -> ModuleType | None:
        if name not in modules and name in code:
            made = ModuleType(_MODULE + (name or scorer.name))
            made.__dict__["__builtins__"] = builtins
            modules[name] = made
            # data classes look for the module of their class there
            sys.modules[made.__name__] = made
            exec(code[name], made.__dict__)
        return modules.get(name)

    builtins = dict(guarded_builtins(module))
    main = _guarded(scorer, lambda: module(MAIN))
    assert isinstance(main, ModuleType), "a scorer has its own file"
    function = main.__dict__.get("score")
    if not callable(function):
        raise ScorerRunError(f"{scorer.path}: once it is run, score is {_short(function)}, and no function")
    return function  # type: ignore[no-any-return]


def _ask(function: _Function, scorer: ScorerFile, log: LogReader) -> _Found:
    (seq, first), *others = log
    # scenes and tasks are shared with whatever else this process scores: a scorer that changes its own hurts nobody
    opened = _OPENED.decode(msgspec.json.encode(first))
    events = ((seq, opened), *others)
    return _checked(_guarded(scorer, lambda: function(events, opened.task)), scorer, events)


def _guarded(scorer: ScorerFile, act: Callable[[], object]) -> object:
    """`act`, which runs code of the scorer."""
    refused: tuple[str, ...] = ()
    try:
        with guarded() as tried:
            try:
                return act()
            finally:
                refused = tried()
                if refused:
                    # also when the scorer took no notice
                    raise RefusedError
    except KeyboardInterrupt:
        raise
    except RefusedError as e:
        where = _where(e.__context__ or e, scorer)
        raise ScorerRunError(f"{where}tried {refused[0]}; a scorer may use its events and its task only") from e
    except BaseException as e:
        # code of a user may raise anything, SystemExit too
        said = " ".join(str(e).split())
        raise ScorerRunError(f"{_where(e, scorer)}{type(e).__name__}{f': {said}' if said else ''}") from e


def _where(error: BaseException, scorer: ScorerFile) -> str:
    """ "file:line: " of the scorer's own line that the error came through last."""
    files = {s.path: s.text.split("\n") for s in scorer.sources.values()}
    found = ""
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        path, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if path in files:
            found = f"{path}:{line}: {files[path][line - 1].strip()!r}: "
        trace = trace.tb_next
    return found or f"{scorer.path}: "


def _checked(answer: object, scorer: ScorerFile, events: tuple[tuple[int, Event], ...]) -> _Found:
    """What a scorer may answer, as a score of its metric."""
    if isinstance(answer, bool | int | float):
        answer = Score(metric=scorer.name, value=answer, evidence=())
    if isinstance(answer, Unscorable | Score) and answer.metric != scorer.name:
        raise _wrong(scorer, f"a score of the metric {_short(answer.metric)}; its metric is {scorer.name!r}")
    if isinstance(answer, Unscorable):
        _check_unscorable(answer, scorer)
        reason = " ".join(answer.reason.split())
        return Unscorable(
            metric=scorer.name, reason=reason, missing=tuple(answer.missing), undefined=bool(answer.undefined)
        )
    if not isinstance(answer, Score):
        raise _wrong(scorer, f"{_short(answer)}; give Score, Unscorable, a number or a truth value")
    value: object = answer.value
    if not isinstance(value, bool | int | float):
        raise _wrong(scorer, f"a score whose value is {_short(value)}; give a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong(scorer, f"{_short(value)}, which is no score; give Unscorable when the log can't support one")
    evidence = _evidence(answer, scorer, last=events[-1][0])
    return Score(metric=scorer.name, value=number, evidence=evidence, details=_details(answer, scorer))


def _check_unscorable(answer: Unscorable, scorer: ScorerFile) -> None:
    missing: object = answer.missing
    named = isinstance(missing, tuple | list) and all(isinstance(m, str) and m for m in missing)
    worded = isinstance(answer.reason, str) and bool(answer.reason.strip())
    if not worded or not named or not (missing or answer.undefined):
        raise _wrong(
            scorer,
            f"Unscorable with the reason {_short(answer.reason)} and missing {_short(missing)}; give the reason in "
            "words, and name what is missing, or say undefined=True when nothing is and the metric has no meaning",
        )


def _evidence(answer: Score, scorer: ScorerFile, *, last: int) -> tuple[int, ...]:
    evidence: object = answer.evidence
    if not isinstance(evidence, tuple | list | set | frozenset) or not all(type(s) is int for s in evidence):
        raise _wrong(scorer, f"the evidence {_short(evidence)}; give the numbers of events, as (seq, event) has them")
    outside = sorted(s for s in evidence if not 0 <= s <= last)
    if outside:
        raise _wrong(scorer, f"the evidence {outside[0]}; the log has events 0 to {last}")
    return tuple(sorted(set(evidence)))


def _details(answer: Score, scorer: ScorerFile) -> dict[str, Any]:
    details: object = answer.details
    if not isinstance(details, dict):
        raise _wrong(scorer, f"the details {_short(details)}; give a dict")
    try:
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(details))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as e:
        raise _wrong(scorer, f"details that are no JSON: {e}") from e
    number = _not_finite(details)
    if number is not None:
        raise _wrong(scorer, f"details with {number}, which JSON has not")
    return plain


def _not_finite(value: object) -> float | None:
    if isinstance(value, float):
        return None if math.isfinite(value) else value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | set) else ()
    return next((n for v in inner if (n := _not_finite(v)) is not None), None)


def _wrong(scorer: ScorerFile, what: str) -> ScorerRunError:
    return ScorerRunError(f"{scorer.path}: score gave {what}")


def _apart(first: _Found, second: _Found) -> str:
    """ "0.5, and 0.7": the first thing that two answers differ in."""
    if isinstance(first, Unscorable) or isinstance(second, Unscorable):
        told = [f"unscorable ({f.reason})" if isinstance(f, Unscorable) else str(f.value) for f in (first, second)]
        return ", and ".join(told)
    if first.value != second.value:
        return f"{first.value}, and {second.value}"
    if first.evidence != second.evidence:
        return f"the evidence {_short(list(first.evidence))}, and {_short(list(second.evidence))}"
    return f"the details {_short(first.details)}, and {_short(second.details)}"


def _short(value: object) -> str:
    try:
        text = f"{value!r}"
    except Exception as e:  # noqa: BLE001  a repr of a user's class
        text = f"something whose repr raises {type(e).__name__}"
    return f"{text[:_SHOWN]}{'...' if len(text) > _SHOWN else ''} ({type(value).__name__})"
