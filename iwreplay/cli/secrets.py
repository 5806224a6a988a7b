"""What must never be shown: the keys in the environment."""

from __future__ import annotations

import os

__all__ = ["secrets"]

#: names of environment variables with keys end like this
_ENDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")
#: a shorter value is no key, and hiding it would spoil messages
_SHORTEST = 8


def secrets() -> tuple[str, ...]:
    """Values of the environment variables that hold keys, by their names."""
    environment = os.environ.items()  # noqa: TID251  keys are nowhere else, and are used for hiding them only
    return tuple(v for name, v in sorted(environment) if name.upper().endswith(_ENDS) and len(v) >= _SHORTEST)
