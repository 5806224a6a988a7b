"""Hosted models as participants: "model:openai/gpt-5.5,temperature=0.2,memory=on" -> one that plays an episode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from iwreplay.errors import ModelError, ParticipantError, UnknownNameError
from iwreplay.events import Fault, ModelCall
from iwreplay.log import read_log
from iwreplay.loop import AnswerError, leak_guard
from iwreplay.ports import Model
from iwreplay.scene.model import CompiledScene
from iwreplay.store import Contents, Episode
from iwreplay.taskpack.model import TaskPack
from recorder.assistants.hosted import ModelAssistant
from recorder.humans.hosted import ModelHuman
from recorder.models.cassette import CassetteModel
from recorder.models.consulting import Guard, Sampling
from recorder.models.metering import MODEL_SHUT, Budget, Meter, MeteredModel

__all__ = [
    "MODEL",
    "ModelSpec",
    "is_model",
    "model_assistant",
    "model_human",
    "model_on_cassette",
    "opened_model",
    "parse_model",
]

#: how the name of a hosted participant begins
MODEL = "model:"
_SETTINGS = ("temperature", "seed", "max_tokens", "memory", "timeout", "stream")
_SWITCH = {"on": True, "off": False}


class ModelSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A model and how it is asked."""

    model: str
    sampling: Sampling = Sampling()
    memory: bool = False


def is_model(name: str) -> bool:
    return name.startswith(MODEL)


def parse_model(name: str) -> ModelSpec:
    """What is meant by "model:NAME,setting=value,...", with commas or semicolons. A setting "default" is left to the
    provider.
    UnknownNameError for a setting that there is not, ParticipantError for a value that it does not take."""
    model, *settings = name.removeprefix(MODEL).replace(";", ",").split(",")
    provider, slash, rest = model.strip().partition("/")
    if not (provider and slash and rest):
        raise UnknownNameError("model", name, hint=f"Name it with its provider first: {MODEL}openai/NAME.")
    found: dict[str, str] = {}
    for setting in settings:
        key, given, value = setting.partition("=")
        if key.strip() in found:
            raise ParticipantError(f"{name}: {key.strip()} is said twice")
        if key.strip() not in _SETTINGS or not given:
            raise UnknownNameError("setting of a model", setting.strip(), known=tuple(f"{s}=..." for s in _SETTINGS))
        found[key.strip()] = value.strip()
    return ModelSpec(
        model=model.strip(),
        sampling=Sampling(
            temperature=_number(found, "temperature", float, (0.0, 2.0), default=0.0),
            seed=_number(found, "seed", int, (0, 2**63 - 1), default=11),
            max_tokens=_number(found, "max_tokens", int, (1, 10**6), default=None),
            timeout_s=_number(found, "timeout", float, (0.001, 86_400.0), default=None) or Sampling().timeout_s,
            stream=_switch(found, "stream"),
        ),
        memory=_switch(found, "memory"),
    )


N = TypeVar("N", int, float)


def _number(
    found: dict[str, str], key: str, kind: Callable[[str], N], within: tuple[N, N], *, default: N | None
) -> N | None:
    said = found.get(key)
    if said is None:
        return default
    if said == "default":
        return None
    lo, hi = within
    try:
        value = kind(said)
    except ValueError:
        value = None
    if value is None or not lo <= value <= hi:
        what = "a whole number" if kind is int else "a number"
        raise ParticipantError(f"{key}={said}: {key} is {what} from {lo:g} to {hi:g}, or default")
    return value


def _switch(found: dict[str, str], key: str) -> bool:
    said = found.get(key, "off")
    if said not in _SWITCH:
        raise ParticipantError(f"{key}={said}: {key} is on or off")
    return _SWITCH[said]


def opened_model(
    spec: ModelSpec, *, secrets: tuple[str, ...], limited: Budget, meters: tuple[Meter, ...] = ()
) -> Model:
    """The model at its provider; `limited` says whether money and tokens are. ModelError when litellm is missing or
    knows no such provider, when the provider's key is not set, or when money is limited and its price is not known."""
    from recorder.models.hosted import HostedModel

    asked = spec.sampling
    hosted = HostedModel(spec.model, secrets=secrets, timeout_s=asked.timeout_s, stream=asked.stream)
    hosted.require_key()
    if limited.cost_usd is not None and not hosted.priced:
        raise ModelError(
            spec.model, "what it costs is not known, so that money can't be limited", hint="Limit its tokens."
        )
    return MeteredModel(hosted, *meters, limited=limited)


def model_on_cassette(spec: ModelSpec, *, log: Path, meters: tuple[Meter, ...]) -> Model:
    """The model as it answered in the episode of that log. ModelError when it did not play there."""
    with read_log(log) as recorded:
        events = [event for _, event in recorded if isinstance(event, ModelCall | Fault)]
    shut = any(isinstance(event, Fault) and event.code == MODEL_SHUT for event in events)
    calls = [event for event in events if isinstance(event, ModelCall)]
    return MeteredModel(CassetteModel(spec.model, calls, shut=shut), *meters, limited=Budget())


def model_assistant(
    model: Model, spec: ModelSpec, *, task: TaskPack, scene: CompiledScene, episode: Episode, secrets: tuple[str, ...]
) -> ModelAssistant:
    """That model as the Assistant of an episode, whose requests are kept with it."""
    return ModelAssistant(
        model,
        sampling=spec.sampling,
        guard=_guard(task, scene, secrets),
        keep=Contents(episode.requests).keep,
        memory=spec.memory,
    )


def model_human(
    model: Model, spec: ModelSpec, *, task: TaskPack, scene: CompiledScene, episode: Episode, secrets: tuple[str, ...]
) -> ModelHuman:
    """That model as the Human of an episode."""
    return ModelHuman(
        model, sampling=spec.sampling, guard=_guard(task, scene, secrets), keep=Contents(episode.requests).keep
    )


def _guard(task: TaskPack, scene: CompiledScene, secrets: tuple[str, ...]) -> Guard:
    """Refuses what is hidden in the task, and keys, before anything is kept or sent."""
    leaks = leak_guard(task, scene)

    def guard(text: str, *, spoken: str) -> None:
        if any(secret in text for secret in secrets):
            raise AnswerError("KEY", "the request holds a key of the environment; it was not sent")
        leaks(text, spoken=spoken)

    return guard
