"""Names of prims: USD takes letters, digits and "_" only, an id of ours may hold anything. Reversible."""

from __future__ import annotations

import re

__all__ = ["id_of_prim", "prim_name"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: a character that had to be written otherwise: its code point in hexadecimal digits
_CODE = re.compile(r"_u([0-9a-f]+)_")
#: of the empty id
_EMPTY = "_u_"


def prim_name(name: str) -> str:
    """A valid name of a prim, another for every other `name`: itself where it is valid; else every character that
    may not stand there is written as "_u", its code point in hexadecimal digits, and "_"."""
    if _PLAIN.fullmatch(name) and not _CODE.search(name) and _EMPTY not in name:
        return name
    if not name:
        return _EMPTY
    # "_" goes too when it could be taken for the beginning of such a code
    looks_coded = "_u" in name
    return "".join(
        c
        if c.isascii() and (c.isalpha() or (c.isdigit() and i > 0) or (c == "_" and not looks_coded))
        else f"_u{ord(c):x}_"
        for i, c in enumerate(name)
    )


def id_of_prim(prim: str) -> str:
    """What `prim_name` was given."""
    return "" if prim == _EMPTY else _CODE.sub(lambda m: chr(int(m[1], 16)), prim)
