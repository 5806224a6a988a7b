"""The audit of what hosted models were asked: which statements of the protocol their calls break.

Written out again, not with what made the requests: an audit must not trust the code that it audits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from iwreplay.canonical import sha256_hex
from iwreplay.errors import RenderError
from iwreplay.events import (
    AssistantDecision,
    EpisodeOpened,
    Event,
    FrameCaptured,
    HumanTurn,
    ModelCall,
    Observation,
    Participant,
)
from iwreplay.frames.png import pixels_sha256, png_pixels
from iwreplay.loop.leaks import LeakScanner

__all__ = ["CallAudit", "Content"]

#: (sha256, kind) -> what was kept under that hash: "json" for a request, "png" for a picture; None when it was not
Content = Callable[[str, str], bytes | None]

_MOST_PICTURES = 32
#: notes of fewer words may be anybody's
_MIN_WORDS = 4
#: what a hosted participant must say of itself
_SAYS = ("temperature", "seed", "max_tokens", "prompt", "prompt_sha256", "prompt_text")


class CallAudit:
    """Sees the calls of one log."""

    def __init__(self, report: Callable[[int, str], None], content: Content) -> None:
        """report: (number of a statement, what breaks it)."""
        self._report, self._content = report, content
        self._opened: EpisodeOpened | None = None
        self._scanner: LeakScanner | None = None
        #: frame id -> hash of its pixels
        self._pixels: dict[str, str | None] = {}
        #: pictures that were looked at: (frame id, sha256)
        self._seen: set[tuple[str, str]] = set()
        #: roles whose model could not read all the pictures
        self._overflown: set[str] = set()
        self._notebook: str | None = None
        #: (role, turn) of the calls
        self._called: set[tuple[str, int]] = set()

    def opened(self, event: EpisodeOpened, scanner: LeakScanner) -> None:
        self._opened, self._scanner = event, scanner

    def frame(self, event: FrameCaptured) -> None:
        self._pixels[event.frame_id] = event.pixels_sha256

    def decision(self, event: AssistantDecision) -> None:
        assert self._opened is not None, "a decision comes after the opening"
        self._asked_first(event, "assistant", self._opened.assistant)
        noting = self._opened.assistant.params.get("memory")
        if event.memory is not None and noting == "off":
            self._report(41, "an Assistant without the memory arm writes into a notebook")
        self._notebook = event.memory

    def human_turn(self, event: HumanTurn, intent: list[str]) -> None:
        """A turn of the Human; `intent` is what it is about to do by itself."""
        assert self._opened is not None, "a turn comes after the opening"
        if intent[:1] != list(event.commands):
            self._asked_first(event, "human", self._opened.human)

    def _asked_first(self, event: Event, role: str, who: Participant) -> None:
        if "prompt" in who.params and (role, event.turn) not in self._called:
            self._report(43, f"the {role} of turn {event.turn} is a model, and no call of it is in the log")

    def call(self, event: ModelCall, shown: Observation | None, spoken: str) -> None:
        """A call, and what its participant was shown before it."""
        assert self._opened is not None, "a call comes after the opening"
        self._called.add((event.role, event.turn))
        self._parameters(event, self._opened.assistant if event.role == "assistant" else self._opened.human)
        if event.outcome == "overflow":
            self._overflown.add(event.role)
        frames = () if event.frames is msgspec.UNSET else event.frames
        self._count(event, len(frames))
        seen = () if shown is None or shown.turn != event.turn else shown.frames
        if not set(frames) <= set(seen):
            self._report(13, "pictures were sent of frames that are not among those shown in that turn")
        elif frames != seen and event.role not in self._overflown and event.frames is not msgspec.UNSET:
            self._report(13, f"{len(frames)} pictures were sent of {len(seen)} frames shown, and nobody said why")
        request = self._content(event.request_sha256, "json")
        if request is not None:
            self._request(event, request, frames, spoken)

    def _count(self, event: ModelCall, pictures: int) -> None:
        assert self._opened is not None, "a call comes after the opening"
        if event.role == "human" and pictures and self._opened.task.human.restriction == "accessibility":
            self._report(16, f"a Human without vision was sent {pictures} pictures")
        if pictures > _MOST_PICTURES:
            self._report(11, f"{pictures} pictures were sent; at most {_MOST_PICTURES} may be")

    def _parameters(self, event: ModelCall, who: Participant) -> None:
        missing = [name for name in _SAYS if not who.params.get(name)]
        if missing:
            self._report(43, f"the {event.role} asks a model and does not say its {', '.join(missing)}")
        elif sha256_hex(who.params["prompt_text"].encode()) != who.params["prompt_sha256"]:
            self._report(43, f"the hash of the {event.role}'s prompt is not that of its text")
        if who.name not in (event.model, f"{event.model}+memory"):
            self._report(43, f"the {event.role} is {who.name} and asks {event.model}")

    def _request(self, event: ModelCall, body: bytes, frames: tuple[str, ...], spoken: str) -> None:
        assert self._scanner is not None, "a call comes after the opening"
        if sha256_hex(body) != event.request_sha256:
            self._report(43, "the request that is kept is not the one that the log names")
            return
        try:
            parts = list(_parts(msgspec.json.decode(body)))
        except (msgspec.MsgspecError, KeyError, TypeError) as e:
            self._report(43, f"the request that is kept can't be read: {e}")
            return
        statement = 14 if event.role == "assistant" else 15
        # what a model itself said is no secret to it
        own = "\n".join(text for role, text in parts if isinstance(text, str) and role == "assistant")
        told = f"{spoken}\n{own}"
        if event.role == "assistant":
            told += f"\n{self._notebook or ''}"
        for role, part in parts:
            if isinstance(part, str):
                for leak in self._scanner.scan(part, spoken=told, made_up=told):
                    self._report(statement, f"{leak.kind} {leak.found!r} in what the {event.role}'s model was sent")
                if event.role == "human" and self._is_from_notebook(part, spoken):
                    self._report(41, "the Assistant's notebook is in what the Human's model was sent")
            elif role != "user":
                self._report(14, f"a picture in the part of {role}")
        pictures = [p for _, p in parts if isinstance(p, dict)]
        if tuple(str(p.get("frame_id")) for p in pictures) != frames:
            self._count(event, len(pictures))
            self._report(13, "the pictures of the request are not those that the log names")
        for picture in pictures:
            self._picture(str(picture.get("frame_id")), str(picture.get("sha256")))

    def _is_from_notebook(self, text: str, spoken: str) -> bool:
        """Whether a text has what only the notebook has, if that is more than a few words."""
        notes = self._notebook or ""
        return len(notes.split()) >= _MIN_WORDS and notes in text and notes not in spoken

    def _picture(self, frame_id: str, sha256: str) -> None:
        if (frame_id, sha256) in self._seen:
            return
        self._seen.add((frame_id, sha256))
        data = self._content(sha256, "png")
        if data is None:
            return
        try:
            found = pixels_sha256(png_pixels(data))
        except RenderError as e:
            found = str(e)
        if sha256_hex(data) != sha256 or found != self._pixels.get(frame_id):
            self._report(9, f"the picture that was sent as frame {frame_id} is another one")


def _parts(request: dict[str, Any]) -> Iterator[tuple[str, str | dict[str, Any]]]:
    """(role, text or picture) of a request, in order."""
    for message in request["messages"]:
        for part in message["parts"]:
            yield message["role"], part
