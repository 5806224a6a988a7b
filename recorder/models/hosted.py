"""A language model at a provider, through litellm.

litellm knows the providers, their addresses and where their keys are kept (environment variables such as
OPENAI_API_KEY); what this adds: bounded asking again, no key in an error, and nothing fetched when it is imported.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from iwreplay.errors import ModelError
from iwreplay.ports import ModelReply, ModelRequest

__all__ = ["HostedModel"]

#: calls in all; the waits between them double up to the longest
_ATTEMPTS, _FIRST_WAIT_S, _LONGEST_WAIT_S = 6, 1.0, 60.0
#: a provider that asks for more patience than this is asked again later, by starting again
_MOST_PATIENCE_S = 300.0
#: worth asking again: time-out, conflict, too many requests; and all that the provider blames on itself
_AGAIN, _PROVIDER_S_FAULT = (408, 409, 429), 500
_LONGEST_REASON = 500
_OFFERED = ("temperature", "seed")


class HostedModel:
    """One model. Calls wait for their answer, and wait between tries."""

    def __init__(
        self,
        name: str,
        *,
        secrets: tuple[str, ...] = (),
        timeout_s: float = 600.0,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """name: "provider/model". secrets: texts that no error may show. ModelError when litellm is not installed or
        knows no such provider."""
        self._name, self._secrets, self._timeout_s, self._wait = name, secrets, timeout_s, wait
        self._litellm = _litellm(name)
        try:
            self._litellm.get_llm_provider(name)
            offered = self._litellm.get_supported_openai_params(name) or []
        except Exception as e:  # noqa: BLE001  litellm raises its own and its parts' errors
            raise ModelError(name, self._said(e), hint=_NAMES) from None
        self._left_out = tuple(p for p in _OFFERED if p not in offered)

    @property
    def name(self) -> str:
        return self._name

    def ask(self, request: ModelRequest) -> ModelReply:
        """As the port says. A busy or failing provider is asked up to six times, as late as it wishes."""
        params = {"temperature": request.temperature, "seed": request.seed}
        params = {k: v for k, v in params.items() if k not in self._left_out}
        messages = [{"role": m.role, "content": m.text} for m in request.messages]
        for attempt in range(_ATTEMPTS):
            try:
                answer = self._litellm.completion(
                    model=self._name, messages=messages, timeout=self._timeout_s, max_retries=0, num_retries=0, **params
                )
            except Exception as e:  # noqa: BLE001  every provider has errors of its own; each is told
                status = getattr(e, "status_code", None)
                if not _transient(status):
                    raise ModelError(self._name, self._said(e), hint=_hint(status)) from None
                reason, patience = self._said(e), _retry_after(getattr(e, "litellm_response_headers", None))
            else:
                if answer.choices:
                    return self._reply(answer, retries=attempt)
                reason, patience = "its answer has no choices", None
            wait = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0**attempt) if patience is None else patience
            if attempt + 1 == _ATTEMPTS or wait > _MOST_PATIENCE_S:
                break
            self._wait(wait)
        tried = f"{reason}, after {attempt + 1} calls" if attempt else reason
        raise ModelError(self._name, tried, hint="Try again later: what was answered is kept.", transient=True)

    def _reply(self, answer: Any, *, retries: int) -> ModelReply:
        first, usage = answer.choices[0], getattr(answer, "usage", None)
        headers = answer._hidden_params.get("additional_headers") or {}
        used = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
        return ModelReply(
            text=first.message.content or "",
            input_tokens=used[0],
            output_tokens=used[1],
            cost_usd=self._cost(answer),
            finish=str(first.finish_reason or ""),
            retries=retries,
            left_out=self._left_out,
            provider_request_id=headers.get("llm_provider-x-request-id") or headers.get("llm_provider-request-id"),
        )

    def _cost(self, answer: Any) -> float | None:
        """None for a model without a known price; 0 for one that is free."""
        try:
            return float(self._litellm.completion_cost(completion_response=answer))
        except Exception:  # noqa: BLE001  litellm raises a plain Exception then
            return None

    def _said(self, error: Exception) -> str:
        """What an error says, on one line, without secrets."""
        text = " ".join(str(error).split())
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "[hidden]")
        return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " ..."


_NAMES = (
    'Models are named as litellm names them, with the provider first: "openai/NAME", "anthropic/NAME", "gemini/NAME".'
)


def _litellm(name: str) -> Any:
    # its price list comes with it; otherwise importing it asks the network for a newer one
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # noqa: TID251
    try:
        import litellm
    except ImportError:
        raise ModelError(
            name, "litellm is not installed", hint="Install it with: pip install 'iwreplay[models]'"
        ) from None
    litellm.suppress_debug_info = True
    return litellm


def _transient(status: int | None) -> bool:
    return status is not None and (status in _AGAIN or status >= _PROVIDER_S_FAULT)


def _hint(status: int | None) -> str:
    if status in (401, 403):
        return "Set the key of that provider in its environment variable, such as OPENAI_API_KEY."
    return _NAMES if status in (None, 400, 404) else ""


def _retry_after(headers: Mapping[str, str] | None) -> float | None:
    """Seconds that the provider wants one to wait; None when it does not say so in seconds."""
    said = headers.get("retry-after") if headers else None
    try:
        return max(0.0, float(said)) if said is not None else None
    except ValueError:
        return None
