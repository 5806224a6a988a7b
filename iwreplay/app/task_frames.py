"""Pictures of an oracle's episode for a person to look at: what had to be known where it shows, and every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iwreplay.app.evidence import Proof
from iwreplay.events import Event, FrameCaptured, PrimitiveOutcome
from iwreplay.frames.maker import FrameMaker
from iwreplay.frames.pages import Pixels
from iwreplay.world.state import fold

__all__ = ["Shown", "StepFrame", "evidence_frames", "step_frames"]

#: of the line around a thing that had to be seen or read
_MARK = (230, 30, 30)
_MARK_PX = 2
#: between the thing and that line
_MARGIN_PX = 4


class Shown(NamedTuple):
    """What a frame shows of one thing, or of one face of it, that is needed."""

    #: all needs of it that this frame answers, at least one
    proofs: tuple[Proof, ...]
    event: FrameCaptured
    #: the whole frame, the thing outlined
    rgb: Pixels


class StepFrame(NamedTuple):
    """What was to be seen when a command had been carried out, or at the end of a turn without one."""

    event: FrameCaptured
    command: str
    rgb: Pixels


def evidence_frames(events: tuple[Event, ...], proofs: Sequence[Proof], maker: FrameMaker) -> Iterator[Shown]:
    """What is needed and shown, in the order of the frames that show it, each thing outlined in red. Needs of the same
    thing that were answered in the same turn are one."""
    same: dict[tuple[str, str, str, int | None, bool], list[Proof]] = {}
    for proof in proofs:
        if proof.frame:
            alike = (proof.thing, proof.face, proof.words, proof.turn, bool(proof.problem))
            same.setdefault(alike, []).append(proof)
    wanted: dict[str, list[tuple[Proof, ...]]] = {}
    for group in same.values():
        wanted.setdefault(group[0].frame, []).append(tuple(group))
    things = {t.id: i for i, t in enumerate(maker.scene.things)}
    for event, rgb, ids in _drawn(events, wanted, maker):
        for needs in wanted[event.frame_id]:
            yield Shown(needs, event, _outlined(rgb, ids == things[needs[0].thing]))


def step_frames(events: tuple[Event, ...], maker: FrameMaker) -> list[StepFrame]:
    """The start, then the last frame of every command, and of every turn without one; in their order."""
    frames = [e for e in events if isinstance(e, FrameCaptured)]
    if not frames:
        return []
    outcomes = {e.action: e for e in events if isinstance(e, PrimitiveOutcome)}
    last: dict[tuple[int, int | None], FrameCaptured] = {}
    for frame in frames:
        last[frame.turn, frame.action] = frame
    acted = {turn for turn, action in last if action is not None}
    kept = {frames[0].frame_id: ""}
    for (turn, action), frame in last.items():
        if action is not None:
            outcome = outcomes.get(action)
            kept[frame.frame_id] = outcome.command if outcome else ""
        elif turn not in acted:
            kept.setdefault(frame.frame_id, "")
    return [StepFrame(e, kept[e.frame_id], rgb) for e, rgb, _ in _drawn(events, kept, maker)]


def _drawn(
    events: tuple[Event, ...], wanted: Iterable[str], maker: FrameMaker
) -> Iterator[tuple[FrameCaptured, Pixels, npt.NDArray[np.int32]]]:
    names = frozenset(wanted)
    for _, event, state in fold(enumerate(events)):
        if isinstance(event, FrameCaptured) and event.frame_id in names:
            frame = maker.draw(
                state, camera=event.camera, focal_px=event.focal_px, width=event.width, height=event.height
            )
            yield event, frame.rgb.copy(), frame.ids.copy()


def _outlined(rgb: Pixels, mask: npt.NDArray[np.bool_]) -> Pixels:
    """A copy with a box around the pixels of `mask`; as it is when there are none."""
    out = rgb.copy()
    rows, columns = np.nonzero(mask)
    if len(rows) == 0:
        return out
    height, width = mask.shape
    gap = _MARGIN_PX + _MARK_PX
    y0, y1 = max(0, int(rows.min()) - gap), min(height, int(rows.max()) + 1 + gap)
    x0, x1 = max(0, int(columns.min()) - gap), min(width, int(columns.max()) + 1 + gap)
    for box in (
        (slice(y0, y0 + _MARK_PX), slice(x0, x1)),
        (slice(y1 - _MARK_PX, y1), slice(x0, x1)),
        (slice(y0, y1), slice(x0, x0 + _MARK_PX)),
        (slice(y0, y1), slice(x1 - _MARK_PX, x1)),
    ):
        out[box] = _MARK
    return out
