"""A language model at a provider, through litellm.

litellm knows the providers, their addresses and where their keys are kept (environment variables such as
OPENAI_API_KEY); what this adds: bounded asking again, no key in an error or an answer, and nothing fetched when it is
imported.
"""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any

from iwreplay.errors import ContextOverflowError, ModelError
from iwreplay.ports import ModelImage, ModelMessage, ModelReply, ModelRequest
from recorder.models.deadline import within

__all__ = ["HostedModel"]

#: calls in all; the waits between them double up to the longest
_ATTEMPTS, _FIRST_WAIT_S, _LONGEST_WAIT_S = 6, 1.0, 60.0
#: an answer in pieces may take so many times as long as one wait
_STREAM_LASTS = 10
#: a provider that asks for more patience than this is asked again later, by starting again
_MOST_PATIENCE_S = 300.0
#: worth asking again: time-out, conflict, too many requests; and all that the provider blames on itself
_AGAIN, _PROVIDER_S_FAULT = (408, 409, 429), 500
_LONGEST_REASON = 500
_MAY_BE_LEFT_OUT = {"temperature", "seed", "max_tokens"}
#: a wrong key, no money, a key that may not, no such model or address
_SHUT = (401, 402, 403, 404)
#: litellm takes a client that can't be made without a key for a fault of the provider
_NO_KEY = ("Missing credentials", "api_key client option must be set")
#: providers with other ways in than the one key that litellm asks for
_OTHER_WAYS = ("azure", "azure_ai", "cohere", "huggingface", "replicate", "together_ai", "vercel_ai_gateway")
_NAME_OF_ERROR = re.compile(r"^(?:(?:litellm\.)?\w+Error: )+(?:\w+Exception - )?")
#: ends of an answer that say that there is none
_REFUSALS = ("content_filter", "refusal")
_NO_CONTENT: Mapping[str, bytes] = MappingProxyType({})


class HostedModel:
    """One model. Calls wait for their answer, and wait between tries."""

    def __init__(
        self,
        name: str,
        *,
        secrets: tuple[str, ...] = (),
        timeout_s: float = 600.0,
        stream: bool = False,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """name: "provider/model". secrets: texts that nothing may show. timeout_s: for the whole answer. stream: the
        answer comes in parts; then it is for each of them, and ten times as long for all, so that a long answer is no
        time-out. ModelError when litellm is not installed or knows no such provider."""
        self._name, self._timeout_s, self._stream, self._wait = name, timeout_s, stream, wait
        # as they are, and as they are when their blanks are made one
        both = {form for secret in secrets for form in (secret, " ".join(secret.split())) if form}
        self._secrets = tuple(sorted(both, key=lambda s: (-len(s), s)))
        #: parameters that litellm refused for this model
        self._not_taken: set[str] = set()
        self._litellm = _litellm(name)
        try:
            _, self._provider, self._key, _ = self._litellm.get_llm_provider(name)
            self._offered = frozenset(self._litellm.get_supported_openai_params(name) or [])
            self._schemas = bool(self._litellm.supports_response_schema(model=name))
        except Exception as e:  # noqa: BLE001  litellm raises its own and its parts' errors
            raise ModelError(name, self._said(e), hint=_NAMES) from None

    @property
    def name(self) -> str:
        return self._name

    @property
    def priced(self) -> bool:
        """Whether what it costs is known."""
        try:
            about = self._litellm.get_model_info(self._name)
        except Exception:  # noqa: BLE001  litellm raises a plain Exception for a model that it has never heard of
            return False
        # it makes up a price of nothing for names that only look like known ones
        listed = about.get("key") in self._litellm.model_cost
        return listed and None not in (about.get("input_cost_per_token"), about.get("output_cost_per_token"))

    def require_key(self) -> None:
        """ModelError, which names the environment variable, when its provider asks for a key and none is set. Where
        litellm knows other ways in (a cloud's own accounts) nothing is said before the first call."""
        missing = self._missing_keys()
        if missing:
            own = ", to any text for a server of your own that asks for none" if self._provider == "openai" else ""
            hint = f"Set {' or '.join(missing)} in the environment{own}."
            raise ModelError(self._name, "the key of its provider is not set", hint=hint)

    def _missing_keys(self) -> tuple[str, ...]:
        if self._key is not None or self._provider in _OTHER_WAYS:
            return ()
        missing = tuple(self._litellm.validate_environment(model=self._name)["missing_keys"])
        # the rest are addresses and regions, which have defaults
        return missing if all(name.endswith("_API_KEY") for name in missing) else ()

    def ask(self, request: ModelRequest, *, content: Mapping[str, bytes] = _NO_CONTENT) -> ModelReply:
        """As the port says. A busy or failing provider is asked up to six times, as late as it wishes."""
        if any(secret in message.text for secret in self._secrets for message in request.messages):
            raise ModelError(self._name, "the request holds a key, and was not sent", hint="Take it out of the task.")
        messages = [{"role": m.role, "content": _content(m, content)} for m in request.messages]
        began = time.monotonic()
        for attempt in range(_ATTEMPTS):
            try:
                answer = self._answer(messages, request)
            except Exception as e:  # noqa: BLE001  every provider has errors of its own; each is told
                if isinstance(e, self._litellm.ContextWindowExceededError):
                    raise _after(ContextOverflowError(self._name, self._said(e)), attempt, began) from None
                if isinstance(e, self._litellm.ContentPolicyViolationError):
                    return self._refused(self._said(e), attempt, self._params(request)[1], time.monotonic() - began)
                status = getattr(e, "status_code", None)
                if _unwelcome(e):
                    raise _after(self._shut(e, status), attempt, began) from None
                if not _transient(status):
                    raise _after(ModelError(self._name, self._said(e), hint=_hint(status)), attempt, began) from None
                reason, patience = self._said(e), _retry_after(getattr(e, "litellm_response_headers", None))
            else:
                if answer is not None and answer.choices:
                    return self._reply(answer, attempt, self._params(request)[1], time.monotonic() - began)
                reason, patience = "its answer has no choices", None
            wait = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0**attempt) if patience is None else patience
            if attempt + 1 == _ATTEMPTS or wait > _MOST_PATIENCE_S:
                break
            self._wait(wait)
        tried = f"{reason}, after {attempt + 1} calls" if attempt else reason
        later = ModelError(self._name, tried, hint="Try again later.", transient=True)
        raise _after(later, attempt, began)

    def _shut(self, error: Exception, status: int | None) -> ModelError:
        """What every call will meet."""
        hint = f"{_NAMES} Is the address of its server right?" if status == 404 else f"Set {self._key_words()}."
        if status == 402:
            hint = "Its provider wants to be paid first."
        shut = ModelError(self._name, self._said(error), hint=hint)
        shut.always = True
        return shut

    def _key_words(self) -> str:
        """Where the key is, as well as it can be told."""
        missing = self._missing_keys()
        if missing:
            return " or ".join(missing)
        begins = self._provider.replace("_", "").upper()
        there = [n for n in sorted(os.environ) if n.endswith("KEY") and n.replace("_", "").startswith(begins)]  # noqa: TID251
        return f"{' or '.join(there) or 'the key of that provider'} to one that may use this model"

    def _params(self, request: ModelRequest) -> tuple[dict[str, Any], tuple[str, ...]]:
        """What is asked for and offered, and what is not offered."""
        wanted: dict[str, Any] = {
            "temperature": request.temperature,
            "seed": request.seed,
            "max_tokens": request.max_tokens,
        }
        wanted = {k: v for k, v in wanted.items() if v is not None}
        offered = self._offered - self._not_taken
        left_out = [k for k in wanted if k not in offered]
        params = {k: v for k, v in wanted.items() if k in offered}
        if request.answer is not None:
            if self._schemas and "response_format" in self._offered:
                schema = {"name": request.answer.name, "schema": request.answer.schema, "strict": True}
                params["response_format"] = {"type": "json_schema", "json_schema": schema}
            else:
                left_out.append("schema of the answer")
        return params, tuple(left_out)

    def _answer(self, messages: list[dict[str, Any]], request: ModelRequest) -> Any:
        """What litellm makes of the answer. Parameters that are offered, but not with this value (the temperature of a
        model that reasons), litellm refuses before it asks; they are left out from then on."""
        while True:
            params, _ = self._params(request)
            try:
                return self._asked(messages, params)
            except self._litellm.UnsupportedParamsError as e:
                named = {name for name in params if re.search(rf"\b{name}\b", str(e))} & _MAY_BE_LEFT_OUT
                if not named:
                    raise
                self._not_taken |= named

    def _asked(self, messages: list[dict[str, Any]], params: dict[str, Any]) -> Any:
        asked = {"model": self._name, "messages": messages, "timeout": self._timeout_s, **params}
        if not self._stream:
            return within(self._timeout_s, lambda: self._litellm.completion(**asked, max_retries=0, num_retries=0))

        def pieces() -> Any:
            parts = self._litellm.completion(
                **asked, max_retries=0, num_retries=0, stream=True, stream_options={"include_usage": True}
            )
            return self._litellm.stream_chunk_builder(list(parts), messages=messages)

        return within(_STREAM_LASTS * self._timeout_s, pieces)

    def _reply(self, answer: Any, retries: int, left_out: tuple[str, ...], latency_s: float) -> ModelReply:
        first, usage = answer.choices[0], getattr(answer, "usage", None)
        headers = answer._hidden_params.get("additional_headers") or {}
        # litellm says 0 of what its provider does not say
        told = (getattr(usage, "prompt_tokens", None) or 0) > 0
        used = [max(0, getattr(usage, n, 0) or 0) if told else None for n in ("prompt_tokens", "completion_tokens")]
        finish, text = str(first.finish_reason or ""), self._hidden(first.message.content or "")
        more = getattr(first.message, "provider_specific_fields", None) or {}
        refusal = more.get("refusal") or getattr(first.message, "refusal", None)
        if refusal is None and finish in _REFUSALS:
            refusal = text or f"the answer ends by {finish}"
        return ModelReply(
            text=text if refusal is None else "",
            input_tokens=used[0],
            output_tokens=used[1],
            cost_usd=self._cost(answer) if told else None,
            finish=finish,
            retries=retries,
            refusal=None if refusal is None else self._hidden(str(refusal)),
            left_out=left_out,
            provider_request_id=headers.get("llm_provider-x-request-id") or headers.get("llm_provider-request-id"),
            latency_s=latency_s,
        )

    def _refused(self, reason: str, retries: int, left_out: tuple[str, ...], latency_s: float) -> ModelReply:
        """A question that the provider did not let through to the model. What that costs it does not say."""
        return ModelReply(
            text="",
            input_tokens=None,
            output_tokens=None,
            cost_usd=None,
            finish="content_filter",
            retries=retries,
            refusal=reason,
            left_out=left_out,
            latency_s=latency_s,
        )

    def _cost(self, answer: Any) -> float | None:
        """None for a model without a known price; 0 for one that is free."""
        try:
            cost = float(self._litellm.completion_cost(completion_response=answer))
        except Exception:  # noqa: BLE001  litellm raises a plain Exception then
            return None
        return cost if cost > 0.0 or self.priced else None

    def _said(self, error: Exception) -> str:
        """What an error says, on one line, without secrets."""
        text = self._hidden(" ".join(self._hidden(str(error)).split()))
        # litellm puts the name of an error before it, and its parts do so again
        text = _NAME_OF_ERROR.sub("", text, count=1) or text
        return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " ..."

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[hidden]")
        # what no log can store
        return text.encode("utf-8", "replace").decode()


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


def _content(message: ModelMessage, content: Mapping[str, bytes]) -> str | list[dict[str, Any]]:
    """As the providers take it: a text, or its parts when there are pictures among them."""
    if not message.images:
        return message.text
    return [_picture(p, content[p.sha256]) if isinstance(p, ModelImage) else _text(p) for p in message.parts]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _picture(image: ModelImage, data: bytes) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _after(error: ModelError, retries: int, began: float) -> ModelError:
    """The error with what it took to come to it."""
    error.retries, error.latency_s = retries, time.monotonic() - began
    return error


def _unwelcome(error: Exception) -> bool:
    """Whether every call of this model will meet that error."""
    return getattr(error, "status_code", None) in _SHUT or any(told in str(error) for told in _NO_KEY)


def _transient(status: int | None) -> bool:
    return status is not None and (status in _AGAIN or status >= _PROVIDER_S_FAULT)


def _hint(status: int | None) -> str:
    return _NAMES if status in (None, 400) else ""


def _retry_after(headers: Mapping[str, str] | None) -> float | None:
    """Seconds that the provider wants one to wait, said as seconds or as a date; None when it does not say."""
    said = headers.get("retry-after") if headers else None
    if said is None:
        return None
    with suppress(ValueError):
        return max(0.0, float(said))
    with suppress(ValueError):
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    return None
