"""An HTTP proxy that misbehaves on demand: it cuts, stalls, drips, damages, or answers in the server's place."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple

__all__ = ["Asked", "Fault", "Proxy"]


class Asked(NamedTuple):
    """A request that came."""

    method: str
    path: str
    #: header with who asked, and a signature
    authorization: str


class Fault(NamedTuple):
    """What to do instead of passing the answer on."""

    #: cut (the connection, after `at` bytes of the body), lost (the connection, before any answer), stall (no answer
    #: until the test is over), damage (the byte `at` of the body), drip (the body in pieces of `at` bytes), status (an
    #: answer with the status `at`)
    kind: str
    at: int = 0


class Proxy:
    """Between a client and the server on `port`. `fault` is asked about every request; None: nothing is wrong."""

    def __init__(self, port: int) -> None:
        self.asked: list[Asked] = []
        self.fault: Callable[[Asked], Fault | None] = lambda _: None
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, port))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def always(self, kind: str, at: int = 0, *, method: str = "", has: str = "", times: int = 10**9) -> None:
        """That fault for the requests of a method whose path has that in it, the first few `times`."""
        left = [times]

        def fault(asked: Asked) -> Fault | None:
            fits = asked.method == (method or asked.method) and has in asked.path.partition("?")[0]
            if not fits or left[0] <= 0:
                return None
            left[0] -= 1
            return Fault(kind, at)

        self.fault = fault

    def well(self) -> None:
        """Nothing is wrong any more; what was asked is forgotten."""
        self.fault = lambda _: None
        self.asked.clear()

    def count(self, method: str, has: str = "") -> int:
        """Requests of a method for paths with that in them."""
        return sum(a.method == method and a.path.partition("?")[0].__contains__(has) for a in list(self.asked))

    def wait(self) -> None:
        """Until the test is over."""
        self._over.wait()


def _handler(proxy: Proxy, port: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            asked = Asked(self.command, self.path, self.headers.get("Authorization", ""))
            proxy.asked.append(asked)
            body = self._body()
            fault = proxy.fault(asked)
            if fault is not None and fault.kind == "lost":
                self._cut()
                return
            if fault is not None and fault.kind == "stall":
                proxy.wait()
                self._cut()
                return
            if fault is not None and fault.kind == "status":
                self.send_response(fault.at)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            drop = ("transfer-encoding", "content-length", "expect", "connection")
            headers = {k: v for k, v in self.headers.items() if k.lower() not in drop}
            upstream.request(self.command, self.path, body=body, headers={**headers, "Content-Length": str(len(body))})
            answer = upstream.getresponse()
            data = answer.read()
            upstream.close()
            if fault is not None and fault.kind == "damage" and data:
                data = data[: fault.at] + bytes([data[fault.at] ^ 1]) + data[fault.at + 1 :]
            self.send_response_only(answer.status, answer.reason)
            has_length = False
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection"):
                    self.send_header(name, value)
                    has_length = has_length or name.lower() == "content-length"
            if not has_length:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if fault is not None and fault.kind == "cut":
                self.wfile.write(data[: fault.at])
                self.wfile.flush()
                self._cut()
                return
            step = fault.at if fault is not None and fault.kind == "drip" else len(data) or 1
            for start in range(0, len(data), step):
                self.wfile.write(data[start : start + step])
                self.wfile.flush()

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass_on  # noqa: N815  the library's names

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return body

        def _cut(self) -> None:
            self.close_connection = True
            self.connection.close()

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except (OSError, ValueError):
                # the client has gone, or the connection was cut on purpose
                self.close_connection = True

    return Handler
