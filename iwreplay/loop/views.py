"""What each participant is shown: nothing but this reaches an Assistant or a Human (rules 14 to 20)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iwreplay.frames import choose_frames
from iwreplay.loop.limits import HUMAN_FRAMES
from iwreplay.ports import AssistantView, FrameView, HumanView, Said
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import Family

__all__ = ["RESTRICTIONS", "assistant_view", "human_view", "restriction_of", "shown_text"]

_COMMON = (
    "Do what the Assistant says, not what you think would be right. Never infer the answer, never repair or complete "
    "the Assistant's plan. When you can't do what it says, say why."
)

#: what the Human must not do, by family of the task
RESTRICTIONS: dict[Family, str] = {
    "guidance": f"{_COMMON} Don't read rules or labels for yourself unless you are told to.",
    "planning": f"{_COMMON} Don't order or re-plan steps.",
    "accessibility": f"{_COMMON} You can't see. You know only your own body, what you touch, what fails, what is said.",
    "decision": f"{_COMMON} Don't compute, compare or choose.",
    "prevention": f"{_COMMON} Follow your own intent until the Assistant interrupts you.",
    "finding": f"{_COMMON} Don't go to a place because you remember something there.",
}


def restriction_of(task: TaskPack) -> str:
    """The restriction in words, with the task's own sentence."""
    return f"{RESTRICTIONS[task.human.restriction]} {task.human.extra}".strip()


def assistant_view(
    turn: int, *, request: str, dialogue: Sequence[Said], frames: Sequence[FrameView], memory: str | None
) -> AssistantView:
    """The Assistant's view: at most 32 of the frames so far, warmup included (rules 3, 11, 12)."""
    return AssistantView(
        turn=turn,
        request=request,
        dialogue=tuple(dialogue),
        frames=choose_frames(frames),
        memory=memory,
    )


def human_view(
    turn: int,
    *,
    task: TaskPack,
    instruction: str | None,
    dialogue: Sequence[Said],
    frames: Sequence[FrameView],
    proprioception: Callable[[], dict[str, str]],
    failures: tuple[str, ...],
    intent: str | None,
    names: Callable[[], tuple[str, ...]],
) -> HumanView:
    """The Human's view: the latest frames unless it is blind, its own body, what failed, what was said."""
    sighted = task.human.restriction != "accessibility"
    return HumanView(
        turn=turn,
        role=task.human.role,
        restriction=restriction_of(task),
        request=task.request,
        instruction=instruction,
        dialogue=tuple(dialogue),
        frames=tuple(frames[-HUMAN_FRAMES:]) if sighted else (),
        proprioception=proprioception(),
        failures=failures,
        intent=intent,
        names=names,
    )


def shown_text(view: AssistantView | HumanView) -> tuple[str, ...]:
    """Every string of a view that was not written by the Assistant itself or for its role."""
    said = tuple(line.text for line in view.dialogue if line.speaker != "assistant")
    if isinstance(view, AssistantView):
        return (view.request, *said)
    body = tuple(f"{k}: {v}" for k, v in view.proprioception.items())
    return (view.role, view.request, *said, *body, *view.failures)
