"""Is the table of an event formula well formed? Things in it are looked up by the validator."""

from __future__ import annotations

import math
from typing import Any

from iwreplay.checks.language import (
    COMPARISONS,
    DETAIL_FIELDS,
    EVENT_KINDS,
    OUTCOME_CODES,
    OUTCOME_FIELDS,
    PRIMITIVES,
)

__all__ = ["event_problem"]


def event_problem(fields: Any, *, scripts: tuple[str, ...] | None) -> str | None:
    """None for a good table; else a sentence naming the bad field or value and the good ones."""
    if not isinstance(fields, dict):
        return f'an event is a table such as {{verb = "grab", obj = "mug_1"}}, not {fields!r}'
    if ("verb" in fields) == ("kind" in fields):
        return "an event has either `verb` (a primitive was carried out) or `kind` (something happened)"
    if "verb" in fields:
        return _outcome_problem(fields)
    kind = fields["kind"]
    if kind not in EVENT_KINDS:
        return f"unknown happening {kind!r}; known: {', '.join(EVENT_KINDS)}"
    unknown = _unknown(fields, EVENT_KINDS[kind], f"an event of kind {kind!r}")
    if unknown is not None:
        return unknown
    for field, choices in DETAIL_FIELDS.items():
        if field in fields and fields[field] not in choices:
            return f"unknown {field} {fields[field]!r}; known: {', '.join(choices)}"
    if scripts is not None and "script" in fields and fields["script"] not in scripts:
        return f"the task has no scripted event {fields['script']!r}; it has {', '.join(scripts) or 'none'}"
    return _detail_problem(fields["detail"]) if "detail" in fields else None


def _outcome_problem(fields: dict[str, Any]) -> str | None:
    verb = fields["verb"]
    if verb not in PRIMITIVES:
        return f"unknown verb {verb!r}; an event names the canonical primitive: {', '.join(PRIMITIVES)}"
    unknown = _unknown(fields, OUTCOME_FIELDS, "an event with `verb`")
    if unknown is not None:
        return unknown
    if "code" in fields and fields["code"] not in OUTCOME_CODES:
        return f"unknown outcome code {fields['code']!r}; known: {', '.join(OUTCOME_CODES)}"
    if "ok" in fields and not isinstance(fields["ok"], bool):
        return f"`ok` is true or false, not {fields['ok']!r}"
    if "code" in fields and "ok" in fields and fields["ok"] != (fields["code"] == "OK"):
        return f"an outcome with code {fields['code']!r} never has ok = {str(fields['ok']).lower()}"
    return None


def _unknown(fields: dict[str, Any], known: tuple[str, ...], what: str) -> str | None:
    extra = sorted(k for k in fields if k not in known)
    return f"{what} has no field {extra[0]!r}; its fields: {', '.join(known)}" if extra else None


def _detail_problem(detail: Any) -> str | None:
    if not isinstance(detail, dict) or not detail:
        return f"`detail` is a table of values or [comparison, value], not {detail!r}"
    for key, wanted in detail.items():
        pair = wanted if isinstance(wanted, list | tuple) else ("==", wanted)
        if len(pair) != 2 or pair[0] not in COMPARISONS:
            return f"detail {key!r} is a value or [comparison, value], not {wanted!r}"
        value = pair[1]
        if isinstance(value, float) and not math.isfinite(value):
            return f"detail {key!r} must be finite, not {value!r}"
        if not isinstance(value, bool | int | float | str):
            return f"detail {key!r} is compared with a word, a number or true/false, not {value!r}"
        ordered = pair[0] not in ("==", "!=", "has")
        if ordered and (isinstance(value, bool) or not isinstance(value, int | float)):
            return f"detail {key!r}: {pair[0]!r} compares numbers, not {value!r}"
        if pair[0] == "has" and not isinstance(value, str):
            return f"detail {key!r}: `has` looks for a text, not {value!r}"
    return None
