"""An S3-compatible server on loopback, a proxy before it that misbehaves on demand, and a store to push."""

from __future__ import annotations

import hashlib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest

from iwreplay.app.scoring import score_episodes
from iwreplay.remote import Patience
from iwreplay.store import Store
from tests.catalogue.conftest import write_episode
from tests.cli.conftest import Run, run
from tests.objectstore.proxy import Proxy

__all__ = ["QUICK", "Address", "Run", "run"]

Address = Callable[..., str]

#: as patient as the product, in less time
QUICK = Patience(pause_s=0.01, connect_s=5.0, request_s=10.0)


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up ones, which the server takes."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "made-up-key-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up-secret-key")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="session")
def server() -> Iterator[int]:
    """Port of moto's server, a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            assert process.poll() is None, "moto's server ended"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def proxy(server: int) -> Iterator[Proxy]:
    with Proxy(server) as made:
        yield made


@pytest.fixture
def s3(server: int) -> object:
    """A client that goes to the server itself."""
    return boto3.client("s3", endpoint_url=f"http://127.0.0.1:{server}")


@pytest.fixture
def bucket(s3, request: pytest.FixtureRequest) -> str:  # type: ignore[no-untyped-def]
    """A bucket of this test's own."""
    name = f"b{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:20]}"
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def address(bucket: str, proxy: Proxy) -> Address:
    """Address of a folder in the bucket, reached through the proxy."""

    def make(folder: str = "runs/a", *, bucket: str = bucket, login: str = "", options: str = "") -> str:
        return f"s3://{login}{bucket}/{folder}?endpoint_override=127.0.0.1:{proxy.port}&scheme=http{options}"

    return make


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Store.open_or_make(tmp_path_factory.mktemp("made") / "store", made_by="test")
    write_episode(made, events=150)
    write_episode(made, assistant="silent", end="interrupted")
    write_episode(made, seed=1, end=None)
    score_episodes(made.root)
    return made.root


@pytest.fixture
def store(made_once: Path, tmp_path: Path) -> Store:
    """Two finished episodes, scored, and one that was killed."""
    return Store.open(Path(shutil.copytree(made_once, tmp_path / "store")))


def objects(s3, bucket: str) -> dict[str, bytes]:  # type: ignore[no-untyped-def]
    """Everything in a bucket."""
    names = [o["Key"] for o in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
    return {n: s3.get_object(Bucket=bucket, Key=n)["Body"].read() for n in names}


def files(root: Path) -> dict[str, bytes]:
    """Everything in a folder, but for the database."""
    found = (p for p in root.rglob("*") if p.is_file() and "duckdb" not in p.name and not p.name.endswith(".lock"))
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in found}
