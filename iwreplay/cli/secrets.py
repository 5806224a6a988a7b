"""What must never be shown: the keys in the environment."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

__all__ = ["secrets"]

#: names of environment variables with keys end like this
_ENDS = ("KEY", "KEY_ID", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")
#: names of those with addresses, in which there may be a password
_ADDRESSES = ("PROXY", "URL", "BASE", "URI")
#: a shorter value is no key, and hiding it would spoil messages
_SHORTEST = 8


def secrets() -> tuple[str, ...]:
    """Values of the environment variables that hold keys, by their names."""
    environment = sorted(os.environ.items())  # noqa: TID251  keys are nowhere else, and are used for hiding them only
    found = [v for name, v in environment if name.upper().endswith(_ENDS)]
    found += [_password(v) for name, v in environment if name.upper().endswith(_ADDRESSES)]
    return tuple(v for v in found if len(v) >= _SHORTEST)


def _password(address: str) -> str:
    try:
        return urlsplit(address).password or ""
    except ValueError:
        # no address after all
        return ""
