"""Stores on an object store: episodes pushed there whole, pulled from there audited, and mirrored for reading."""

from __future__ import annotations

from iwreplay.remote.address import RemoteAddress, is_address, parse_address
from iwreplay.remote.annotating import pull_annotations, push_annotations
from iwreplay.remote.files import PATIENCE, Patience, RemoteFiles
from iwreplay.remote.manifest import Manifest, RemoteFile
from iwreplay.remote.mirror import Mirror
from iwreplay.remote.pulling import PullOutcome, pull_episode, tidy
from iwreplay.remote.pushing import PushOutcome, push_episode
from iwreplay.remote.store import RemoteStore
from iwreplay.remote.together import together

__all__ = [
    "PATIENCE",
    "Manifest",
    "Mirror",
    "Patience",
    "PullOutcome",
    "PushOutcome",
    "RemoteAddress",
    "RemoteFile",
    "RemoteFiles",
    "RemoteStore",
    "is_address",
    "parse_address",
    "pull_annotations",
    "pull_episode",
    "push_annotations",
    "push_episode",
    "tidy",
    "together",
]
