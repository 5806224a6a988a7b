"""An Assistant that is a person: sees what an Assistant may see, and types what to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from iwreplay.events import Participant
from iwreplay.frames.pages import scaled
from iwreplay.frames.sheet import SheetPage
from iwreplay.loop import AnswerError
from iwreplay.loop.answers import checked_assistant_act
from iwreplay.ports import AssistantAct, AssistantView, FrameView
from recorder.console import Console, no_completion

if TYPE_CHECKING:
    import numpy as np

__all__ = ["INTERFACE_VERSION", "PersonAssistant"]

#: raised whenever a person is shown something else, or is understood in another way
INTERFACE_VERSION = "1"
_HOW = (
    "You are the Assistant. You see what the wearer of a camera sees, and speak into the wearer's ear; you do nothing "
    "else. Each turn, type what you say in one line. An empty line says nothing, /done ends the episode (/done Well "
    "done. says a last sentence), ? shows this again, Ctrl-C breaks the episode off."
)
_SHEET_COLUMNS, _CELL_PX = 8, 320


class PersonAssistant:
    """Asks the person at a console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._introduced = False
        #: lines of the dialogue that the person knows
        self._heard = 0
        #: frame id -> the frame as it is on contact sheets, of the frames shown last
        self._small: dict[str, np.ndarray] = {}
        #: where the latest frame is
        self._latest = ""

    def about(self) -> Participant:
        return Participant(name="person", version=INTERFACE_VERSION, params=self._console.facts())

    def decide(self, view: AssistantView) -> AssistantAct:
        """KeyboardInterrupt when the person leaves."""
        self._present(view)
        while True:
            line = self._console.ask("say> ", complete=no_completion).strip()
            if line == "?":
                self._console.tell(_HOW)
                continue
            word, _, rest = line.partition(" ")
            if word.startswith("/") and word != "/done":
                self._console.tell(f"{word} is no command; /done ends the episode, ? helps.")
                continue
            try:
                return msgspec.structs.replace(checked_assistant_act(_meant(line, word, rest)), memory=view.memory)
            except AnswerError as no:
                self._console.tell(no.detail)

    def _present(self, view: AssistantView) -> None:
        console = self._console
        seen = []
        if view.frames:
            seen = [f"The wearer sees: {self._keep(view.frames)}"]
            sheet = console.keep(self._sheet(view.frames), name=f"turn-{view.turn:03d}")
            seen += [f"That and what was seen before, {len(view.frames)} pictures: {sheet}"]
            console.show(view.frames[-1].pixels())
        if not self._introduced:
            console.tell(f"\n{_HOW}")
            self._introduced = True
        lines = ["", f"Turn {view.turn}. The wearer asked: {view.request}"]
        lines += seen
        new, self._heard = view.dialogue[self._heard :], len(view.dialogue)
        lines += [f"{_speaker(line.speaker)}: {line.text}" for line in new if line.speaker != "assistant"]
        console.tell("\n".join(lines))

    def _keep(self, frames: tuple[FrameView, ...]) -> str:
        """Keeps those that are new and remembers all as they are on contact sheets; says where the latest is."""
        before, self._small = self._small, {}
        for frame in frames:
            small = before.get(frame.frame_id)
            if small is None:
                pixels = frame.pixels()
                self._latest = self._console.keep(pixels, name=frame.frame_id)
                small = scaled(pixels, width=_CELL_PX, height=max(1, _CELL_PX * pixels.shape[0] // pixels.shape[1]))
            self._small[frame.frame_id] = small
        return self._latest

    def _sheet(self, frames: tuple[FrameView, ...]) -> np.ndarray:
        small = next(iter(self._small.values()))
        page = SheetPage(
            aspect=small.shape[1] / small.shape[0], cells=len(frames), columns=_SHEET_COLUMNS, cell_px=_CELL_PX
        )
        for frame in frames:
            page.add(self._small[frame.frame_id], f"{frame.frame_id}  {frame.sim_time_s:.1f} s")
        return page.pixels()


def _meant(line: str, word: str, rest: str) -> AssistantAct:
    if word == "/done":
        return AssistantAct(decision="done", text=rest.strip() or None)
    return AssistantAct(decision="interrupt", text=line) if line else AssistantAct(decision="silent")


def _speaker(speaker: str) -> str:
    return "The wearer" if speaker == "human" else f"The {speaker}"
