"""What hosted participants are told at first, for every task: nothing hidden is in it."""

from __future__ import annotations

import pytest

from iwreplay.app.tasks import list_tasks
from iwreplay.loop import AnswerError, leak_guard
from iwreplay.loop.views import restriction_of
from iwreplay.ports import AssistantView, HumanView
from iwreplay.taskpack.loader import compile_task
from iwreplay.taskpack.model import TaskPack
from recorder.assistants.hosted import ModelAssistant
from recorder.humans.hosted import ModelHuman
from recorder.models.consulting import Sampling
from tests.models.test_consulting import Kept, Scripted

#: one of each family; all of them behind the marker
SOME = ("G05", "P04", "A04", "D03", "V06", "F03")
TASKS = [pytest.param(t, id=t.id, marks=() if t.id in SOME else (pytest.mark.slow,)) for t in list_tasks()[0]]


@pytest.mark.parametrize("task", TASKS)
def test_nothing_hidden_is_in_what_they_are_told(task: TaskPack) -> None:
    guard = leak_guard(task, compile_task(task))
    silent = Scripted('{"decision": "silent", "text": null}')
    idle = Scripted('{"commands": [], "reply": null}')
    speaker = ModelAssistant(silent, sampling=Sampling(), guard=guard, keep=Kept(), memory=True)
    speaker.decide(AssistantView(turn=1, request=task.request, dialogue=(), frames=(), memory="Nothing yet."))
    actor = ModelHuman(idle, sampling=Sampling(), guard=guard, keep=Kept())
    actor.act(
        HumanView(
            turn=1,
            role=task.human.role,
            restriction=restriction_of(task),
            request=task.request,
            instruction=None,
            dialogue=(),
            frames=(),
            proprioception={"holding": "nothing", "posture": "stand"},
            failures=(),
        )
    )
    (asked,) = idle.asked
    assert restriction_of(task) in asked.messages[0].text
    assert task.request in asked.messages[1].text
    # and what is hidden is found: the first oracle sentence that nobody has said
    secret = next(step.say for step in task.oracle if len(step.say.split()) >= 4)
    with pytest.raises(AnswerError, match="LEAK"):
        guard(f"By the way: {secret}", spoken="")
