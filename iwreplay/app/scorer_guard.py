"""A user's scorer runs behind this guard: what it may not do is refused, and told by name.

Two doors are watched, in its own thread and while it runs only. Its builtins are ours: `open`, `exec` and their like
refuse, and `import` gives allowed modules and the files beside it. An audit hook of Python hears of what is done
through anything else. It is a guard against mistakes: code that wants to get past it can.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from iwreplay.app.scorer_purity import REFUSED_BUILTINS, may_import

__all__ = ["RefusedError", "guarded", "guarded_builtins"]

#: audit events of what touches nothing outside: named tuples and data classes are made with `exec`
_HARMLESS = frozenset(
    ("array.__new__", "builtins.id", "code.__new__", "compile", "exec", "object.__delattr__", "object.__getattr__",
     "object.__setattr__", "sys._current_frames", "sys._getframe", "sys._getframemodulename", "sys.unraisablehook")
)  # fmt: skip
_SHOWN = 80


class RefusedError(Exception):
    """Raised inside a scorer, where it tries to do what it may not."""


class _Here(threading.local):
    """What a thread is at."""

    armed = False
    #: what was tried and refused, in order
    tried: tuple[str, ...] = ()


_HERE = _Here()
#: holds the hook once it is there: it can't be taken away again, only disarmed
_HOOKED: list[Callable[[str, tuple[Any, ...]], None]] = []


@contextmanager
def guarded() -> Iterator[Callable[[], tuple[str, ...]]]:
    """Arms the guard in this thread. Gives a function that tells what was tried and refused, also when the scorer
    swallowed the RefusedError."""
    if not _HOOKED:
        sys.addaudithook(_hook)
        _HOOKED.append(_hook)
    before = _HERE.armed, _HERE.tried
    _HERE.tried = ()
    tried = lambda: _HERE.tried  # noqa: E731
    _HERE.armed = True
    try:
        yield tried
    finally:
        _HERE.armed = False
        kept = _HERE.tried
        _HERE.armed, _HERE.tried = before[0], (*before[1], *kept) if before[0] else kept


def guarded_builtins(own: Callable[[str], Any | None]) -> Mapping[str, Any]:
    """The builtins of a scorer's modules. `own` gives a module beside it by its name, None when there is none."""
    refusing = {name: _refuser(name, why) for name, why in REFUSED_BUILTINS.items()}
    return {**vars(builtins), **refusing, "__import__": _importer(own)}


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _HERE.armed or event in _HARMLESS:
        return
    of = f" {args[0]!r}"[:_SHOWN] if args and isinstance(args[0], str | bytes | int) else ""
    _refuse(f"import{of}" if event == "import" else f"{event}{of}")


def _refuse(what: str) -> None:
    _HERE.tried = (*_HERE.tried, what)
    raise RefusedError(f"tried {what}")


def _refuser(name: str, why: str) -> Callable[..., Any]:
    def refused(*args: object, **kwargs: object) -> None:
        of = f" {args[0]!r}"[:_SHOWN] if args and isinstance(args[0], str | bytes | int) else ""
        _refuse(f"{name}{of}, which {why}")

    refused.__name__ = name
    return refused


def _importer(own: Callable[[str], Any | None]) -> Callable[..., Any]:
    def imports(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        if level == 0:
            found = own(name)
            if found is not None:
                return found
            names = tuple(fromlist or ())
            if may_import(name) or (names and all(may_import(f"{name}.{n}") for n in names)):
                armed, _HERE.armed = _HERE.armed, False
                try:
                    return _real_import(name, globals, locals, names, 0)
                finally:
                    _HERE.armed = armed
        _refuse(f"import {'.' * level}{name}")
        return None

    return imports


_real_import: Callable[..., Any] = builtins.__import__
