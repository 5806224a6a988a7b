"""Which things a selector can give, before any log is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iwreplay.checks.index import SceneIndex

__all__ = ["Domain", "domain_of", "is_static", "static_ids"]


@dataclass(frozen=True, slots=True)
class Domain:
    """Ids that a selector or a variable ranges over."""

    ids: tuple[str, ...]
    #: the author named them, so that each must be able to have what is asked of it; otherwise one must
    strict: bool


def domain_of(selector: Any, *, index: SceneIndex, env: Mapping[str, Domain]) -> Domain:
    """Widest result of a valid selector."""
    op = selector[0]
    if op == "class":
        return Domain(index.classes[selector[1]], True)
    if op == "set":
        named: dict[str, None] = {}
        strict = True
        for x in selector[1:]:
            if x in env:
                named.update(dict.fromkeys(env[x].ids))
                strict = strict and env[x].strict
            else:
                named[x] = None
        return Domain(tuple(named), strict)
    if op == "where":
        return domain_of(selector[1], index=index, env=env)
    if op == "minus":
        whole = domain_of(selector[1], index=index, env=env)
        taken = static_ids(selector[2], index=index, env={}) if is_static(selector[2]) else ()
        return Domain(tuple(x for x in whole.ids if x not in taken), whole.strict)
    owner = selector[2].split(".", 1)[0]
    return Domain(tuple(t for t in index.movable if t != owner), False)


def is_static(selector: Any) -> bool:
    """True when the result depends on nothing but the scene (and on being on stage)."""
    if selector[0] == "minus":
        return is_static(selector[1]) and is_static(selector[2])
    return selector[0] in ("class", "set")


def static_ids(selector: Any, *, index: SceneIndex, env: Mapping[str, str]) -> tuple[str, ...]:
    """Result of a static selector, on stage or not, with its variables replaced by `env`."""
    if selector[0] == "class":
        return index.classes[selector[1]]
    if selector[0] == "set":
        return tuple(dict.fromkeys(env.get(x, x) for x in selector[1:]))
    taken = static_ids(selector[2], index=index, env=env)
    return tuple(x for x in static_ids(selector[1], index=index, env=env) if x not in taken)
