"""A provider on this machine, that speaks as OpenAI does and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: what a provider can do instead of answering
MISBEHAVIOURS = ("busy", "patient", "broken", "drops", "html", "half", "empty", "cut")
KEY = "sk-canary-0123456789"


class Provider:
    """Answers of each model, in turn: a text, or one of MISBEHAVIOURS, or an int for that status."""

    def __init__(self, answers: dict[str, list[str | int]]) -> None:
        self.answers = {name: list(said) for name, said in answers.items()}
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.url = ""

    def next_for(self, model: str) -> str | int:
        left = self.answers.get(model)
        return left.pop(0) if left else 404


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.provider.keys.add(self.headers.get("authorization", ""))
        self.provider.requests.append(body)
        what = self.provider.next_for(body["model"])
        if what == "drops":
            self.close_connection = True
            self.connection.close()
        elif what == "busy":
            self._send(429, b'{"error": {"message": "too many requests"}}', **{"retry-after": "0"})
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
            said = {"error": {"message": f"no such thing; your key is {KEY}", "code": "invalid"}}
            self._send(what, json.dumps(said).encode())
        else:
            self._send(200, json.dumps(_reply(what, body["model"])).encode(), **{"x-request-id": "req-7"})

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


def _reply(text: str, model: str, *, finish: str = "stop") -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42},
    }


@contextmanager
def provider(answers: dict[str, list[str | int]]) -> Iterator[Provider]:
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
        server.shutdown()
        server.server_close()
        thread.join()
