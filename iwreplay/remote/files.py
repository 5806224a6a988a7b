"""Objects read and written through Arrow's file systems: the only module that knows them.

Every call is repeated a few times, with growing pauses, when the connection or the server failed; what can't be mended
by asking again is told at once. What is read is compared with the size and the hash that it must have.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec
import pyarrow as pa
from pyarrow import fs

from iwreplay.errors import RemoteDamagedError, RemoteError, StoreError
from iwreplay.remote.address import RemoteAddress

__all__ = ["PATIENCE", "Patience", "RemoteFiles"]

Result = TypeVar("Result")

_CHUNK = 1024 * 1024
#: seconds that Arrow goes on trying by itself where it can't be told otherwise
_GCS_RETRIES_S = 10
_DENIED = re.compile(
    r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|InvalidAccessKeyId|SignatureDoesNotMatch|Forbidden"
    r"|EXPIRED|INVALID_CLIENT_TOKEN|status:? 40[13]|Unauthorized",
    re.I,
)
_NO_BUCKET = re.compile(r"NO_SUCH_BUCKET|NoSuchBucket|bucket does not exist", re.I)
#: answers of a server that knows what it does: asking again gives the same
_REFUSED = re.compile(r"HTTP status:? 4(?!08|29)\d\d|PERMANENT_REDIRECT|HTTP status:? 301", re.I)


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How often, and how long."""

    #: of one thing, the first one included
    attempts: int = 4
    #: pause before the second one, seconds; each further one is twice as long
    pause_s: float = 0.5
    #: seconds until a connection is given up that is not made, and one on which nothing moves (some seconds later, when
    #: something has moved before)
    connect_s: float = 10.0
    request_s: float = 30.0


PATIENCE = Patience()


class _BrokenOffError(Exception):
    """Another thread failed, or the user pressed Ctrl-C."""


class RemoteFiles:
    """The objects below one address. Safe to use from several threads.

    RemoteError from everything, when the other side can't be reached or refuses; it names the object and the way out.
    """

    def __init__(self, address: RemoteAddress, *, patience: Patience = PATIENCE) -> None:
        self.address, self.patience = address, patience
        #: once it is set, nothing is begun and nothing goes on
        self.stopped = threading.Event()
        try:
            self._fs: Any = _file_system(address, patience)
        except (OSError, pa.ArrowException, ValueError) as e:
            raise RemoteError(address.shown, address.without_secrets(str(e)), hint="Mend the address.") from None

    def folders(self, *below: str) -> tuple[str, ...]:
        """Names of the folders in one, sorted; none when it is not there."""
        return self._listed(below, fs.FileType.Directory)

    def objects(self, *below: str) -> tuple[str, ...]:
        """Names of the objects in a folder, sorted; none when it is not there."""
        return self._listed(below, fs.FileType.File)

    def _listed(self, below: tuple[str, ...], kind: Any) -> tuple[str, ...]:
        path = self.address.at(*below)

        def ask() -> tuple[str, ...]:
            found = self._fs.get_file_info(fs.FileSelector(path, allow_not_found=True))
            return tuple(sorted(f.base_name for f in found if f.type == kind))

        return self._patiently("/".join(below), ask)

    def size(self, name: str) -> int | None:
        """Bytes of an object, None when it is not there."""
        info = self._patiently(name, lambda: self._fs.get_file_info(self.address.at(name)))
        return int(info.size) if info.type == fs.FileType.File else None

    def read(self, name: str) -> bytes | None:
        """A small object, None when it is not there."""

        def ask() -> bytes | None:
            try:
                with self._fs.open_input_stream(self.address.at(name)) as stream:
                    return bytes(stream.read())
            except FileNotFoundError:
                return None

        return self._patiently(name, ask)

    def check_bucket(self) -> None:
        """RemoteError when there is no such bucket: an object in it that is not there says nothing of that."""
        if self.address.scheme == "file":
            return
        found = self._patiently("", lambda: self._fs.get_file_info(self.address.bucket))
        if found.type == fs.FileType.NotFound:
            raise self._error("", "there is no such bucket")

    def fetch(self, name: str, target: Path, *, size: int, sha256: str) -> None:
        """Writes an object to a file that is whole, or not there. RemoteDamagedError when what comes is not what it
        must be, however often it is asked for; StoreError when the disk refuses."""
        beside = target.with_name(f".{target.name}.part")

        def ask() -> None:
            digest, came = hashlib.sha256(), 0
            with self._fs.open_input_stream(self.address.at(name)) as stream, _writing(beside) as file:
                while chunk := stream.read(_CHUNK):
                    self._go_on()
                    digest.update(chunk)
                    came += len(chunk)
                    if came > size:
                        break
                    _locally(beside, partial(file.write, chunk))
                _locally(beside, file.flush)
                _locally(beside, partial(os.fsync, file.fileno()))
            if came != size:
                raise _OtherBytesError(
                    f"{came} bytes came, not {size}" if came < size else f"more than {size} bytes came"
                )
            if digest.hexdigest() != sha256:
                raise _OtherBytesError(f"its SHA-256 is {digest.hexdigest()}, not {sha256}")

        try:
            self._patiently(name, ask)
            _locally(target, lambda: beside.replace(target))
        finally:
            beside.unlink(missing_ok=True)

    def put(self, name: str, data: bytes) -> None:
        """Writes a small object, in one step."""
        self._write(name, lambda out: out.write(data), size=len(data))

    def upload(self, name: str, source: Path, *, size: int, sha256: str) -> None:
        """Writes an object from a file. StoreError when the file is not what it was when it was looked at."""

        def send(out: Any) -> bool:
            # nothing is raised in the middle on purpose, Ctrl-C in another thread included: Arrow would close what has
            # come so far, and make it the object
            digest = hashlib.sha256()
            with _reading(source) as file:
                while chunk := _locally(source, partial(file.read, _CHUNK)):
                    digest.update(chunk)
                    out.write(chunk)
            return digest.hexdigest() == sha256

        if not self._write(name, send, size=size):
            # under a name that says otherwise, it would be taken for what the name says
            self._patiently(name, lambda: self._fs.delete_file(self.address.at(name)))
            raise StoreError(f"{source} changed while it was sent; send it again")

    def _write(self, name: str, send: Callable[[Any], Result], *, size: int) -> Result:
        """What `send` gives. The object is there, of the right size, once this returns. One that was broken off has no
        manifest that names it, so nobody reads it."""
        path = self.address.at(name)
        renames = self.address.scheme == "file"
        beside = f"{path}.part" if renames else path

        def write() -> Result:
            self._go_on()
            if renames:
                self._fs.create_dir(path.rpartition("/")[0], recursive=True)
            with self._fs.open_output_stream(beside) as out:
                sent = send(out)
            if renames:
                self._fs.move(beside, path)
            return sent

        result = self._patiently(name, write)
        there = self.size(name)
        if there != size:
            raise RemoteDamagedError(
                self.address.shown, name, f"{there} of {size} bytes arrived", hint="Push again, with --again."
            )
        return result

    def _patiently(self, name: str, work: Callable[[], Result]) -> Result:
        """What `work` gives, asked for again when that may help."""
        pause, failed = self.patience.pause_s, ""
        for attempt in range(self.patience.attempts):
            if attempt and self.stopped.wait(pause):
                raise _BrokenOffError
            pause = pause * 2 if attempt else pause
            self._go_on()
            try:
                return work()
            except _OtherBytesError as e:
                failed, damaged = str(e), True
            except FileNotFoundError:
                raise self._error(name, "it is not there (any more)") from None
            except (OSError, pa.ArrowException) as e:
                failed, damaged = self.address.without_secrets(" ".join(str(e).split())), False
                if _DENIED.search(failed) or _NO_BUCKET.search(failed) or _REFUSED.search(failed):
                    break
        if damaged:
            raise RemoteDamagedError(
                self.address.shown,
                name,
                failed,
                hint="Push the episode again from a store that has it, with --again.",
            )
        raise self._error(name, failed)

    def _go_on(self) -> None:
        if self.stopped.is_set():
            raise _BrokenOffError

    def _error(self, name: str, said: str) -> RemoteError:
        where = f"{self.address.shown} ({name})" if name else self.address.shown
        if _NO_BUCKET.search(said) or said == "there is no such bucket":
            return RemoteError(
                where,
                f"there is no bucket {self.address.bucket!r}",
                hint="Make it with your provider's tools, or mend the address.",
            )
        if _DENIED.search(said):
            return RemoteError(
                where,
                f"access is denied: {said}",
                hint="Check the credentials in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, a profile) "
                "and what the bucket lets them do.",
            )
        if said == "it is not there (any more)":
            return RemoteError(where, said, hint="Was it taken away meanwhile? See: iwreplay store list URI")
        if _REFUSED.search(said):
            return RemoteError(where, f"the server refuses: {said}", hint="Mend the address: bucket, region, endpoint.")
        return RemoteError(
            where,
            f"{self.patience.attempts} attempts failed: {said}",
            hint="Is the address right, and the network there? What was done is kept: repeat the command to go on.",
        )


class _OtherBytesError(Exception):
    """What came is not what must come: cut, or damaged on its way or where it lies."""


def _file_system(address: RemoteAddress, patience: Patience) -> Any:
    options = address.options
    if address.scheme == "s3":
        scheme, endpoint = _endpoint_of_the_environment()
        return fs.S3FileSystem(
            access_key=unquote(address.user) or None,
            secret_key=unquote(address.password) or None,
            anonymous=_yes(options.get("anonymous")),
            region=options.get("region"),
            scheme=options.get("scheme", scheme),
            endpoint_override=options.get("endpoint_override", endpoint),
            force_virtual_addressing=_yes(options.get("force_virtual_addressing")),
            tls_ca_file_path=options.get("tls_ca_file_path"),
            connect_timeout=float(options.get("connect_timeout", patience.connect_s)),
            request_timeout=float(options.get("request_timeout", patience.request_s)),
            # an object that fits a few megabytes is sent in one request
            allow_delayed_open=True,
            # asking again is ours, so that it is done, bounded and told in one way
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
        )
    if address.scheme == "file":
        return fs.LocalFileSystem()
    text = address.text
    if address.scheme in ("gs", "gcs") and "retry_limit_seconds" not in text:
        text += f"{'&' if '?' in text else '?'}retry_limit_seconds={_GCS_RETRIES_S}"
    found, _ = fs.FileSystem.from_uri(text)
    return found


def _endpoint_of_the_environment() -> tuple[str | None, str | None]:
    """Scheme and host of AWS's own variable for it, which Arrow's S3 file system does not read."""
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        url = os.environ.get(name)  # noqa: TID251  as AWS's library reads the credentials
        if url:
            parts = urlsplit(url)
            return parts.scheme, parts.netloc
    return None, None


def _yes(text: str | None) -> bool:
    return text is not None and text.lower() in ("true", "1", "yes")


def _writing(path: Path) -> Any:
    return _locally(path, lambda: path.open("wb"))


def _reading(path: Path) -> Any:
    return _locally(path, lambda: path.open("rb"))


def _locally(path: Path, work: Callable[[], Result]) -> Result:
    """An OSError of this machine's disk is not one of the other side."""
    try:
        return work()
    except OSError as e:
        raise StoreError(f"{path} can't be read or written: {e.strerror or e}") from e
