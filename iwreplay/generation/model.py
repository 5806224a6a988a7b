"""What author and reviewer answer with, and the assessment target that no repair may touch."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Control", "PointStatement", "Proposal", "Review", "Statement", "Target"]


class Proposal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario: an everyday situation in which a wearer needs help that only somebody who sees can give."""

    title: str
    #: id of a scene
    scene: str
    #: what the wearer says at the start
    request: str
    #: what is where at the start, and what happens
    situation: str
    #: why the wearer can't do it alone, and what goes wrong then
    why_help: str
    #: what the Assistant must see, read or remember, and where it is shown
    evidence: tuple[str, ...]
    #: alternatives between which the wearer could choose by lot
    alternatives: tuple[str, ...]
    #: how it is done rightly, step by step
    steps: tuple[str, ...]


class Review(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a reviewer finds."""

    verdict: Literal["accept", "revise"]
    #: each with what to do about it; none when it is accepted
    problems: tuple[str, ...] = ()


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An objective, gate or keep in words."""

    id: str
    text: str


class PointStatement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A capability evaluation point in words."""

    id: str
    capability: str
    text: str


class Control(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A causal control: what is done wrongly, and the checks that must then be false, and no others."""

    id: str
    text: str
    fails: tuple[str, ...]


class Target(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is assessed. Frozen before there is a task; its hash goes with every version of the task."""

    objectives: tuple[Statement, ...]
    gates: tuple[Statement, ...] = ()
    keeps: tuple[Statement, ...] = ()
    points: tuple[PointStatement, ...]
    near_misses: tuple[Control, ...]
