"""Addresses of object stores: `s3://bucket/folder?endpoint_override=host:port&scheme=http`.

Credentials come from the provider's own environment variables and files. They may stand in an address too; what is
shown of it never has them.
"""

from __future__ import annotations

import re
import shlex
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import msgspec

from iwreplay.errors import StoreError

__all__ = ["SCHEMES", "RemoteAddress", "is_address", "parse_address"]

#: as Arrow's file systems name them
SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "file")
#: what may stand behind the "?" of an s3 address
_S3_OPTIONS = (
    "anonymous",
    "connect_timeout",
    "endpoint_override",
    "force_virtual_addressing",
    "region",
    "request_timeout",
    "scheme",
    "tls_ca_file_path",
)
#: a shorter value is no key, and hiding it would spoil messages
_SHORTEST = 4
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class RemoteAddress(msgspec.Struct, frozen=True, kw_only=True):
    """A folder on an object store."""

    #: the address as it was given, credentials and all: never shown
    text: str
    scheme: str
    #: bucket and folder, "bucket/a/b"; an absolute path for `file`
    path: str
    user: str = ""
    password: str = ""
    options: dict[str, str] = {}

    @property
    def bucket(self) -> str:
        return self.path.partition("/")[0]

    @property
    def shown(self) -> str:
        """Without credentials. Another address has another one of these, but for its credentials."""
        options = f"?{urlencode(sorted(self.options.items()), safe=':/')}" if self.options else ""
        return f"{self.scheme}://{self.path}{options}"

    @property
    def quoted(self) -> str:
        """As it is typed at a shell."""
        return shlex.quote(self.shown)

    @property
    def split(self) -> tuple[RemoteAddress, str]:
        """Of an address of an object: that of its folder, and its name."""
        folder, _, name = self.path.rpartition("/")
        return msgspec.structs.replace(self, path=folder), name

    def without_secrets(self, message: str) -> str:
        """A message of a library, in which the address may stand as it was given."""
        message = message.replace(self.text, self.shown)
        both = {s for given in (self.user, self.password) for s in (given, unquote(given))}
        for secret in sorted((s for s in both if len(s) >= _SHORTEST), key=len, reverse=True):
            message = message.replace(secret, "***")
        return message

    def at(self, *parts: str) -> str:
        """Path of something in the folder, as file systems take it."""
        return "/".join((self.path.rstrip("/"), *parts))


def is_address(text: str) -> bool:
    """Whether it is an address and not the path of a folder."""
    return _ADDRESS.match(text) is not None


def parse_address(text: str) -> RemoteAddress:
    """StoreError says what is wrong with it, and what is right."""
    try:
        parts = urlsplit(text)
        # an unclosed bracket, a port that is no number: of a host, which we have not
        _ = parts.port if parts.scheme != "file" else None
    except ValueError as e:
        raise StoreError(f"{text.partition('://')[0]}://... is no address of an object store: {e}") from None
    scheme = parts.scheme.lower()
    if scheme not in SCHEMES:
        raise StoreError(
            f"{scheme}://... is on no object store that is known; known: {', '.join(f'{s}://' for s in SCHEMES)}"
        )
    userinfo, _, host = parts.netloc.rpartition("@")
    user, _, password = userinfo.partition(":")
    path = unquote(host + parts.path).rstrip("/")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    address = RemoteAddress(
        text=text,
        scheme=scheme,
        path=path,
        user=user,
        password=password,
        # those of other schemes go to Arrow as they stand, and may hold keys
        options=options if scheme == "s3" else {},
    )
    if not path or ".." in path.split("/"):
        raise StoreError(f"{address.shown} names no folder; give one like s3://BUCKET/FOLDER or file:///ABSOLUTE/PATH")
    if scheme == "s3":
        for name in options:
            if name not in _S3_OPTIONS:
                raise StoreError(f"{name!r} is no option of an s3 address; known: {', '.join(_S3_OPTIONS)}")
        for name in ("connect_timeout", "request_timeout"):
            if name in options and not re.fullmatch(r"[0-9]{1,4}(\.[0-9]+)?", options[name]):
                raise StoreError(f"{name}={options[name]!r} in {address.shown} is no number of seconds")
    return address
