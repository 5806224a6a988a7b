"""A user's own scorer: a Python file with `VERSION` and a function `score(events, task)`.

It is read as text, with the files beside it that it imports. What is known of it (name, version, parameters, hash, and
that it looks pure) comes from its syntax tree; none of it is run here.
"""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.app.scorer_purity import ALLOWED, findings, imported, may_import
from iwreplay.errors import IwreplayError
from scorers import SCORERS, judging_hash

__all__ = ["MAIN", "ScorerFile", "ScorerFileError", "SourceText", "load_scorer"]

#: key of the scorer's own file among its sources
MAIN = ""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_MAX_BYTES, _MAX_FILES, _MAX_TOLD = 1_000_000, 50, 5
#: what decides, beside what a scorer imports, whether its log can be scored at all
_ALWAYS = ("scorers.examine", "scorers.model")


class ScorerFileError(IwreplayError):
    """A file that is no scorer, or one that a scorer may not be. Names file, line and value."""


class SourceText(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was read."""

    path: str
    #: with "\\n" at the end of lines
    text: str


class ScorerFile(msgspec.Struct, frozen=True, kw_only=True):
    """A user's scorer, before anything of it is run. Pickles."""

    name: str
    #: raised by its author whenever its meaning changes
    version: int
    params: dict[str, str]
    #: `MAIN` is the scorer itself, the others the modules beside it that it imports
    sources: dict[str, SourceText]
    #: over name, version, all sources, and the source of what judges below it
    hash: str

    @property
    def path(self) -> str:
        """The file, as it was named."""
        return self.sources[MAIN].path


def load_scorer(path: Path) -> ScorerFile:
    """Reads a scorer and checks it. ScorerFileError for everything that is wrong with it."""
    sources, trees = _read_all(path)
    tree = trees[MAIN]
    _check_function(tree, path)
    own = frozenset(sources) - {MAIN}
    found = [(sources[m].path, f) for m in sources for f in findings(trees[m], own=own)]
    if found:
        told = "; ".join(f"{p}:{f.line}: {f.what}" for p, f in found[:_MAX_TOLD])
        more = f"; and {len(found) - _MAX_TOLD} more" if len(found) > _MAX_TOLD else ""
        may = f". It may import {', '.join(ALLOWED)}" if any("import" in f.what for _, f in found) else ""
        raise ScorerFileError(f"a scorer may use its events and its task only. {told}{more}{may}")
    name = _name(tree, path)
    version = _constant(tree, "VERSION", path)
    if type(version) is not int or version < 1:
        raise ScorerFileError(f"{_at(path, tree, 'VERSION')}: VERSION is {version!r}; give a whole number from 1 up")
    params = _constant(tree, "PARAMETERS", path, default={})
    if not isinstance(params, dict) or not all(isinstance(x, str) for kv in params.items() for x in kv):
        raise ScorerFileError(
            f"{_at(path, tree, 'PARAMETERS')}: PARAMETERS is {params!r}; give a dict of texts by names"
        )
    reached = {m for t in trees.values() for _, module, names in imported(t) for m in _modules(module, names)}
    return ScorerFile(
        name=name,
        version=version,
        params=params,
        sources=sources,
        hash=_hash(name, version, sources, (*_ALWAYS, *sorted(reached))),
    )


def _hash(name: str, version: int, sources: dict[str, SourceText], reached: tuple[str, ...]) -> str:
    digest = hashlib.sha256(f"{name}\n{version}\n".encode())
    for module in sorted(sources):
        digest.update(f"{module}\n".encode())
        digest.update(hashlib.sha256(sources[module].text.encode()).digest())
    digest.update(judging_hash(reached).encode())
    return digest.hexdigest()


def _modules(module: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What may be modules of ours in an import."""
    ours = module.partition(".")[0] in ("iwreplay", "scorers")
    return (module, *(f"{module}.{n}" for n in names)) if ours else ()


def _read_all(path: Path) -> tuple[dict[str, SourceText], dict[str, ast.Module]]:
    """The file and all beside it that it reaches by imports: their texts and trees by module name."""
    sources: dict[str, SourceText] = {}
    trees: dict[str, ast.Module] = {}
    todo = [(MAIN, path)]
    while todo:
        module, file = todo.pop()
        if module in sources:
            continue
        if len(sources) == _MAX_FILES:
            raise ScorerFileError(f"{path} imports more than {_MAX_FILES} files beside it")
        sources[module] = SourceText(path=str(file), text=_text(file))
        try:
            trees[module] = ast.parse(sources[module].text, filename=str(file))
        except (SyntaxError, ValueError) as e:
            raise ScorerFileError(f"{file}:{getattr(e, 'lineno', None) or 1}: {getattr(e, 'msg', None) or e}") from e
        for line, name, _ in imported(trees[module]):
            beside = path.with_name(f"{name}.py")
            if "." in name or not beside.is_file():
                continue
            if may_import(name):
                raise ScorerFileError(f"{file}:{line}: imports {name}, which is a module of Python, and {beside}; "
                                      f"give {beside} another name")  # fmt: skip
            if beside.resolve() == path.resolve():
                raise ScorerFileError(f"{file}:{line}: imports {name}, which is the scorer itself")
            todo.append((name, beside))
    return sources, trees


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ScorerFileError(f"{path} has {path.stat().st_size} bytes; a scorer may have {_MAX_BYTES}")
        raw = path.read_bytes()
    except OSError as e:
        raise ScorerFileError(f"the scorer {path} can't be read: {e.strerror}") from e
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        raise ScorerFileError(f"{path} is no text in UTF-8: byte {e.start} is {raw[e.start]:#x}") from e


def _check_function(tree: ast.Module, path: Path) -> None:
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == "score"]
    if not found:
        there = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
        has = f"it has {', '.join(there)}" if there else "it has no function"
        raise ScorerFileError(f"{path} has no function score(events, task); {has}")
    function = found[-1]
    at = f"{path}:{function.lineno}"
    if isinstance(function, ast.AsyncFunctionDef):
        raise ScorerFileError(f"{at}: score is async; a score waits for nothing: def score(events, task)")
    a = function.args
    positional = len(a.posonlyargs) + len(a.args)
    needed = positional - len(a.defaults)
    keywords = [k.arg for k, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is None]
    if needed > 2 or (positional < 2 and a.vararg is None) or keywords:
        raise ScorerFileError(f"{at}: score takes ({ast.unparse(a)}), and is called as score(events, task)")


def _name(tree: ast.Module, path: Path) -> str:
    name = _constant(tree, "NAME", path, default=path.stem)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ScorerFileError(
            f"{_at(path, tree, 'NAME')}: the metric's name is {name!r}; give NAME = a letter, then up to 63 letters, "
            "digits, _ or -"
        )
    if any(name == s.name for s in SCORERS):
        raise ScorerFileError(
            f"{_at(path, tree, 'NAME')}: a built-in scorer is called {name!r}; give NAME = another name"
        )
    return name


def _constant(tree: ast.Module, name: str, path: Path, *, default: Any = None) -> Any:
    """The value of a constant of the module, which is written there as it is."""
    nodes = [n for n in tree.body if _assigns(n, name)]
    if not nodes:
        if default is None:
            raise ScorerFileError(f"{path} has no {name}: write {name} = 1, and raise it when the meaning changes")
        return default
    node = nodes[-1]
    try:
        if len(nodes) > 1 or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            raise ValueError("it is not assigned once")
        return ast.literal_eval(node.value)
    except ValueError as e:
        raise ScorerFileError(
            f"{path}:{node.lineno}: {ast.unparse(node)!r}: {name} is read without running the file; assign it once, "
            "as a plain value"
        ) from e


def _assigns(node: ast.stmt, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(t, ast.Name) and t.id == name for t in targets)


def _at(path: Path, tree: ast.Module, name: str) -> str:
    """ "file:line" of a constant; the file when it is not written there."""
    return next((f"{path}:{n.lineno}" for n in tree.body if _assigns(n, name)), str(path))
