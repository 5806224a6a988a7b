"""What the text of a user's scorer shows of files, clocks, chance and memory, before any of it is run.

It is read as a syntax tree. That catches mistakes, not malice: what is hidden behind `getattr` or in data is left to
the guard at run time, and to scoring every log twice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pkgutil import resolve_name
from types import ModuleType
from typing import NamedTuple

import msgspec

__all__ = ["ALLOWED", "REFUSED_BUILTINS", "Finding", "findings", "imported", "may_import"]

#: modules that a scorer may import, with those below them
ALLOWED: tuple[str, ...] = (
    "__future__", "bisect", "collections", "dataclasses", "decimal", "enum", "fractions", "functools", "heapq",
    "itertools", "json", "math", "msgspec", "operator", "re", "statistics", "string", "typing",
    "iwreplay.checks", "iwreplay.errors", "iwreplay.events", "iwreplay.pose", "iwreplay.scene.geometry",
    "iwreplay.scene.model", "iwreplay.taskpack.model", "iwreplay.trig", "iwreplay.vocabulary", "iwreplay.world",
    "scorers",
)  # fmt: skip

#: builtin -> what it does
REFUSED_BUILTINS: dict[str, str] = {
    "open": "opens files",
    "input": "reads the terminal",
    "print": "writes to the terminal; put what is worth knowing into the details of the score",
    "exec": "runs text as code",
    "eval": "runs text as code",
    "compile": "runs text as code",
    "__import__": "imports past this check",
    "breakpoint": "stops for a debugger",
    "help": "writes to the terminal",
    "exit": "ends the process; return Unscorable",
    "quit": "ends the process; return Unscorable",
}
#: builtins that give another value in another process
_UNSTEADY = {
    "hash": "gives another number for the same text in another process",
    "id": "gives another number in another process",
}
_MODULES = {
    "reads the clock": ("calendar", "datetime", "sched", "time", "timeit", "zoneinfo"),
    "draws lots": ("random", "secrets", "uuid"),
    "reaches files or the system": (
        "builtins", "codecs", "csv", "ctypes", "fileinput", "gc", "getpass", "glob", "importlib", "inspect", "io",
        "linecache", "locale", "logging", "mmap", "os", "pathlib", "pickle", "platform", "shelve", "shutil", "sqlite3",
        "sys", "tempfile", "tomllib", "warnings", "zipfile",
    ),
    "starts processes or threads": (
        "_thread", "asyncio", "concurrent", "multiprocessing", "queue", "signal", "subprocess", "threading",
    ),
    "reaches the network": ("aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "socket", "ssl", "urllib"),
    "has sums that differ in the last bit between machines, so that a kept score would not be the score elsewhere":
        ("numpy", "pandas", "scipy", "torch"),
}  # fmt: skip
_WHY = {name: why for why, names in _MODULES.items() for name in names}
#: functions of allowed modules that change or read what is outside
_REFUSED_FUNCTIONS = {
    "decimal.getcontext": "changes how the whole process counts; use decimal.localcontext",
    "decimal.setcontext": "changes how the whole process counts; use decimal.localcontext",
    "json.dump": "writes files; use json.dumps",
    "json.load": "reads files; use json.loads",
}
_HIDDEN = frozenset(
    ("__builtins__", "__code__", "__dict__", "__file__", "__globals__", "__loader__", "__spec__", "__subclasses__")
)
_CHANGING = frozenset(
    ("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft",
     "remove", "reverse", "setdefault", "sort", "subtract", "update")
)  # fmt: skip
_MUTABLE_MAKERS = frozenset(("bytearray", "Counter", "defaultdict", "deque", "dict", "list", "OrderedDict", "set"))
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Scope = _Function | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Finding(msgspec.Struct, frozen=True, order=True):
    """Something in a file that a scorer may not do."""

    line: int
    what: str


def may_import(name: str) -> bool:
    """Whether `name` is an allowed module or below one."""
    return any(name == a or name.startswith(f"{a}.") for a in ALLOWED)


def imported(tree: ast.Module) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """(line, module, names from it) of every import, wherever it stands; a relative one begins with dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, ()
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or ""), tuple(a.name for a in node.names)


def findings(tree: ast.Module, *, own: frozenset[str]) -> tuple[Finding, ...]:
    """Everything of a file that is refused, in order. `own`: names of the modules beside it that it may import."""
    found = set(_imports(tree, own))
    if not found:
        # what is imported can be looked into only when it may be imported
        found = set(_Reader(tree, own).read())
    return tuple(sorted(found))


def _imports(tree: ast.Module, own: frozenset[str]) -> Iterator[Finding]:
    for line, module, names in imported(tree):
        if module.startswith("."):
            yield Finding(line, f"imports from {module}: a scorer is no package; write the name of the file beside it")
        elif module in own or _allowed(module, names):
            if "*" in names:
                yield Finding(line, f"imports * from {module}: name what is used")
        else:
            top = module.split(".")[0]
            why = _WHY.get(top, "is neither a module that a scorer may use nor a file beside it")
            yield Finding(line, f"imports {module}, which {why}")


def _allowed(module: str, names: tuple[str, ...]) -> bool:
    return may_import(module) or (bool(names) and all(may_import(f"{module}.{n}") for n in names))


class _Names(NamedTuple):
    """Names that are bound in a function, or in a comprehension, which may stand outside any function."""

    names: frozenset[str]
    function: bool


class _Reader:
    """One reading of a file."""

    def __init__(self, tree: ast.Module, own: frozenset[str]) -> None:
        self._tree = tree
        self._module = _bound(tree.body)
        #: local name -> (dotted name, line), of what is imported from elsewhere
        self._from: dict[str, tuple[str, int]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for a in node.names:
                    if a.name not in own:
                        local = a.asname or a.name.split(".")[0]
                        self._from[local] = a.name if a.asname else local, node.lineno
            elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module not in own:
                self._from.update({a.asname or a.name: (f"{node.module}.{a.name}", node.lineno) for a in node.names})
        self._own = own
        #: names that a class of something else is bound to, anywhere in the file
        self._classes = {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and _asks_for_class(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def read(self) -> Iterator[Finding]:
        for dotted, line in self._from.values():
            yield from self._reached(line, dotted)
        for statement in self._tree.body:
            yield from self._visit(statement, scopes=())

    def _visit(self, node: ast.AST, *, scopes: tuple[_Names, ...]) -> Iterator[Finding]:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from self._name(node, scopes)
        elif isinstance(node, ast.Attribute):
            if node.attr in _HIDDEN:
                yield Finding(node.lineno, f"uses {node.attr}, which reaches past this check")
            yield from self._attribute(node, scopes)
        elif isinstance(node, ast.Global):
            yield Finding(node.lineno, f"global {', '.join(node.names)}: {_KEPT}")
        if any(s.function for s in scopes):
            yield from self._change(node, scopes)
        if isinstance(node, _Function):
            yield from _defaults(node)
        inner = scopes
        if isinstance(node, _Function):
            inner = (*scopes, _Names(_bound_in_function(node), True))
        elif isinstance(node, _Scope):
            inner = (*scopes, _Names(_bound([node]), False))
        for child in ast.iter_child_nodes(node):
            yield from self._visit(child, scopes=inner)

    def _name(self, node: ast.Name, scopes: tuple[_Names, ...]) -> Iterator[Finding]:
        if node.id in self._module or _is_local(node.id, scopes):
            return
        why = REFUSED_BUILTINS.get(node.id) or _UNSTEADY.get(node.id)
        if why is not None:
            yield Finding(node.lineno, f"uses {node.id}, which {why}")
        elif node.id in _HIDDEN:
            yield Finding(node.lineno, f"uses {node.id}, which reaches past this check")

    def _attribute(self, node: ast.Attribute, scopes: tuple[_Names, ...]) -> Iterator[Finding]:
        """`module.name.name`: nothing is reached through an allowed module that may not be imported."""
        parts = [node.attr]
        root: ast.expr = node.value
        while isinstance(root, ast.Attribute):
            parts.append(root.attr)
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._from and not _is_local(root.id, scopes):
            yield from self._reached(node.lineno, ".".join([self._from[root.id][0], *reversed(parts)]))

    def _reached(self, line: int, dotted: str) -> Iterator[Finding]:
        if dotted in _REFUSED_FUNCTIONS:
            yield Finding(line, f"uses {dotted}, which {_REFUSED_FUNCTIONS[dotted]}")
            return
        try:
            value = resolve_name(dotted)
        except (AttributeError, ImportError):
            return  # it will fail when it is run, with its line
        if isinstance(value, ModuleType) and value.__name__ != dotted and not may_import(value.__name__):
            why = _WHY.get(value.__name__.split(".")[0], "is not a module that a scorer may use")
            yield Finding(line, f"uses {dotted}, the module {value.__name__}, which {why}")
        elif isinstance(value, ModuleType) and not may_import(dotted) and not _leads_to_allowed(dotted):
            yield Finding(line, f"uses {dotted}, which is not a module that a scorer may use")

    def _change(self, node: ast.AST, scopes: tuple[_Names, ...]) -> Iterator[Finding]:
        """Inside a function: what belongs to the module is changed."""
        targets: list[ast.expr] = []
        if not isinstance(node, ast.stmt | ast.expr):
            return
        if isinstance(node, ast.Assign | ast.Delete):
            targets = list(node.targets)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
                targets = [node.func]
            elif isinstance(node.func, ast.Name) and node.func.id == "next" and node.args:
                name = self._of_module(node.args[0], scopes)
                if name is not None:
                    yield Finding(node.lineno, f"takes the next of {name}, which belongs to the module: {_KEPT}")
        for target in targets:
            for part in ast.walk(target) if isinstance(target, ast.Tuple | ast.List) else (target,):
                if isinstance(part, ast.Attribute) and self._is_class(part.value):
                    yield Finding(node.lineno, f"changes the class of something: {_KEPT}")
                if isinstance(part, ast.Attribute | ast.Subscript):
                    name = self._of_module(part.value, scopes)
                    if name is not None and not (isinstance(node, ast.Call) and self._is_function(name, part.value)):
                        yield Finding(node.lineno, f"changes {name}, which belongs to the module: {_KEPT}")

    def _is_class(self, owner: ast.expr) -> bool:
        """`type(event).seen = 1` and `event.__class__.seen = 1`: events of all episodes have that class."""
        while isinstance(owner, ast.Attribute | ast.Subscript) and not _asks_for_class(owner):
            owner = owner.value
        return _asks_for_class(owner) or (isinstance(owner, ast.Name) and owner.id in self._classes)

    def _is_function(self, name: str, owner: ast.expr) -> bool:
        """`operator.add(...)` calls what a module has; `beside.SEEN.add(...)` changes it."""
        return name in self._from or (name in self._own and isinstance(owner, ast.Name))

    def _of_module(self, node: ast.expr, scopes: tuple[_Names, ...]) -> str | None:
        """The name of the module's that an expression begins with."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name) and node.id in self._module and not _is_local(node.id, scopes):
            return node.id
        return None


_KEPT = "it would be kept from one episode to the next, and a score rests on its own log only"


def _asks_for_class(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def _is_local(name: str, scopes: tuple[_Names, ...]) -> bool:
    return any(name in s.names for s in scopes)


def _leads_to_allowed(dotted: str) -> bool:
    return any(a.startswith(f"{dotted}.") for a in ALLOWED)


def _bound(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Names that are bound by these nodes themselves, without what is bound inside functions in them."""
    names: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {a.asname or a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        todo += ast.iter_child_nodes(node)
    return frozenset(names)


def _bound_in_function(node: _Function) -> frozenset[str]:
    a = node.args
    arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x is not None)]
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    names = {x.arg for x in arguments} | _bound(body)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global):
            names -= set(inner.names)
    return frozenset(names)


def _defaults(node: _Function) -> Iterator[Finding]:
    for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
        made = isinstance(default, ast.Call) and ast.unparse(default.func).rpartition(".")[2] in _MUTABLE_MAKERS
        if made or isinstance(default, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
            yield Finding(default.lineno, f"has the default {ast.unparse(default)}, which can change: {_KEPT}")
