"""The store: a directory of episodes, each one log with what was derived from it beside it."""

from __future__ import annotations

from iwreplay.store.directory import STORE_VERSION, Episode, Store


__all__ = ["STORE_VERSION", "Episode", "Store"]
