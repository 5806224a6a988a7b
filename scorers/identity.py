"""What a score depends on besides the log: the source of its scorer and of the code that judges below it.

A score is valid for (log root hash, scorer hash, parameters). The scorer hash is sha256 over the scorer's name and
version and the source of every module of `JUDGING` that its own module reaches by imports. Reading one's own source
is the only reading here, and no scorer does it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.abc import InspectLoader
from importlib.util import find_spec

from scorers.model import Scorer

__all__ = ["JUDGING", "judging_hash", "modules_of", "scorer_hash"]

#: packages and modules whose source decides a verdict; the log's own format is versioned in the log
JUDGING: tuple[str, ...] = ("scorers", "iwreplay.checks", "iwreplay.world", "iwreplay.pose", "iwreplay.vocabulary",
                            "iwreplay.trig", "iwreplay.scene.geometry", "iwreplay.scene.convex")  # fmt: skip


def scorer_hash(scorer: Scorer) -> str:
    """Hex sha256; the same on every machine for the same source."""
    digest = hashlib.sha256()
    for part in (scorer.name, str(scorer.version)):
        digest.update(f"{part}\n".encode())
    for line in _sources(modules_of(scorer)):
        digest.update(line)
    return digest.hexdigest()


def judging_hash(names: Iterable[str]) -> str:
    """Hex sha256 over the source of every module of `JUDGING` that these reach, for a scorer that is none of ours.
    Names that are no modules are passed over."""
    return hashlib.sha256(b"".join(_sources(_reached(n for n in names if _is_module(n))))).hexdigest()


def modules_of(scorer: Scorer) -> tuple[str, ...]:
    """Modules of `JUDGING` that the scorer's module reaches by imports, itself included, sorted."""
    return _reached([scorer.module])


def _sources(modules: Iterable[str]) -> Iterator[bytes]:
    for name in modules:
        yield f"{name}\n".encode()
        yield hashlib.sha256(_source(name).encode()).digest()


def _reached(modules: Iterable[str]) -> tuple[str, ...]:
    seen: set[str] = set()
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [m for m in _imports(name) if m not in seen]
    return tuple(sorted(m for m in seen if _judges(m)))


def _judges(module: str) -> bool:
    return any(module == j or module.startswith(f"{j}.") for j in JUDGING)


@cache
def _imports(module: str) -> tuple[str, ...]:
    """First-party modules that a module imports, anywhere in it."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(_source(module))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        found.update((n, None) for n in names if n.split(".")[0] in ("iwreplay", "scorers") and _is_module(n))
    return tuple(found)


@cache
def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the name of something inside a module
        return False


@cache
def _source(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None, f"{module} is imported and cannot be found"
    assert isinstance(spec.loader, InspectLoader), f"{module} has no readable source"
    source = spec.loader.get_source(module)
    assert source is not None, f"{module} has no readable source"
    return source.replace("\r\n", "\n")
