"""A provider on this machine, that speaks as OpenAI does and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: what a provider can do instead of answering
MISBEHAVIOURS = (
    "busy", "dated", "patient", "broken", "drops", "html", "half", "empty", "cut", "slow", "long", "filtered",
    "unwilling", "leaky", "stuck", "drips",
)  # fmt: skip
KEY = "sk-canary-0123456789"


#: what a provider answers: a text, or one of MISBEHAVIOURS, or an int for that status
Said = str | int


class Provider:
    """Answers of each model: one after the other, or as a function of what it is asked."""

    def __init__(self, answers: Mapping[str, list[Said] | Callable[[dict[str, Any]], Said]]) -> None:
        self.answers = {name: list(said) if isinstance(said, list) else said for name, said in answers.items()}
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.url = ""
        #: set when the provider closes: what is stuck goes on
        self.closing = threading.Event()

    def next_for(self, body: dict[str, Any]) -> Said:
        said = self.answers.get(body["model"])
        if callable(said):
            return said(body)
        return said.pop(0) if said else 404


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.provider.keys.add(self.headers.get("authorization", ""))
        self.provider.requests.append(body)
        what = self.provider.next_for(body)
        if what == "drops":
            self.close_connection = True
            self.connection.close()
        elif what == "busy":
            self._send(429, b'{"error": {"message": "too many requests"}}', **{"retry-after": "0"})
        elif what == "dated":
            self._send(429, b"{}", **{"retry-after": formatdate(time.time() + 2.0, usegmt=True)})
        elif what == "slow":
            self.provider.closing.wait(3.0)
            self._send(200, json.dumps(_reply("too late", body["model"])).encode())
        elif what == "stuck":
            self.provider.closing.wait(60.0)
            self.close_connection = True
        elif what == "drips":
            self._drip(streamed=bool(body.get("stream")))
        elif what == "long":
            said = "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens."
            self._invalid(said, "context_length_exceeded")
        elif what == "filtered":
            said = "Your request was rejected as a result of the safety system."
            self._invalid(said, "content_policy_violation")
        elif what == "unwilling":
            self._send(200, json.dumps(_reply("", body["model"], refusal="I can't help with that.")).encode())
        elif what == "leaky":
            self._send(200, json.dumps(_reply(f"Your key is {KEY}.", body["model"])).encode())
        elif what == "patient":
            self._send(429, b'{"error": {"message": "quota"}}', **{"retry-after": "86400"})
        elif what == "broken":
            self._send(503, b"{}", **{"retry-after": "0"})
        elif what == "html":
            self._send(200, b"<html>welcome to the hotel's network</html>", **{"content-type": "text/html"})
        elif what == "half":
            self._send(200, b'{"id": "x", "object": "chat.comp', missing=100)
        elif what == "empty":
            self._send(200, json.dumps({**_reply("", body["model"]), "choices": []}).encode())
        elif what == "cut":
            self._send(200, json.dumps(_reply('{"verdict": "acc', body["model"], finish="length")).encode())
        elif isinstance(what, int):
            error = {"message": f"no such thing; your key is {KEY}", "code": "invalid"}
            self._send(what, json.dumps({"error": error}).encode())
        elif body.get("stream"):
            self._stream(what, body["model"])
        else:
            self._send(200, json.dumps(_reply(what, body["model"])).encode(), **{"x-request-id": "req-7"})

    def _drip(self, *, streamed: bool) -> None:
        """A byte that means nothing, time and again: no single wait is long, and there is no end."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):  # who asked has gone
            while not self.provider.closing.wait(0.1):
                self.wfile.write(b": still there\n\n" if streamed else b" ")
                self.wfile.flush()

    def _invalid(self, message: str, code: str) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": "messages", "code": code}
        self._send(400, json.dumps({"error": error}).encode())

    def _stream(self, text: str, model: str) -> None:
        """The answer in pieces of four characters; one that says so breaks off in the middle."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("x-request-id", "req-8")
        self.end_headers()
        self.close_connection = True
        pieces = [text[i : i + 4] for i in range(0, len(text), 4)]
        for piece in pieces:
            if piece == "!cut":
                return
            self._event(model, {"role": "assistant", "content": piece}, None)
        self._event(model, {}, "stop")
        usage = {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42}
        self._event(model, None, None, usage=usage)
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, model: str, delta: dict[str, str] | None, finish: str | None, **more: object) -> None:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        about = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
        chunk = {**about, "choices": choices, **more}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()

    def _send(self, status: int, data: bytes, *, missing: int = 0, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data) + missing))
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = bool(missing)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


def _reply(text: str, model: str, *, finish: str = "stop", refusal: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **({} if refusal is None else {"refusal": refusal})}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42},
    }


@contextmanager
def provider(answers: Mapping[str, list[Said] | Callable[[dict[str, Any]], Said]]) -> Iterator[Provider]:
    """The provider, while it listens."""
    found = Provider(answers)
    handler = type("Handler", (_Handler,), {"provider": found, "protocol_version": "HTTP/1.1"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield found
    finally:
        found.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
