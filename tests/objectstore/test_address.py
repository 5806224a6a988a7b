"""Addresses: what they mean, what is wrong with them, and that no credential is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.app.remoting import list_remote
from iwreplay.errors import RemoteError, StoreError
from iwreplay.remote import Patience, is_address, parse_address
from tests.objectstore.conftest import Address, Run
from tests.objectstore.proxy import Proxy

ONCE = Patience(attempts=1)


@pytest.mark.parametrize("text", ["s3://b", "S3://b/x", "file:///x", "gs://b"])
def test_an_address_is_told_from_a_folder(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize("text", ["iw-store", "/a/b", "C:\\x", "a:b", "./s3:/x", ""])
def test_a_folder_is_told_from_an_address(text: str) -> None:
    assert not is_address(text)


def test_the_parts_of_an_address() -> None:
    found = parse_address("S3://id:se%2Fcret@bucket/a%20b/c/?endpoint_override=h:1&scheme=http")
    assert (found.scheme, found.bucket, found.path) == ("s3", "bucket", "bucket/a b/c")
    assert found.shown == "s3://bucket/a b/c?endpoint_override=h:1&scheme=http"
    assert found.quoted.startswith("'s3://")
    assert found.at("episodes", "x") == "bucket/a b/c/episodes/x"
    assert parse_address("file:///a%20b/").path == "/a b"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zz://b/x", r"zz://\.\.\. is on no object store that is known; known: s3://, gs://"),
        ("s3://", "names no folder; give one like s3://BUCKET/FOLDER"),
        ("s3://b/../c", "names no folder"),
        ("s3://b/x?region=r&endpont=y", "'endpont' is no option of an s3 address; known: anonymous"),
        ("s3://b/x?request_timeout=soon", "request_timeout='soon' in .* is no number of seconds"),
        ("s3://[b/x", "is no address"),
    ],
)
def test_what_is_no_address_is_told(text: str, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        parse_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "s3://AKIAMADEUP:very%2Fsecret@bucket/x?endpoint_override=127.0.0.1:9&scheme=http",
        "s3://AKIAMADEUP:very%2Fsecret@bucket/x?nonsense=1",
        "s3://AKIAMADEUP:very%2Fsecret@",
        "s3://AKIAMADEUP:very%2Fsecret@[bucket/x",
        "zz://AKIAMADEUP:very%2Fsecret@bucket/x",
        "abfs://AKIAMADEUP:very%2Fsecret@?very%2Fsecret=very/secret",
    ],
)
@pytest.mark.parametrize(
    "command", [("store", "list", "@"), ("query", "SELECT 1", "--store", "@"), ("run", "V06", "--store", "@")]
)
def test_no_credential_is_shown(
    run: Run, text: str, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*(text if c == "@" else c for c in command))
    assert done.code in (2, 3)
    assert done.err.startswith("error: ")
    for secret in ("AKIAMADEUP", "very%2Fsecret", "very/secret"):
        assert secret not in done.out + done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("login", "key"), [("AKIAMADEUP:very%2Fsecret@", "AKIAMADEUP"), ("", "made-up-key-id")])
def test_credentials_of_the_address_come_before_those_of_the_environment(
    address: Address, proxy: Proxy, login: str, key: str
) -> None:
    with pytest.raises(RemoteError, match="no episode store"):
        list_remote(address(login=login), patience=ONCE)
    assert all(f"Credential={key}/" in a.authorization for a in proxy.asked)
    proxy.asked.clear()
    with pytest.raises(RemoteError):
        list_remote(address(login=login, options="&anonymous=true"), patience=ONCE)


def test_the_endpoint_may_come_from_the_environment(proxy: Proxy, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
    with pytest.raises(RemoteError, match="no episode store"):
        list_remote(f"s3://{bucket}/runs", patience=ONCE)
    assert proxy.asked
